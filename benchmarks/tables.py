"""Write the tables and figures of README and docs from the committed result files; nothing in them
is typed by hand.

    python -m benchmarks.tables            rewrites every generated part
    python -m benchmarks.tables --check    exits 1 where one is out of date

A generated part stands between ``<!-- table: NAME -->``, or ``figure``, and ``<!-- end -->``; the
tables themselves are in ``benchmarks/pages``, the figures in ``benchmarks/figures``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks import figures
from benchmarks.pages import curves, frameworks, heuristics, select, self_training, speed

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "docs/conwea.md",
    "docs/lotclass.md",
    "docs/results.md",
    "docs/select.md",
    "docs/westclass.md",
    "docs/xclass.md",
    "benchmarks/README.md",
)
_PART = re.compile(r"(<!-- (?:table|figure): (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

TABLES: dict[str, Callable[[], str]] = {
    "conwea-20news-coarse": lambda: frameworks.iterations("conwea-20news-coarse-4000-*.json"),
    "conwea-demo": lambda: frameworks.iterations("conwea-demo-*.json"),
    "contextualisation": speed.contextualisation,
    "westclass": frameworks.westclass,
    "westclass-demo": lambda: frameworks.iterations("westclass-demo-*.json"),
    "xclass": frameworks.xclass,
    "xclass-encoding": speed.xclass_encoding,
    "lotclass": frameworks.lotclass,
    "lotclass-speed": speed.lotclass_speed,
    "select": select.numbers,
    "select-printed": lambda: select.printed("select-agnews-tau-auto.json"),
    "speed-scale": speed.scale,
    "speed-watching": speed.watching,
    "speed-listening": speed.listening,
    "westclass-ranked": frameworks.westclass_ranked,
    "westclass-granularity": speed.westclass_granularity,
    "heuristics": heuristics.noise_of_heuristics,
    "datasets": heuristics.statistics,
    "frameworks": frameworks.all_frameworks,
    "paper-frameworks": lambda: frameworks.all_frameworks("paper/"),
    **self_training.TABLES,
    **curves.TABLES,
    **{name: partial(figures.caption, name) for name in figures.FIGURES},
}


def rebuilt(text: str) -> str:
    """Return a page with its generated parts made anew."""
    return _PART.sub(lambda match: match[1] + "\n" + TABLES[match[2]]() + "\n" + match[4], text)


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite or check all pages; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    stale = figures.refresh(ROOT, check=options.check)
    for name in PAGES:
        page = ROOT / name
        old = page.read_text(encoding="utf-8")
        new = rebuilt(old)
        if new != old:
            stale.append(name)
            if not options.check:
                page.write_text(new, encoding="utf-8")
    print(
        ("out of date: " if options.check else "rewritten: ") + ", ".join(stale)
        if stale
        else "all tables and figures are up to date"
    )
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
