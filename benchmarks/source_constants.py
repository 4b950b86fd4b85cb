"""The constants of the model of label sources, chosen again without each family of tables.

    python -m benchmarks.source_constants --data-dir DIR
    python -m benchmarks.source_constants --data-dir DIR --tables youtube-rules,sms-rules

Per table of :mod:`benchmarks.source_tables`, on the rows with a vote: how accurate the labels of
``select`` are when one constant is larger or smaller (tables up to 2,000 rows: members are trained
again), and how many true accuracies of sources lie in ranges of other widths. Gold labels only
measure; :mod:`benchmarks.pages.source_constants` chooses by them, for each family on the tables of
the others. Real tables, seed 0, the default encoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.kept import members_kept
from benchmarks.record import measure_tables
from benchmarks.source_measures import counted
from benchmarks.source_tables import REAL, VotedTable, load_voted
from lops_adapters import select
from lops_adapters.core import LopsError
from lops_adapters.selection.committee import belief
from lops_adapters.selection.votes import pooling, signals, source_model, source_table, sources

# constant -> its module, and a smaller and a larger value
CONSTANTS: dict[str, tuple[Any, tuple[float, float]]] = {
    "ANCHOR": (source_model, (1.0, 10.0)),
    "_CLEARLY": (source_model, (1.5, 3.5)),
    "TRUST": (sources, (0.1, 0.4)),
    "WEIGHT": (sources, (1.0, 4.0)),
    "CONFUSED": (pooling, (3.0, 30.0)),
    "POOLED": (pooling, (8.0, 50.0)),
    "_SPREAD": (pooling, (0.03, 0.3)),
    "_SHRUNK": (signals, (3.0, 30.0)),
    "_COPY": (signals, (0.9, 0.98)),
}
KINDS = {"one class": source_table.OF_ONE_CLASS, "several classes": source_table.OF_SEVERAL_CLASSES}
BELOW = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ABOVE = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
LARGE = 2000  # rows, beyond which no other constants are tried


def settings(n: int) -> Iterator[tuple[str, float | None]]:
    """Yield what to try on n rows: first none, for today's values, then constants and values."""
    yield "", None
    for name, (_, values) in CONSTANTS.items() if n <= LARGE else ():
        for value in values:
            yield name, value


@contextmanager
def changed(name: str, value: float | None) -> Iterator[None]:
    """Let a constant have another value."""
    sources._last.clear()
    if value is None:
        yield
        return
    with patch.object(CONSTANTS[name][0], name, value):
        yield


def measure(table: VotedTable) -> dict[str, Any]:
    """Return accuracies by constant and value, and sources in their range by kind and width."""
    votes = table.named(table.votes).tolist()
    assessed: list[Any] = []
    assess = source_table.assess

    def recorded(*arguments: Any) -> Any:
        assessed.append(arguments)
        return assess(*arguments)

    accuracies: dict[str, float] = {}
    with TemporaryDirectory() as folder, members_kept(Path(folder)):
        for name, value in settings(len(votes)):
            with changed(name, value), patch.object(belief, "assess", recorded):
                labels = _labels(table, votes)
            key = name and f"{name} {value:g}"
            accuracies[key] = float((labels == table.gold).mean())
            print(" ", key or "as it is", round(100 * accuracies[key], 1), flush=True)
    return {"accuracies": accuracies, "ranges": _ranges(table, assessed[0])}


def _labels(table: VotedTable, votes: list[Any]) -> np.ndarray:
    """Return the codes of the labels; -1 everywhere if a value gives all rows one class."""
    try:
        return table.coded(select(table.texts, votes).labels)
    except LopsError:
        return np.full(len(votes), -1)


def _ranges(table: VotedTable, arguments: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return how many sources of each kind lie in ranges of each width, and their mean width."""
    some, accuracies = counted(table)
    single = np.array([len(set(table.votes[:, one].tolist()) - {-1}) == 1 for one in some])
    found = []
    for below in BELOW:
        for above in ABOVE:
            with (
                patch.object(source_table, "OF_ONE_CLASS", (below, above)),
                patch.object(source_table, "OF_SEVERAL_CLASSES", (below, above)),
            ):
                found_sources = source_table.assess(*arguments)
            low = np.array([found_sources[one].low for one in some])
            high = np.array([found_sources[one].high for one in some])
            inside = (low <= accuracies) & (accuracies <= high)
            for kind, rows in (("one class", single), ("several classes", ~single)):
                if rows.any():
                    numbers = {"sources": int(rows.sum()), "inside": int(inside[rows].sum())}
                    width = float((high - low)[rows].mean())
                    found.append(
                        {"kind": kind, "below": below, "above": above, **numbers, "width": width}
                    )
    return found


def _load(name: str, data_dir: Path) -> VotedTable:
    return load_voted(name, data_dir).with_votes()


if __name__ == "__main__":
    measure_tables("source_constants", __doc__, REAL, _load, measure)
