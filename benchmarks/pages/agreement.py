"""How narrow the intervals of ``lops agree`` are."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from benchmarks.agreement import CHECKED, TABLES
from benchmarks.alternative import CONSTANT, MARGINS, MODEL, PERSON
from benchmarks.alternative import TABLES as PEOPLE
from benchmarks.pages.common import HOLE, Block, commits, markdown, results

_WAYS = {"random": "random", "cdi": "CDI", "agree": "`agree`"}
_SHOWN = 100  # checked rows, per table
_GROUPS = {"alone": "two", "among": "four"}


def agreement() -> Block:
    """Return widths of intervals, and how many of them hold the truth."""
    items = {item["about"]["dataset"]["name"]: item for item in results("agreement/*.json")}
    if not items:
        return HOLE
    rows = [["table", "sources", "checked rows", *_WAYS.values()]]
    for group, sources in _GROUPS.items():
        every: dict[tuple[str, int], list[list[float]]] = {}
        for name in filter(items.get, TABLES):
            pairs = items[name]["result"][group]
            for n in CHECKED:
                found = {way: [pair[f"{way} {n}"] for pair in pairs] for way in _WAYS}
                if n == _SHOWN:
                    rows.append([name, sources, str(n), *map(_shown, found.values())])
                for way, values in found.items():
                    every.setdefault((way, n), []).extend(values)
        for n in CHECKED:
            means = [_shown(every[way, n]) for way in _WAYS]
            rows.append([f"mean, {sources} sources", sources, str(n), *means])
    command = "python -m benchmarks.agreement --data-dir DIR"
    return Block(f"{markdown(rows)}\n\nCommits {commits(items.values())}: `{command}`.")


def _shown(values: list[list[float]]) -> str:
    widths, holds = zip(*values, strict=True)
    return f"{100 * mean(widths):.1f} ({100 * mean(holds):.0f})"


def alternative() -> Block:
    """Return who passes the alternative annotator test."""
    items = {item["about"]["dataset"]["name"]: item for item in results("alternative/*.json")}
    if not items:
        return HOLE
    margins = [f"passes, {100 * margin:g} points %" for margin in MARGINS]
    rows = [["table", "people", "in a person's place", "sources", *margins, "as close %"]]
    for name in filter(items.get, PEOPLE):
        result = items[name]["result"]
        for kind in (MODEL, PERSON, CONSTANT):
            found = [
                result[f"{kind} {margin}"] for margin in MARGINS if f"{kind} {margin}" in result
            ]
            if found:
                passes = [f"{100 * one['passes']:.0f}" for one in found]
                first = [name, str(result["people"]), kind, str(found[0]["sources"])]
                rows.append([*first, *passes, f"{100 * found[0]['advantage']:.0f}"])
    command = "python -m benchmarks.alternative --data-dir DIR"
    return Block(f"{markdown(rows)}\n\nCommits {commits(items.values())}: `{command}`.")


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "agreement": agreement,
    "alternative": alternative,
}
