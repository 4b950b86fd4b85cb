"""Tables of how well confidences rank pseudo-labels: the data of the paper's figures 1, 3, 4, 7, 8
and 9, and its table 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.nc_curves import BINS, noise_at
from benchmarks.pages.common import results, spread, spread_number, table

PROTOCOLS = ("cpu", "paper")
_COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_EXAMPLES = 4  # as in the paper's table
Groups = dict[tuple[str, str], list[dict[str, Any]]]


def groups_of(protocol: str) -> Groups:
    """(classifier, data set) -> its result files, one a seed."""
    groups: Groups = {}
    for item in results(f"{protocol}/curves-*.json"):
        groups.setdefault(
            (item["about"]["settings"]["classifier"], item["about"]["dataset"]["name"]), []
        ).append(item)
    return groups


def _names(groups: Groups, part: str = "confidences") -> list[str]:
    return list(
        dict.fromkeys(
            name for files in groups.values() for item in files for name in item["result"][part]
        )
    )


def _of(files: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """One confidence's numbers a file, or nothing where a file lacks it."""
    found = [item["result"]["confidences"].get(name) for item in files]
    return [] if None in found else found


def areas(protocol: str) -> str:
    """Return the area under the noise-coverage curve of each confidence; where a curve starts late,
    that is said.
    """
    groups = groups_of(protocol)
    rows = [["confidence", *(f"{data}, {classifier}" for classifier, data in groups)]]
    for name in _names(groups):
        rows.append([name, *(_area(_of(files, name)) for files in groups.values())])
    whole = [
        [
            min(found, key=lambda numbers: numbers["from_coverage"])["ideal"]
            for found in _per_file(files)
        ]
        for files in groups.values()
    ]
    rows.append(["best possible", *(spread_number(ideal, 4) for ideal in whole)])
    return table(rows, groups.values())


