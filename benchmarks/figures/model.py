"""Figures before they are drawn: panels of series, in plain numbers that are stored in the SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean
from typing import Any

from benchmarks.pages.common import Block, Files

# Raise it when drawing.py changes the look of figures: all are drawn anew then.
DRAWING = 1
_DIGITS = 5


@dataclass(frozen=True)
class Series:
    """One line or one set of bars, with m points.

    Attributes:
        label: its name in the legend.
        look: a key of ``LOOKS`` in ``drawing``: colour, marker and dashes.
        x: (m,) positions; 0 to m - 1 for bars.
        y: (m,) means over seeds.
        low, high: (m,) smallest and largest over seeds.

    """

    label: str
    look: str
    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """Axes with their series.

    With ``ticks`` the series are bars, one group per tick. ``logarithmic`` is about the y axis.
    """

    title: str
    x_label: str
    y_label: str
    series: list[Series]
    ticks: list[str] | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, drawn from result files.

    Attributes:
        number: of the paper's figure.
        title: a few words, for the caption and the alternative text.
        shows: what is drawn, in a sentence or two.
        published: what the paper says about its own figure.
        here: what these numbers say.
        panels: in reading order.
        groups: the result files it was drawn from, one list per source line.
        missing: what was not measured.

    """

    number: int
    title: str
    shows: str
    published: str
    here: str
    panels: list[Panel]
    groups: list[Files] = field(repr=False)
    missing: list[str]

    def data(self) -> dict[str, Any]:
        """Return everything that is drawn, ready for JSON."""
        return {
            "drawing": DRAWING,
            "title": self.title,
            "panels": [asdict(panel) for panel in self.panels],
        }

    def caption(self, label: str, picture: str) -> Block:
        """Return the picture, at a path relative to the page, and its caption."""
        lines = [f"![{label}: {self.title}]({picture})", ""]
        said = [
            f"**{label}: {self.title}.**",
            self.shows,
            f"The paper: {self.published}",
            f"Here: {self.here}",
        ]
        if self.missing:
            said.append(f"Not measured yet: {', '.join(self.missing)}.")
        return Block("\n".join([*lines, " ".join(said)]), [files for files in self.groups if files])


def series(
    label: str, look: str, x: Iterable[float], runs: Sequence[Sequence[float | None]]
) -> Series | None:
    """Return a line through the means of runs, (seeds, m).

    Positions that a run lacks are left out; None if no position is left.

    >>> line = series("a", "lops", [0.5, 1.0], [[0.1, 0.2], [0.3, None]])
    >>> line.x, line.y, line.low, line.high
    ([0.5], [0.2], [0.1], [0.3])
    """
    places = list(x)
    known = [
        (place, values)
        for place, *values in zip(places, *runs, strict=True)
        if values and None not in values
    ]
    if not known:
        return None
    x_of, y_of = [round(place, _DIGITS) for place, _ in known], [values for _, values in known]
    numbers = [[round(take(values), _DIGITS) for values in y_of] for take in (mean, min, max)]
    return Series(label, look, x_of, *numbers)


def measured(*lines: Series | None) -> list[Series]:
    """Return the series that are not None."""
    return [line for line in lines if line is not None]
