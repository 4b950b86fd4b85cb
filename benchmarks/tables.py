"""Write the tables of README and docs from the committed result files; nothing in them is typed by hand.

    python -m benchmarks.tables            rewrites every generated part
    python -m benchmarks.tables --check    exits 1 where one is out of date

A generated part stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from benchmarks.record import RESULTS

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/conwea.md", "benchmarks/README.md")
_PART = re.compile(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def results(pattern: str) -> list[dict[str, Any]]:
    """Return the result files that match, in the order of their names; an empty list is a hole."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob(pattern))]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows, the first of them the head, as a Markdown table.

    >>> print(markdown([["a", "b"], ["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def spread(values: Sequence[float | None]) -> str:
    """Return mean and, of several, population standard deviation in percent, or a dash where a value is missing.

    >>> spread([0.5, 0.7]), spread([0.5]), spread([0.5, None])
    ('60.0 ± 10.0', '50.0', '-')
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return "-"
    return f"{100 * mean(known):.1f}" + (f" ± {100 * pstdev(known):.1f}" if len(known) > 1 else "")


def provenance(files: Sequence[dict[str, Any]]) -> str:
    """Return the sentence that says where a table's numbers come from."""
    about = files[0]["about"]
    seeds = ", ".join(str(item["about"]["seed"]) for item in files)
    settings = about["settings"]
    encoder = settings.get("encoder") or files[0]["result"].get("encoder")
    return (
        f"{about['dataset']['documents']} documents of {about['dataset']['name']}, encoder {encoder}, device {about['device']} "
        f"({about['machine']['processor']}, {about['machine']['cores']} cores), seeds {seeds}, commit {(about['git_commit'] or '?')[:10]}: "
        f"`{about['command']}`"
    )


def conwea_iterations(pattern: str) -> str:
    """Return a row an arm and iteration, averaged over seeds."""
    files = results(pattern)
    if not files:
        return "Not measured yet.\n"
    rows = [["arm", "iteration", "pseudo-labels", "noise %", "selected", "noise after %", "micro-F1 %", "macro-F1 %", "seconds"]]
    for arm in files[0]["result"]["arms"]:
        for items in zip(*(item["result"]["arms"][arm]["iterations"] for item in files), strict=True):
            rows.append(
                [
                    arm,
                    str(items[0]["iteration"]),
                    f"{mean(item['pseudo_labels'] for item in items):.0f}",
                    spread([item["noise"] for item in items]),
                    f"{mean(item['selected'] for item in items):.0f}",
                    spread([item["selected_noise"] for item in items]),
                    spread([item["micro_f1"] for item in items]),
                    spread([item["macro_f1"] for item in items]),
                    f"{mean(item['seconds'] for item in items):.0f}",
                ]
            )
    return f"{markdown(rows)}\n\n{provenance(files)}\n"


def contextualisation() -> str:
    """Return speed and disk of contextualisation beside the original's way."""
    files = results("contextualisation-*.json")
    if not files:
        return "Not measured yet.\n"
    ours, original = files[0]["result"]["ours"], files[0]["result"]["original_way"]
    rows = [["", "the original's way, re-enacted", "this package", "ratio"]]
    for key, label in (("documents_per_second_vectors", "documents/s, vectors"), ("documents_per_second", "documents/s, with clustering")):
        rows.append([label, f"{original[key]:.2f}", f"{ours[key]:.2f}", f"{ours[key] / original[key]:.1f}"])
    disk = [item["bytes_an_occurrence"] for item in (original, ours)]
    rows.append(["bytes on disk an occurrence", f"{disk[0]:,}", f"{disk[1]:,}", f"{disk[1] / disk[0]:.3f}"])
    return f"{markdown(rows)}\n\n{provenance(files)}\n"


TABLES: dict[str, Callable[[], str]] = {
    "conwea-20news-coarse": lambda: conwea_iterations("conwea-20news-coarse-4000-*.json"),
    "conwea-demo": lambda: conwea_iterations("conwea-demo-*.json"),
    "contextualisation": contextualisation,
}


def rebuilt(text: str) -> str:
    """Return a page with its generated parts made anew."""
    return _PART.sub(lambda match: match[1] + "\n" + TABLES[match[2]]() + "\n" + match[4], text)


def main() -> int:
    """Rewrite or check all pages; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale = []
    for name in PAGES:
        page = ROOT / name
        old = page.read_text(encoding="utf-8")
        new = rebuilt(old)
        if new != old:
            stale.append(name)
            if not options.check:
                page.write_text(new, encoding="utf-8")
    print(("out of date: " if options.check else "rewritten: ") + ", ".join(stale) if stale else "all tables are up to date")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
