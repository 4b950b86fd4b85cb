"""Rows without a label: how often suggestions are right, and what a classifier gains from them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results, spread_number
from benchmarks.unlabelled import NAMES

_HARM = 0.5


def _found() -> list[tuple[str, dict[str, Any]]]:
    stored = {item["about"]["dataset"]["name"]: item for item in results("unlabelled/*.json")}
    return [(name, stored[name]) for name in NAMES if name in stored]


def _block(rows: list[list[str]], found: Sequence[tuple[str, dict[str, Any]]]) -> Block:
    if not found:
        return HOLE
    items = [item for _, item in found]
    seeds, machine = items[0]["result"]["seeds"], items[0]["about"]["machine"]["processor"]
    return Block(
        f"{markdown(rows)}\n\n{seeds} seeds, static encoder, CPU ({machine}), commits "
        f"{commits(items)}: `python -m benchmarks.unlabelled --data-dir DIR`."
    )


def _runs(item: dict[str, Any], measure: str, way: str, scale: float) -> list[float]:
    result = item["result"]
    if way in result.get(measure, {}):
        return [scale * result[measure][way]]
    return [scale * run[measure][way] for run in result["runs"] if way in run.get(measure, {})]


def _table(measure: str, ways: Sequence[str], scale: float) -> Block:
    """Return a measure per table and way, and the last way against the first."""
    found = [(name, item) for name, item in _found() if measure in item["result"]]
    rows = [["table", "rows", "with a label", *ways, f"`{ways[-1]}` against the first"]]
    gains = []
    for name, item in found:
        result = item["result"]
        values = [_runs(item, measure, way, scale) for way in ways]
        gain = mean(values[-1]) - mean(values[0]) if values[-1] else None
        gains += [] if gain is None else [gain]
        counts = [f"{result['n']:,}", f"{100 * result['labelled'] / result['n']:.0f} %"]
        cells = [spread_number(v, 1) if v else "-" for v in values]
        rows.append([name, *counts, *cells, "-" if gain is None else f"{gain:+.1f}"])
    if gains:
        empty = ["", "", *("" for _ in ways)]
        harmed = sum(gain < -_HARM for gain in gains)
        rows.append(["mean / worst", *empty, f"{mean(gains):+.1f} / {min(gains):+.1f}"])
        rows.append([f"worse by more than {_HARM}", *empty, f"{harmed} of {len(gains)}"])
    return _block(rows, found)


def accuracy() -> Block:
    """Return the share of right labels among rows that had none."""
    return _table("accuracy", ("labels as given", "committee", "at once", "select"), 100)


def classifier() -> Block:
    """Return macro-F1 of a classifier with and without these rows."""
    ways = ("labels as given", "train.csv without them", "train.csv")
    return _table("macro_f1", ways, 1)


TABLES_OF_PAGE = {"unlabelled-accuracy": accuracy, "unlabelled-classifier": classifier}
