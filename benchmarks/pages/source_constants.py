"""The constants of the model of label sources, chosen on some families and measured on others.

Families are those of :mod:`benchmarks.source_tables`. Every family counts the same: the mean of its
tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results
from benchmarks.source_constants import ABOVE, BELOW, CONSTANTS, KINDS
from benchmarks.source_tables import FAMILIES, REAL

GOAL = 0.9  # of the sources in their range, mean over families, where the width is chosen
GUARDS = (2.5, 10.0)  # standard errors by which held-out votes prefer Dawid-Skene
BELOW_BEST = 0.005  # of accuracy
LEAST_SOURCES = 5  # of a kind, in a table that counts
Pair = tuple[float, float]
Range = tuple[float, float]  # share of sources in it, and mean width


def _found() -> dict[str, dict[str, Any]]:
    """Return the results per table, in the order of the tables."""
    items = {item["about"]["dataset"]["name"]: item for item in results("source-constants/*.json")}
    return {name: items[name] for name in REAL if name in items}


def over_families(tables: Iterable[str], of_table: Callable[[str], float]) -> float:
    """Return the mean over families of the mean over their tables."""
    families: dict[str, list[float]] = {}
    for name in tables:
        families.setdefault(FAMILIES[name], []).append(of_table(name))
    return mean(map(mean, families.values()))


def others(tables: Sequence[str], family: str) -> list[str]:
    """Return the tables of other families."""
    return [name for name in tables if FAMILIES[name] != family]


def constants() -> Block:
    """Return the accuracy on left-out families, with constants chosen on the others."""
    found = _found()
    if not found:
        return HOLE
    accuracies = {name: item["result"]["accuracies"] for name, item in found.items()}
    tables = [name for name, tried in accuracies.items() if len(tried) > 1]
    rows = [["constant", "today", "also tried", "other value chosen", "today %", "left out %"]]
    every = [key for name in CONSTANTS for key in _settings(name)]
    for title, settings in (*((name, _settings(name)) for name in CONSTANTS), ("any", every)):
        chosen = {
            family: _best(["", *settings], others(tables, family), accuracies)
            for family in dict.fromkeys(FAMILIES[name] for name in tables)
        }
        left_out = over_families(tables, lambda name: accuracies[name][chosen[FAMILIES[name]]])  # noqa: B023
        moved = sum(setting != "" for setting in chosen.values())
        tried = "one of these" if title == "any" else ", ".join(s.split()[1] for s in settings)
        today = "" if title == "any" else f"{getattr(CONSTANTS[title][0], title):g}"
        as_is = over_families(tables, lambda name: accuracies[name][""])
        numbers = [f"{100 * as_is:.2f}", f"{100 * left_out:.2f}"]
        name = title if title == "any" else f"`{title}`"
        rows.append([name, today, tried, f"{moved} of {len(chosen)}", *numbers])
    items = list(found.values())
    return Block(
        f"{markdown(rows)}\n\nCommits {commits(items)}: "
        "`python -m benchmarks.source_constants --data-dir DIR`."
    )


def _settings(name: str) -> list[str]:
    return [f"{name} {value:g}" for value in CONSTANTS[name][1]]


def _best(
    settings: Sequence[str], tables: Sequence[str], accuracies: dict[str, dict[str, float]]
) -> str:
    """Return the setting with the highest accuracy; ties go to the first."""
    return max(settings, key=lambda key: over_families(tables, lambda name: accuracies[name][key]))


def _ranges(kind: str, found: dict[str, dict[str, Any]]) -> dict[str, dict[Pair, Range]]:
    """Return what each pair of factors gives, per table with enough sources of a kind."""
    of_tables: dict[str, dict[Pair, Range]] = {}
    for name, item in found.items():
        for row in item["result"]["ranges"]:
            if row["kind"] == kind and row["sources"] >= LEAST_SOURCES:
                shown = row["inside"] / row["sources"], row["width"]
                of_tables.setdefault(name, {})[row["below"], row["above"]] = shown
    return of_tables


def narrowest(of_tables: dict[str, dict[Pair, Range]], tables: Sequence[str]) -> Pair:
    """Return the factors with the narrowest ranges that hold :data:`GOAL` of the sources."""

    def of(pair: Pair, part: int) -> float:
        return over_families(tables, lambda name: of_tables[name][pair][part])

    pairs = [(below, above) for below in BELOW for above in ABOVE]
    enough = [pair for pair in pairs if of(pair, 0) >= GOAL]
    return min(enough, key=lambda pair: of(pair, 1)) if enough else pairs[-1]


def ranges() -> Block:
    """Return how many sources of left-out families lie in ranges that were chosen on the others."""
    found = _found()
    if not found:
        return HOLE
    head = ["table", "sources", "below", "above", "in the range, left out %", "today %", "width"]
    rows = [head]
    for kind, today in KINDS.items():
        of_tables = _ranges(kind, found)
        left_out: dict[str, float] = {}
        for name, one in of_tables.items():
            rest = others(list(of_tables), FAMILIES[name])
            pair = narrowest(of_tables, rest) if rest else today
            left_out[name] = one[pair][0]
            numbers = [one[pair][0], one[today][0]]
            cells = [f"{pair[0]:g}", f"{pair[1]:g}", *(f"{100 * share:.0f}" for share in numbers)]
            rows.append([f"{name}", kind, *cells, f"{one[today][1]:.2f}"])
        if of_tables:
            names = list(of_tables)
            means = [
                over_families(names, lambda name: left_out[name]),  # noqa: B023
                over_families(names, lambda name: of_tables[name][today][0]),  # noqa: B023
            ]
            width = over_families(names, lambda name: of_tables[name][today][1])  # noqa: B023
            cells = [f"{today[0]:g}", f"{today[1]:g}", *(f"{100 * share:.0f}" for share in means)]
            rows.append([f"mean of families, {kind}", kind, *cells, f"{width:.2f}"])
    return Block(markdown(rows))


def guard() -> Block:
    """Return what a guard by held-out votes would do to joined labels."""
    found = results("source-guard/*.json")
    if not found:
        return HOLE
    ways = ("majority", "dawid-skene", "select")
    errors = [f"guard, {least:g} errors" for least in GUARDS]
    rows = [["table", "majority", "Dawid-Skene", "`select`", *errors, "below", "switched", "right"]]
    draws = {item["about"]["dataset"]["name"]: item["result"]["draws"] for item in found}
    every = [one for some in draws.values() for one in some]
    for title, some in {**draws, "mean, sums": every}.items():
        means = [mean(one[way] for one in some) for way in ways]
        for least in GUARDS:
            chosen = ("dawid-skene" if one["errors"] > least else "select" for one in some)
            means.append(mean(one[way] for one, way in zip(some, chosen, strict=True)))
        best = [max(one["majority"], one["dawid-skene"]) for one in some]
        below = sum(one["select"] < top - BELOW_BEST for one, top in zip(some, best, strict=True))
        switched = [one for one in some if one["errors"] > GUARDS[0]]
        right = sum(one["dawid-skene"] > one["select"] for one in switched)
        counts = [f"{below} of {len(some)}", str(len(switched)), str(right)]
        rows.append([title, *(f"{100 * one:.1f}" for one in means), *counts])
    return Block(
        f"{markdown(rows)}\n\nCommits {commits(found)}: "
        "`python -m benchmarks.source_guard --data-dir DIR`."
    )


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "source-constants": constants,
    "source-guard": guard,
    "source-ranges": ranges,
}
