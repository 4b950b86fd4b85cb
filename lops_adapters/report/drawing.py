"""What all charts share: axes, grid, legend and the SVG element. Colours are the style sheet's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lops_adapters.report.text import count, escaped, isolated

WIDTH, HEIGHT = 480, 280
LEFT, RIGHT, TOP, BOTTOM = 60, 24, 30, 44  # margins around the plane
TICKS_Y = HEIGHT - BOTTOM + 19


@dataclass(frozen=True)
class Plane:
    """The plane of a chart: (low, high) of both axes."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point in the units of the drawing."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (
            round(LEFT + across * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1),
        )


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from ``low`` to ``high``.

    >>> nice_ticks(0, 0.23), nice_ticks(-0.25, 1)
    ([0.0, 0.05, 0.1, 0.15, 0.2], [-0.25, 0.0, 0.25, 0.5, 0.75, 1.0])
    """
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def ceiling(value: float) -> float:
    """Return the upper end of an axis that begins at 0 and holds ``value``."""
    ticks = nice_ticks(0, value)
    return ticks[-1] if ticks[-1] >= value else ticks[-1] + ticks[1]


def grid_y(plane: Plane, *, count_axis: bool) -> str:
    """Return horizontal lines with their numbers: counts, or shares in percent."""
    parts = []
    for value in nice_ticks(*plane.y):
        _, y = plane.at(plane.x[0], value)
        name = f"{100 * value:.3g} %"
        if count_axis:
            name = count(round(value)) if value == round(value) else ""
        parts.append(f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 6}" y="{y + 4}">{name}</text>')
    return "".join(parts)


def ticks_x(plane: Plane, *, percent: bool = False) -> str:
    """Return the numbers under the axis."""
    parts = []
    for value in nice_ticks(*plane.x):
        name = f"{100 * value:.3g} %" if percent else f"{value:.3g}"
        parts.append(label(plane.at(value, plane.y[0])[0], TICKS_Y, name, "tick"))
    return "".join(parts)


def axis_names(x: str, y: str) -> str:
    """Return the names of both axes."""
    below = label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x, "name")
    return f'{below}<text class="name start" x="2" y="13">{escaped(y)}</text>'


def label(x: float, y: float, text: str, kind: str) -> str:
    """Return a text at a place."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escaped(text)}</text>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Return a legend: (sample, name), a sample being its kind and the style sheet's classes.

    Kinds of samples: ``box``, ``stroke``.
    """
    samples = {
        "box": '<rect width="14" height="12" y="1" fill="url(#hatch)" class="{}"/>',
        "stroke": '<path d="M0 7H26" class="line {}"/>',
    }
    items = []
    for style, name in entries:
        kind, _, classes = style.partition(" ")
        width, sample = 26 if kind == "stroke" else 14, samples[kind].format(classes)
        drawn = f'<svg width="{width}" height="14" aria-hidden="true">{sample}</svg>'
        items.append(f"<li>{drawn}{isolated(name)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def svg(inside: str, spoken: str) -> str:
    """Return a chart; ``spoken`` is read out in its place."""
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escaped(spoken)}">{inside}</svg>'
    )
