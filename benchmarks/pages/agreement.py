"""How narrow the intervals of ``lops agree`` are."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from benchmarks.agreement import CHECKED, TABLES
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


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {"agreement": agreement}
