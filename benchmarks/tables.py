"""Write the tables and figures of README and docs from the committed result files.

    python -m benchmarks tables            rewrites every generated part
    python -m benchmarks tables --check    exits 1 if a part is out of date

A generated part is between ``<!-- table: NAME -->``, or ``figure``, and ``<!-- end -->``. The
sources of a part are below it, or in the part ``sources`` of a page that has one. Tables are made
in ``benchmarks/pages``, figures in ``benchmarks/figures``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks import figures
from benchmarks.pages import (
    checked,
    committee,
    curves,
    defaults,
    distributions,
    findings,
    frameworks,
    heuristics,
    label_sources,
    real_noise,
    scale,
    select,
    self_training,
    speed,
    static,
)
from benchmarks.pages.common import Block, Files, sources

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "docs/check.md",
    "docs/comparison.md",
    "docs/conwea.md",
    "docs/encoders.md",
    "docs/findings.md",
    "docs/lotclass.md",
    "docs/output.md",
    "docs/results/frameworks.md",
    "docs/results/large-tables.md",
    "docs/results/ranking.md",
    "docs/results/real-noise-classifiers.md",
    "docs/results/real-noise.md",
    "docs/results/self-training.md",
    "docs/results/sources-trust.md",
    "docs/results/sources.md",
    "docs/results/speed.md",
    "docs/self_training.md",
    "docs/westclass.md",
    "docs/xclass.md",
)
_PART = re.compile(r"(<!-- (?:table|figure): (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_SOURCES = "sources"

_MEASURED: dict[str, Callable[[], Block]] = {
    "conwea-20news-coarse": partial(frameworks.iterations, "conwea-20news-coarse-4000-*.json"),
    "conwea-20news-careful": partial(
        frameworks.iterations, "conwea-careful-20news-coarse-4000-*.json"
    ),
    "conwea-demo": partial(frameworks.iterations, "conwea-demo-*.json"),
    "contextualisation": speed.contextualisation,
    "westclass": frameworks.westclass,
    "westclass-demo": partial(frameworks.iterations, "westclass-demo-*.json"),
    "westclass-ranked": frameworks.westclass_ranked,
    "westclass-granularity": speed.westclass_granularity,
    "xclass": frameworks.xclass,
    "xclass-encoding": speed.xclass_encoding,
    "lotclass": frameworks.lotclass,
    "lotclass-speed": speed.lotclass_speed,
    "select": select.numbers,
    **real_noise.TABLES_OF_PAGE,
    **static.TABLES_OF_PAGE,
    **checked.TABLES_OF_PAGE,
    **label_sources.TABLES_OF_PAGE,
    "select-printed": partial(select.printed, "select-agnews-tau-auto.json"),
    "select-examples": partial(select.examples, "select-agnews-tau-auto.json"),
    "speed-scale": speed.scale,
    "engines": scale.engines,
    "engines-costs": scale.costs,
    "engines-encoding": scale.encoding,
    "speed-watching": speed.watching,
    "speed-listening": speed.listening,
    "heuristics": heuristics.noise_of_heuristics,
    "datasets": heuristics.statistics,
    "frameworks": frameworks.all_frameworks,
    "paper-frameworks": partial(frameworks.all_frameworks, "paper"),
    **committee.TABLES,
    **findings.TABLES,
    **defaults.TABLES,
    **self_training.TABLES,
    **curves.TABLES,
    **distributions.TABLES,
    **{name: partial(figures.caption, name) for name in figures.FIGURES},
}
# Sections of the paper's own grid, per page: title -> its tables and figures.
_PAPER_GRID: dict[str, dict[str, Sequence[str]]] = {
    "grid-self-training": {
        **{
            classifier: tuple(f"paper-{part}-{classifier}" for part in self_training.OF_CLASSIFIER)
            for classifier in self_training.CLASSIFIERS["paper"]
        },
        "Tau and iterations": ("paper-tau", "paper-figure-5", "paper-figure-6"),
    },
    "grid-ranking": {
        "Ranking": tuple(f"paper-{part}" for part in (*curves.MAKERS, *distributions.MAKERS)),
        "Figures": tuple(name for name in figures.FIGURES if "paper-bert" in name),
    },
    "grid-frameworks": {"Frameworks": ("paper-frameworks",)},
}


def paper_grid(name: str) -> Block:
    """Return the measured sections of the paper's own grid; empty if there are none."""
    text: list[str] = []
    groups: list[Files] = []
    for title, parts in _PAPER_GRID[name].items():
        blocks = [block for part in parts if (block := _MEASURED[part]()).groups]
        if blocks:
            text += [f"### {title}", *(block.text for block in blocks)]
            groups += [files for block in blocks for files in block.groups]
    return Block("\n\n".join(["## The paper's own grid", *text]) if text else "", groups)


TABLES: dict[str, Callable[[], Block]] = {
    **_MEASURED,
    **{name: partial(paper_grid, name) for name in _PAPER_GRID},
}


def rebuilt(text: str) -> str:
    """Return a page with its generated parts made anew."""
    names = [match[2] for match in _PART.finditer(text)]
    blocks = {name: TABLES[name]() for name in names if name != _SOURCES}
    every = sources(files for block in blocks.values() for files in block.groups)
    parts = {
        name: block.text if _SOURCES in names else str(block) for name, block in blocks.items()
    }
    parts[_SOURCES] = every
    return _PART.sub(lambda match: f"{match[1]}\n{parts[match[2]]}\n\n{match[4]}", text)


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite or check all pages; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if out of date")
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
    said = "out of date: " if options.check else "rewritten: "
    print(said + ", ".join(stale) if stale else "all tables and figures are up to date")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
