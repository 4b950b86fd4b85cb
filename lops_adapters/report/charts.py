"""Charts as SVG, drawn here so that a page needs no script to show them. Colours are the style
sheet's, for they follow its scheme.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from lops_adapters.report.data import BEST, Curve
from lops_adapters.report.measure import Threshold
from lops_adapters.report.text import count, escaped, isolated

WIDTH, HEIGHT = 480, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 24, 30, 44
_TICKS_Y = HEIGHT - _BOTTOM + 19
_BEGINNING = 0.05  # coverage up to which a curve need not be seen
_FEW = 12  # bars that stand side by side, with their numbers
_COLOURS, _DASHES = (
    8,
    5,
)  # classes c0.. and d0.. of the style sheet; no common factor, so 40 lines differ


@dataclass(frozen=True)
class Plane:
    """Where numbers lie in a chart: (low, high) of both axes."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point, in the units of the drawing."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(_LEFT + across * (WIDTH - _LEFT - _RIGHT), 1), round(
            HEIGHT - _BOTTOM - up * (HEIGHT - _TOP - _BOTTOM), 1
        )


def histogram(bins: Sequence[tuple[float | None, int, int]]) -> str:
    """Return bars of kept and rejected rows by the time they were learnt: side by side where they
    are few, else along a time axis.
    """
    spans, low, high, names = _few_bars(bins) if len(bins) <= _FEW else _many_bars(bins)
    plane = Plane(
        (low, high), (0, _ceiling(1.08 * max(kept + rejected for _, kept, rejected in bins)))
    )
    parts = [_HATCH, _grid_y(plane, count_axis=True)]
    for (time, kept, rejected), (left, right) in zip(bins, spans, strict=True):
        name = "never" if time is None else f"{time:.3g}"
        parts.append(f"<g><title>{name}: {count(kept)} kept, {count(rejected)} rejected</title>")
        parts.append(
            _bar(plane, left, right, 0, kept, "kept")
            + _bar(plane, left, right, kept, kept + rejected, "rejected")
        )
        if len(bins) <= _FEW:
            x, y = plane.at((left + right) / 2, kept + rejected)
            parts.append(_label(x, y - 5, count(kept + rejected), "value"))
        parts.append("</g>")
    parts += [_label(plane.at(x, 0)[0], _TICKS_Y, name, "tick") for x, name in names]
    parts.append(_axis_names("learnt after so many epochs", "rows"))
    never = sum(kept + rejected for time, kept, rejected in bins if time is None)
    said = f"Bars: rows by the time they were learnt, kept and rejected. {count(never)} rows were never learnt."
    return _legend([("box kept", "kept"), ("box rejected", "rejected")]) + _svg(
        "".join(parts), said
    )


_Bars = tuple[
    list[tuple[float, float]], float, float, list[tuple[float, str]]
]  # spans, both ends of the axis, names under it


def _few_bars(bins: Sequence[tuple[float | None, int, int]]) -> _Bars:
    spans = [(i + 0.14, i + 0.86) for i in range(len(bins))]
    names = [
        (i + 0.5, "never" if time is None else f"{time:.3g}") for i, (time, _, _) in enumerate(bins)
    ]
    return spans, 0.0, float(len(bins)), names


def _many_bars(bins: Sequence[tuple[float | None, int, int]]) -> _Bars:
    """Bars end at their times; the one of rows that were never learnt is wider and stands apart,
    beyond the last time.
    """
    times = [time for time, _, _ in bins if time is not None]
    width = max(
        min(later - time for time, later in itertools.pairwise(times)), (times[-1] - times[0]) / 60
    )
    low, high = times[0] - width, times[-1]
    spans = [(time - 0.92 * width, time) for time in times]
    names = [(value, f"{value:.3g}") for value in nice_ticks(low, high)]
    if len(times) < len(bins):
        room = 0.08 * (high - low)
        spans.append((high + room, high + 1.5 * room))
        names = [*names, (high + 1.25 * room, "never")]
        high += 2 * room
    return spans, low, high, names


