"""What a figure is before it is drawn: panels of series, in plain numbers that go into the
drawing's file and are compared there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean
from typing import Any

from benchmarks.pages.common import sources

Files = Sequence[dict[str, Any]]
DRAWING = 1  # raise it when drawing.py changes what a figure looks like: all are drawn anew then
_DIGITS = 5


@dataclass(frozen=True)
class Series:
    """One line, or one set of bars, over m places.

    Attributes:
        label: what the legend calls it.
        look: a key of ``LOOKS`` in ``drawing``: colour, marker and dashes.
        x: (m,) places; of bars, 0 to m - 1.
        y: (m,) means over seeds.
        low, high: (m,) smallest and largest of the seeds.

    """

    label: str
    look: str
    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """Axes with their series; with ``ticks``, these are bars, a group a tick. ``logarithmic`` is
    the upright axis.
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
        number: the paper's.
        title: a few words, in the caption and for those who cannot see it.
        shows: what is drawn, a sentence or two.
        published: what the paper says of its own figure.
        here: the same of these numbers.
        panels: in reading order.
        groups: the result files that it was drawn from, a list a source line.
        missing: what the figure would show if it were measured.

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
        """Return all that is drawn, ready for JSON."""
        return {
            "drawing": DRAWING,
            "title": self.title,
            "panels": [asdict(panel) for panel in self.panels],
        }

    def caption(self, picture: str) -> str:
        """Return the Markdown that stands in the page, with the picture at a path relative to it."""
        lines = [f"![Figure {self.number}: {self.title}]({picture})", ""]
        said = [
            f"**Figure {self.number}: {self.title}.**",
            self.shows,
            f"The paper: {self.published}",
            f"Here: {self.here}",
        ]
        if self.missing:
            said.append(f"Not measured yet: {', '.join(self.missing)}.")
        return "\n".join([*lines, " ".join(said), "", sources(self.groups), ""])


def series(
    label: str, look: str, x: Iterable[float], runs: Sequence[Sequence[float | None]]
) -> Series | None:
    """Return a line through the means of runs, (seeds, m); places that a run lacks are left out,
    and None comes back where none is left.

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
    """Return the series that are there."""
    return [line for line in lines if line is not None]
