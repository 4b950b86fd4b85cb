"""Checked rows: accuracy of labels, classifiers, and the interval of the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from benchmarks.checked import CLASSIFIED
from benchmarks.pages.common import HOLE, Block, commits, markdown, results, spread_number

_SHOWN = (50, 150)
_COUNTS = (20, 50, 100, 150)
_HARM = 0.005


def _found() -> dict[str, dict[str, Any]]:
    return {item["about"]["dataset"]["name"]: item for item in results("checked/*.json")}


def _values(item: dict[str, Any], key: str, count: int, choice: str = "to_check") -> list[float]:
    return [
        run[key]
        for run in item["result"]["runs"]
        if run["rows"] == count and run["choice"] == choice and key in run
    ]


def _block(rows: list[list[str]], found: dict[str, dict[str, Any]]) -> Block:
    if not found:
        return HOLE
    items = list(found.values())
    draws, machine = items[0]["result"]["seeds"], items[0]["about"]["machine"]["processor"]
    return Block(
        f"{markdown(rows)}\n\n{draws} draws, static encoder, CPU ({machine}), commits "
        f"{commits(items)}: `python -m benchmarks.checked --data-dir DIR`."
    )


def _percent(values: Sequence[float]) -> str:
    return f"{100 * mean(values):.1f}" if values else "-"


def accuracy() -> Block:
    """Return the accuracy of corrected labels, 50 / 150 rows, next to other ways."""
    found = _found()
    heads = ["labels", "nothing checked", "checked", "against labels with the checked rows"]
    heads += ["few-shot", "random rows", "least trusted rows"]
    rows = [["table", *heads]]
    gains: dict[int, list[float]] = {n: [] for n in _SHOWN}
    for name, item in found.items():
        given = item["result"]["accuracy"]
        for n in _SHOWN:
            floor = mean(_values(item, "labels_as_given", n))
            gains[n].append(mean(_values(item, "accuracy", n)) - floor)
        cells = [
            [_percent(_values(item, "accuracy", n)) for n in _SHOWN],
            [f"{100 * gains[n][-1]:+.1f}" for n in _SHOWN],
            [_percent(_values(item, "few_shot", n)) for n in _SHOWN],
            [_percent(_values(item, "accuracy", n, "random rows")) for n in _SHOWN],
            [_percent(_values(item, "accuracy", n, "least trusted rows")) for n in _SHOWN],
        ]
        first = [_percent([given["labels"]]), _percent([given["committee"]])]
        rows.append([name, *first, *(" / ".join(each) for each in cells)])
    if found:
        for title, measure in (
            ("mean", lambda of_n: f"{100 * mean(of_n):+.1f}"),
            ("worst", lambda of_n: f"{100 * min(of_n):+.1f}"),
            ("tables below by more than 0.5 points", _harmed),
        ):
            cell = " / ".join(measure(gains[n]) for n in _SHOWN)
            rows.append([title, "", "", "", cell, "", "", ""])
    return _block(rows, found)


def _harmed(gains: Sequence[float]) -> str:
    return f"{sum(gain < -_HARM for gain in gains)} of {len(gains)}"


def classifier() -> Block:
    """Return macro-F1 of classifiers on kept rows."""
    found = {name: item for name, item in _found().items() if "macro_f1" in item["result"]}
    heads = [f"kept, {n} rows checked" for n in CLASSIFIED]
    rows = [["table", "all", "kept", *heads, "only right"]]
    for name, item in found.items():
        scores = item["result"]["macro_f1"]
        checked = [spread_number(_values(item, "macro_f1", n), 1) for n in CLASSIFIED]
        plain = [f"{scores[key]:.1f}" for key in ("all", "kept", "only right")]
        rows.append([name, *plain[:2], *checked, plain[2]])
    return _block(rows, found)


def interval() -> Block:
    """Return how often the interval holds, and how wide it is."""
    found = _found()
    rows = [["table", "wrong %", *(f"{n} rows: estimate %, width, holds %" for n in _COUNTS)]]
    for name, item in found.items():
        noise, cells = item["result"]["noise"], []
        for n in _COUNTS:
            low, high = _values(item, "low", n), _values(item, "high", n)
            ends = list(zip(low, high, strict=True))
            holds = [float(a <= noise <= b) for a, b in ends]
            width = 100 * mean(b - a for a, b in ends)
            cells.append(f"{_percent(_values(item, 'rate', n))}, {width:.0f}, {_percent(holds)}")
        rows.append([name, _percent([noise]), *cells])
    if found:
        total = ["all", ""]
        for n in _COUNTS:
            holds = [
                float(a <= item["result"]["noise"] <= b)
                for item in found.values()
                for a, b in zip(_values(item, "low", n), _values(item, "high", n), strict=True)
            ]
            total.append(f"-, -, {_percent(holds)}")
        rows.append(total)
    return _block(rows, found)


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "checked-accuracy": accuracy,
    "checked-classifier": classifier,
    "checked-interval": interval,
}