def threshold_chart(thresholds: Sequence[Threshold], n_kept: int) -> tuple[str, list[list[float]]]:
    """Return shares of rows (and noise) against the confidence threshold, and for each threshold
    [x, y of share, y of noise].

    Needs at least two thresholds. The marker stands at the first of these, hidden, until the script
    moves it.
    """
    total = thresholds[-1][1]
    plane = Plane((thresholds[-1][0], thresholds[0][0]), (0.0, 1.0))
    with_noise = thresholds[0][3] is not None
    shares = [plane.at(value, rows / total) for value, rows, _, _ in thresholds]
    parts = [_grid_y(plane, count_axis=False), _ticks_x(plane), _steps(shares, "line kept")]
    _, kept_y = plane.at(plane.x[0], n_kept / total)
    parts.append(f'<path class="rule" d="M{_LEFT} {kept_y}H{WIDTH - _RIGHT}"/>')
    noise = [
        plane.at(value, (wrong or 0) / max(judged, 1)) for value, _, judged, wrong in thresholds
    ]
    if with_noise:
        parts.append(_steps(noise, "line noise"))
    places = [[*share, wrong[1]] for share, wrong in zip(shares, noise, strict=True)]
    x, y, wrong_y = places[0]
    marker = f'<path class="marker" id="marker-line" d="M{x} {_TOP}V{HEIGHT - _BOTTOM}"/>'
    marker += f'<circle class="marker dot kept" id="marker-share" cx="{x}" cy="{y}" r="5"/>'
    if with_noise:
        marker += (
            f'<circle class="marker dot noise" id="marker-noise" cx="{x}" cy="{wrong_y}" r="5"/>'
        )
    parts.append(f'<g id="marker" display="none">{marker}</g>')  # shown by the script that moves it
    parts.append(_axis_names("confidence threshold", "share"))
    entries = [
        ("stroke kept", "rows at or above it"),
        *([("stroke noise", "wrong among these")] if with_noise else []),
        ("stroke rule", "kept by the selection"),
    ]
    return _legend(entries) + _svg(
        "".join(parts), "Lines: share of the rows at or above each confidence threshold."
    ), places


def curve_chart(curves: Sequence[Curve], kept: Sequence[tuple[str, float, float]] = ()) -> str:
    """Return noise-coverage curves; ``kept`` are (name, coverage, noise) of selections, drawn as
    points in the colours of their curves.

    Shares among few rows can be anything: where these alone are high, the axis ends below them and
    a sentence says so.
    """
    highest = max(
        [
            *(value for curve in curves for value in curve.noise),
            *(noise for _, _, noise in kept),
            0.01,
        ]
    )
    top = _ceiling(min(highest, _worth_showing(curves, kept)))
    plane = Plane((0.0, 1.0), (0.0, top))
    parts = [
        _grid_y(plane, count_axis=False),
        _ticks_x(plane, percent=True),
        _CLIP,
        '<g clip-path="url(#inside)">',
    ]
    styles = line_styles([curve.name for curve in curves])
    for curve in curves:
        places = [plane.at(x, y) for x, y in zip(curve.coverage, curve.noise, strict=True)]
        drawn = " ".join(f"{x},{y}" for x, y in places)
        shape = f'<polyline class="line {styles[curve.name]}" points="{drawn}"/>'
        if len(places) == 1:
            shape = f'<circle class="dot {styles[curve.name]}" cx="{places[0][0]}" cy="{places[0][1]}" r="4"/>'
        parts.append(f"<g><title>{escaped(curve.name)}</title>{shape}</g>")
    parts.append("</g>")
    for name, coverage, noise in kept:
        x, y = plane.at(coverage, noise)
        style = styles.get(name, "c0")
        parts.append(
            f'<g><title>{escaped(name)}: kept</title><circle class="dot {style}" cx="{x}" cy="{y}" r="5"/></g>'
        )
    parts.append(_axis_names("share of the rows kept", "wrong among these"))
    entries = [(f"stroke {styles[curve.name]}", curve.name) for curve in curves]
    entries += [("point", "what is kept")] if kept else []
    drawn = _legend(entries) + _svg(
        "".join(parts), "Lines: share of wrong pseudo-labels against the share of the rows kept."
    )
    cut = f'<p class="note">The axis ends at {100 * top:.3g} %: a curve that leaves it was higher among the first few rows.</p>'
    return drawn + cut if highest > top else drawn


