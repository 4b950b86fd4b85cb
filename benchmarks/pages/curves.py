"""Tables of how well confidences rank pseudo-labels (the paper's figures 3, 4, 8 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.nc_curves import noise_at
from benchmarks.pages.common import Block, Files, results, spread, spread_number, table

PROTOCOLS = ("cpu", "paper")
_COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Groups = dict[tuple[str, str], list[dict[str, Any]]]


def groups_of(protocol: str) -> Groups:
    """Return (classifier, data set) -> its result files, one per seed."""
    groups: Groups = {}
    for item in results(f"{protocol}/curves-*.json"):
        key = (item["about"]["settings"]["classifier"], item["about"]["dataset"]["name"])
        groups.setdefault(key, []).append(item)
    return groups


def of_confidence(files: Files, name: str) -> list[dict[str, Any]]:
    """Return the numbers of one confidence, one per file; empty if a file lacks it."""
    found = [item["result"]["confidences"].get(name) for item in files]
    return [] if None in found else found


def best_possible(files: Files) -> list[float]:
    """Return the area under the best possible curve, one per file."""
    per_file = [item["result"]["confidences"].values() for item in files]
    return [min(found, key=lambda curve: curve["from_coverage"])["ideal"] for found in per_file]


def _names(groups: Groups) -> list[str]:
    every = [item["result"]["confidences"] for files in groups.values() for item in files]
    return list(dict.fromkeys(name for names in every for name in names))


def areas(protocol: str) -> Block:
    """Return the area under the noise-coverage curve of each confidence.

    A curve that starts late has its start and its own best possible area beside it.
    """
    groups = groups_of(protocol)
    rows = [["confidence", *(f"{data}, {classifier}" for classifier, data in groups)]]
    for name in _names(groups):
        rows.append([name, *(_area(of_confidence(files, name)) for files in groups.values())])
    best = [spread_number(best_possible(files), 4) for files in groups.values()]
    rows.append(["best possible", *best])
    return table(rows, groups.values())


def _area(found: list[dict[str, Any]]) -> str:
    text = spread_number([numbers["aunc"] for numbers in found], 4)
    start = mean(numbers["from_coverage"] for numbers in found) if found else 0.0
    if start <= 0.01 or text == "-":
        return text
    best = mean(numbers["ideal"] for numbers in found)
    return f"{text} (from coverage {start:.2f}; best possible {best:.4f})"


def seconds(protocol: str) -> Block:
    """Return the seconds that computing the scores took."""
    groups = groups_of(protocol)
    heads = (f"{data}, {classifier}, seconds" for classifier, data in groups)
    rows = [["confidence", "training", *heads]]
    for name in _names(groups):
        found = [of_confidence(files, name) for files in groups.values()]
        training = next(numbers[0]["training"] for numbers in found if numbers)
        cells = [spread_number([each["seconds"] for each in numbers], 1) for numbers in found]
        rows.append([name, training, *cells])
    return table(rows, groups.values())


def noise(protocol: str, ratio: bool) -> Block:
    """Return noise at some coverages, or noise divided by coverage.

    One row per classifier, data set and confidence.
    """
    groups = groups_of(protocol)
    heads = (f"{100 * coverage:.0f} % kept" for coverage in _COVERAGES)
    rows = [["classifier", "data", "confidence", *heads]]
    for (classifier, data), files in groups.items():
        for name in _names({(classifier, data): files}):
            cells = []
            for coverage in _COVERAGES:
                found = [noise_at(numbers, coverage) for numbers in of_confidence(files, name)]
                shares = [None if value is None else value / coverage for value in found]
                cells.append(spread_number(shares, 3) if ratio else spread(found))
            rows.append([classifier, data, name, *cells])
    return table(rows, groups.values())


def rules(protocol: str) -> Block:
    """Return what selections keep and its noise, one row per rule, tau and interval."""
    groups = groups_of(protocol)
    every = [item for files in groups.values() for item in files]
    heads = (f"{data}, {classifier}: kept % / noise %" for classifier, data in groups)
    rows = [["rule", "tau", "checked", *heads]]
    for key in dict.fromkeys(key for item in every for key, _ in _selections(item)):
        cells = []
        for files in groups.values():
            found = [dict(_selections(item)).get(key) for item in files]
            known = [numbers for numbers in found if numbers is not None]
            shares = (spread([numbers[part] for numbers in known]) for part in ("kept", "noise"))
            cells.append(" / ".join(shares) if len(known) == len(found) else "-")
        rows.append([*key, *cells])
    of_all = [
        spread([item["result"]["pseudo_labels"]["noise"] for item in files])
        for files in groups.values()
    ]
    rows.append(["everything", "-", "-", *(f"100.0 / {share}" for share in of_all)])
    return table(rows, groups.values())


def _selections(item: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for row in item["result"]["selections"]:
        if row["rule"] is None:  # the interval that a method chose itself differs between runs
            yield (row["method"], "-", "-"), row
        else:
            yield (row["rule"], f"{row['tau']:g}", f"every {row['every']}"), row


def f1(protocol: str) -> Block:
    """Return macro-F1 of classifiers trained on the best samples.

    One row per confidence and share or threshold.
    """
    groups = {
        key: files
        for key, files in groups_of(protocol).items()
        if any(item["result"]["f1"] for item in files)
    }
    every = [row for files in groups.values() for item in files for row in item["result"]["f1"]]
    heads = (f"{data}, {classifier}: kept % / macro-F1 %" for classifier, data in groups)
    rows = [["trained on", "share or threshold", *heads]]
    keys = dict.fromkeys((row["by"], row["at"]) for row in every)
    for by, at in sorted(keys, key=lambda key: (key[0] != "all", key)):
        cells = []
        for files in groups.values():
            found = f1_rows(files, by, at)
            shares = (spread([row[part] for row in found]) for part in ("kept", "macro_f1"))
            cells.append(" / ".join(shares) if len(found) == len(files) else "-")
        rows.append([by, f"{at:g}", *cells])
    return table(rows, groups.values())


def f1_rows(files: Files, by: str, at: float) -> list[dict[str, Any]]:
    """Return the rows of one confidence at one share or threshold, at most one per file."""
    every = [row for item in files for row in item["result"]["f1"]]
    return [row for row in every if (row["by"], row["at"]) == (by, at)]


MAKERS: dict[str, Callable[[str], Block]] = {
    "areas": areas,
    "seconds": seconds,
    "noise": partial(noise, ratio=False),
    "ratios": partial(noise, ratio=True),
    "rules": rules,
    "f1-of-best": f1,
}
TABLES: dict[str, Callable[[], Block]] = {
    f"{protocol}-{name}": partial(make, protocol)
    for protocol in PROTOCOLS
    for name, make in MAKERS.items()
}
