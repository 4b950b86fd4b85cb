"""What the figures drawn from the cells of ``benchmarks.curves`` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks.figures.model import Figure, Panel, Series
from benchmarks.pages.common import Files, results
from benchmarks.pages.self_training import DATASETS

# Confidence -> its look.
LOOKS = {
    "learning-order": "lops",
    "probability": "probability",
    "automatic": "automatic",
    "random": "random",
}


class Words(NamedTuple):
    """What the caption of a figure says."""

    title: str
    shows: str
    published: str


def files_of(protocol: str, classifier: str) -> dict[str, list[dict[str, Any]]]:
    """Return data set -> its curves, one per seed; an empty list if nothing was measured."""
    found = {
        data: results(f"{protocol}/curves-{classifier}-{data}-seed*.json")
        for data in DATASETS[protocol]
    }
    return {
        data: [item for item in files if item["about"]["settings"]["classifier"] == classifier]
        for data, files in found.items()
    }


def panels_of(
    groups: Mapping[str, Files], make: Callable[[Files], Panel | None]
) -> dict[str, Panel]:
    """Return the panels by data set, without those that were not measured."""
    made = {data: make(files) if files else None for data, files in groups.items()}
    return {data: panel for data, panel in made.items() if panel}


def figure_of(
    number: int,
    words: Words,
    here: str,
    panels: Mapping[str, Panel],
    groups: Mapping[str, Files],
    lacking: Sequence[str] = (),
) -> Figure | None:
    """Return the figure, one panel per data set, or None without panels.

    Args:
        number: of the paper's figure.
        words: of its caption.
        here: what these numbers say.
        panels: by data set.
        groups: result files by data set.
        lacking: parts that were not measured, besides whole data sets.

    """
    if not panels:
        return None
    missing = [*(data for data in groups if data not in panels), *lacking]
    files = [groups[data] for data in panels]
    return Figure(number, *words, here, list(panels.values()), files, missing)


def name_of(files: Files) -> str:
    """Return the name of the data set of result files."""
    return str(files[0]["about"]["dataset"]["name"])


def percent(shares: Sequence[float | None]) -> list[float | None]:
    """Return shares in percent."""
    return [None if share is None else 100 * share for share in shares]


def in_percent(lines: Sequence[Series]) -> list[Series]:
    """Return the same lines with x in percent."""
    return [replace(line, x=[round(100 * at, 3) for at in line.x]) for line in lines]