def _worth_showing(curves: Sequence[Curve], kept: Sequence[tuple[str, float, float]]) -> float:
    """A height above everything but the curves' beginnings: their first points are shares of single
    rows, 0 or 1 by luck.
    """
    every = max(
        (curve.noise[-1] for curve in curves), default=0.0
    )  # among all rows, the same in each curve
    points = [
        (x, y) for curve in curves for x, y in zip(curve.coverage, curve.noise, strict=True)
    ] + [(1.0, y) for _, _, y in kept]
    return max(
        1.5 * every, 1.05 * max((y for x, y in points if x >= _BEGINNING), default=0.0), 0.01
    )


def line_styles(names: Sequence[str]) -> dict[str, str]:
    """Return the classes of each curve: colour and dashes, so that no line is told by colour alone.

    >>> line_styles(["a", "best possible", "b"])
    {'best possible': 'best', 'a': 'c0 d0', 'b': 'c1 d1'}
    """
    others = [name for name in names if name != BEST]
    return {BEST: "best"} | {
        name: f"c{i % _COLOURS} d{i % _DASHES}" for i, name in enumerate(others)
    }


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


def _ceiling(value: float) -> float:
    ticks = nice_ticks(0, value)
    return ticks[-1] if ticks[-1] >= value else ticks[-1] + ticks[1]


def _bar(plane: Plane, left: float, right: float, low: float, high: float, kind: str) -> str:
    (x, y), (right_x, base) = plane.at(left, high), plane.at(right, low)
    fill = ' fill="url(#hatch)"' if kind == "rejected" else ""
    return (
        f'<rect class="{kind}"{fill} x="{x}" y="{y}" width="{right_x - x:.1f}" height="{base - y:.1f}"/>'
        if high > low
        else ""
    )


def _steps(places: Sequence[tuple[float, float]], kind: str) -> str:
    """A line that holds a threshold's value down to the next lower one; places come with falling
    thresholds.
    """
    path = "".join(f"H{x}V{y}" for x, y in places[1:])
    return f'<path class="{kind}" d="M{places[0][0]} {places[0][1]}{path}"/>'


def _grid_y(plane: Plane, *, count_axis: bool) -> str:
    parts = []
    for value in nice_ticks(*plane.y):
        _, y = plane.at(plane.x[0], value)
        name = (
            (count(round(value)) if value == round(value) else "")
            if count_axis
            else f"{100 * value:.3g} %"
        )
        parts.append(
            f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/><text class="tick end" x="{_LEFT - 6}" y="{y + 4}">{name}</text>'
        )
    return "".join(parts)


def _ticks_x(plane: Plane, *, percent: bool = False) -> str:
    names = [
        (value, f"{100 * value:.3g} %" if percent else f"{value:.3g}")
        for value in nice_ticks(*plane.x)
    ]
    return "".join(
        _label(plane.at(value, plane.y[0])[0], _TICKS_Y, name, "tick") for value, name in names
    )


def _axis_names(x: str, y: str) -> str:
    return (
        _label((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 6, x, "name")
        + f'<text class="name start" x="2" y="13">{y}</text>'
    )


def _label(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escaped(text)}</text>'


def _legend(entries: Sequence[tuple[str, str]]) -> str:
    samples = {
        "box": '<rect width="14" height="12" y="1" fill="url(#hatch)"',
        "stroke": '<path d="M0 7H26"',
        "point": '<circle cx="7" cy="7" r="5"',
    }
    items = []
    for style, name in entries:
        shape, _, kinds = style.partition(" ")
        kinds = {"box": kinds, "stroke": f"line {kinds}", "point": "dot any"}[shape]
        width = 14 if shape != "stroke" else 26
        items.append(
            f'<li><svg width="{width}" height="14" aria-hidden="true">{samples[shape]} class="{kinds}"/></svg>{isolated(name)}</li>'
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _svg(inside: str, said: str) -> str:
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escaped(said)}">{inside}</svg>'


_CLIP = (  # wider than the plane at three sides, that lines along its edges keep their width
    f'<clipPath id="inside"><rect x="{_LEFT - 4}" y="{_TOP}" width="{WIDTH - _LEFT - _RIGHT + 8}" height="{HEIGHT - _TOP - _BOTTOM + 4}"/>'
    "</clipPath>"
)
_HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect class="hatch-ground" width="6" height="6"/><path class="hatch-line" d="M0 0V6"/></pattern></defs>'
)