def _per_file(files: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [list(item["result"]["confidences"].values()) for item in files]


def _area(found: list[dict[str, Any]]) -> str:
    text = spread_number([numbers["aunc"] for numbers in found], 4)
    start = mean(numbers["from_coverage"] for numbers in found) if found else 0.0
    if start <= 0.01 or text == "-":
        return text
    return f"{text} (from coverage {start:.2f} on, where {mean(numbers['ideal'] for numbers in found):.4f} is the best possible)"


def seconds(protocol: str) -> str:
    """Return the seconds that the scores took."""
    groups = groups_of(protocol)
    rows = [
        [
            "confidence",
            "training",
            *(f"{data}, {classifier}, seconds" for classifier, data in groups),
        ]
    ]
    for name in _names(groups):
        first = next(found[0] for files in groups.values() if (found := _of(files, name)))
        cells = [
            spread_number([numbers["seconds"] for numbers in _of(files, name)], 1)
            for files in groups.values()
        ]
        rows.append([name, first["training"], *cells])
    return table(rows, groups.values())


def noise(protocol: str, ratio: bool) -> str:
    """Return noise, or its ratio to coverage, at some coverages; a row a classifier, data set and
    confidence.
    """
    groups = groups_of(protocol)
    rows = [
        [
            "classifier",
            "data",
            "confidence",
            *(f"{100 * coverage:.0f} % kept" for coverage in _COVERAGES),
        ]
    ]
    for (classifier, data), files in groups.items():
        for name in _names({(classifier, data): files}):
            cells = []
            for coverage in _COVERAGES:
                found = [noise_at(numbers, coverage) for numbers in _of(files, name)]
                known = [None if value is None else value / coverage for value in found]
                cells.append(spread_number(known, 3) if ratio else spread(found))
            rows.append([classifier, data, name, *cells])
    return table(rows, groups.values())


def rules(protocol: str) -> str:
    """Return what selections keep and how noisy that is, a row a rule, tau and granularity."""
    groups = groups_of(protocol)
    keys = dict.fromkeys(
        key for files in groups.values() for item in files for key, _ in _selections(item)
    )
    rows = [
        [
            "rule",
            "tau",
            "looks",
            *(f"{data}, {classifier}: kept % / noise %" for classifier, data in groups),
        ]
    ]
    for key in keys:
        cells = []
        for files in groups.values():
            found = [dict(_selections(item)).get(key) for item in files]
            known = [numbers for numbers in found if numbers is not None]
            whole = len(known) == len(found)
            shares = (spread([numbers[part] for numbers in known]) for part in ("kept", "noise"))
            cells.append(" / ".join(shares) if whole else "-")
        rows.append([*key, *cells])
    everything = [
        spread([item["result"]["pseudo_labels"]["noise"] for item in files])
        for files in groups.values()
    ]
    rows.append(
        ["everything", "-", "-", *(f"100.0 / {noise_of_all}" for noise_of_all in everything)]
    )
    return table(rows, groups.values())


def _selections(item: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for row in item["result"]["selections"]:
        own = row["rule"] is None  # what a method chose by itself differs from run to run
        yield (
            (
                row["method"] if own else row["rule"],
                "-" if own else f"{row['tau']:g}",
                "-" if own else f"every {row['every']}",
            ),
            row,
        )


def distribution(protocol: str, kind: str) -> str:
    """Return the shares of the correct and of the wrong pseudo-labels by probability, or by the
    epoch they are learnt in.
    """
    groups = groups_of(protocol)
    epochs = max(
        (item["result"]["epochs"] for files in groups.values() for item in files), default=0
    )
    bins = [f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}" for number in range(BINS)]
    heads = (
        bins
        if kind == "probability"
        else [*(f"epoch {number}" for number in range(1, epochs + 1)), "never"]
    )
    rows = [["classifier", "data", "pseudo-labels", *(f"{head}, %" for head in heads)]]
    for (classifier, data), files in groups.items():
        for side in ("correct", "wrong"):
            found = [item["result"]["distributions"][kind][side] for item in files]
            if None in found or len({len(shares) for shares in found}) > 1:
                continue
            cells = [
                spread([shares[number] for shares in found]) for number in range(len(found[0]))
            ]
            if kind != "probability":  # trainings of fewer epochs: never comes last
                cells = [*cells[:-1], *["-"] * (len(heads) - len(cells)), cells[-1]]
            rows.append([classifier, data, side, *cells])
    return table(rows, groups.values())


def f1(protocol: str) -> str:
    """Return macro-F1 of a classifier trained on the best samples, a row a confidence and share or
    threshold.
    """
    groups = {
        key: files
        for key, files in groups_of(protocol).items()
        if any(item["result"]["f1"] for item in files)
    }
    keys = dict.fromkeys(
        (row["by"], row["at"])
        for files in groups.values()
        for item in files
        for row in item["result"]["f1"]
    )
    rows = [
        [
            "trained on",
            "share or threshold",
            *(f"{data}, {classifier}: kept % / macro-F1 %" for classifier, data in groups),
        ]
    ]
    for by, at in sorted(keys, key=lambda key: (key[0] != "all", key)):
        cells = []
        for files in groups.values():
            found = [
                row
                for item in files
                for row in item["result"]["f1"]
                if (row["by"], row["at"]) == (by, at)
            ]
            shares = (spread([row[part] for row in found]) for part in ("kept", "macro_f1"))
            cells.append(" / ".join(shares) if len(found) == len(files) else "-")
        rows.append([by, f"{at:g}", *cells])
    return table(rows, groups.values())


def wrong(protocol: str) -> str:
    """Return how many wrong pseudo-labels there are, by probability and by the epoch they are
    learnt in; empty bins are left out.
    """
    groups = _with_wrong(protocol)
    epochs = max(
        (item["result"]["epochs"] for files in groups.values() for item in files), default=0
    )
    rows = [
        [
            "classifier",
            "data",
            "probability",
            *(f"epoch {number}" for number in range(1, epochs + 1)),
            "never",
        ]
    ]
    for (classifier, data), files in groups.items():
        tables = [item["result"]["wrong"]["counts"] for item in files]
        for number in range(BINS):
            counts = [
                [table[number][place] for table in tables]
                for place in range(len(tables[0][number]))
            ]
            if any(map(any, counts)):
                cells = [spread_number(values, 1) for values in counts]
                cells = [*cells[:-1], *["-"] * (epochs + 1 - len(cells)), cells[-1]]
                rows.append(
                    [classifier, data, f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}", *cells]
                )
    return table(rows, groups.values())


def wrong_examples(protocol: str) -> str:
    """Return the wrong pseudo-labels of the first seed that have the largest probabilities of those
    learnt after the first epoch.
    """
    groups = {key: files[:1] for key, files in _with_wrong(protocol).items()}
    rows = [
        [
            "classifier",
            "data",
            "document",
            "pseudo-label",
            "gold label",
            "probability",
            "learnt in epoch",
        ]
    ]
    for (classifier, data), (item,) in groups.items():
        late = [row for row in item["result"]["wrong"]["examples"] if row["learnt_at"] is not None]
        for row in sorted(late, key=lambda row: -row["probability"])[:_EXAMPLES]:
            about = [
                row["id"],
                row["pseudo_label"],
                row["gold"],
                f"{row['probability']:.2f}",
                str(row["learnt_at"]),
            ]
            rows.append([classifier, data, *about])
    return table(rows, groups.values())


def _with_wrong(protocol: str) -> Groups:
    """The groups of which every file counts the wrong by both and has as many epochs; files of
    before that was measured do not.
    """
    groups = {
        key: files
        for key, files in groups_of(protocol).items()
        if all("wrong" in item["result"] for item in files)
    }
    return {
        key: files
        for key, files in groups.items()
        if len({item["result"]["epochs"] for item in files}) == 1
    }


_MAKERS: dict[str, Callable[[str], str]] = {
    "areas": areas,
    "seconds": seconds,
    "noise": partial(noise, ratio=False),
    "ratios": partial(noise, ratio=True),
    "rules": rules,
    "probabilities": partial(distribution, kind="probability"),
    "epochs": partial(distribution, kind="learnt_at"),
    "wrong": wrong,
    "wrong-examples": wrong_examples,
    "f1-of-best": f1,
}
TABLES: dict[str, Callable[[], str]] = {
    f"{protocol}-{name}": partial(make, protocol)
    for protocol in PROTOCOLS
    for name, make in _MAKERS.items()
}
