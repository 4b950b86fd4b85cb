"""Charts of a selection, as SVG that needs no script. Colours are the style sheet's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lops_adapters.report.measure import Threshold
from lops_adapters.report.text import count, escaped, isolated

Bin = tuple[float | None, int, int]  # time (None: never), kept, rejected
WIDTH, HEIGHT = 480, 280
LEFT, RIGHT, TOP, BOTTOM = 60, 24, 30, 44  # margins around the plane
TICKS_Y = HEIGHT - BOTTOM + 19
_HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>'
    '<path class="hatch-line" d="M0 0V6"/></pattern></defs>'
)


@dataclass(frozen=True)
class _Plane:
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


def histogram(bins: Sequence[Bin]) -> str:
    """Return bars of kept and rejected rows by learning time, side by side with their numbers."""
    highest = max(kept + rejected for _, kept, rejected in bins)
    plane = _Plane((0.0, float(len(bins))), (0, _ceiling(1.08 * highest)))
    parts = [_HATCH, _grid_y(plane, count_axis=True)]
    for i, (time, kept, rejected) in enumerate(bins):
        name = "never" if time is None else f"{time:.3g}"
        parts.append(f"<g><title>{name}: {count(kept)} kept, {count(rejected)} rejected</title>")
        parts.append(_bar(plane, i + 0.14, i + 0.86, 0, kept, "kept"))
        parts.append(_bar(plane, i + 0.14, i + 0.86, kept, kept + rejected, "rejected"))
        x, y = plane.at(i + 0.5, kept + rejected)
        parts.append(_text(x, y - 5, count(kept + rejected), "value"))
        parts.append(f"{_text(x, TICKS_Y, name, 'tick')}</g>")
    parts.append(_axis_names("epoch at which the rows were learnt", "rows"))
    never = sum(kept + rejected for time, kept, rejected in bins if time is None)
    label = f"Bars: kept and rejected rows by learning time. Never learnt: {count(never)} rows."
    entries = _legend([("box kept", "kept"), ("box rejected", "rejected")])
    return entries + _svg("".join(parts), label)


def threshold_chart(
    thresholds: Sequence[Threshold], n_kept: int, *, percent: bool = False
) -> tuple[str, list[list[float]]]:
    """Return shares of rows (and noise) against the confidence threshold, with marker places.

    Needs at least two thresholds. The marker is hidden until the script moves it. ``percent``: the
    confidences are probabilities. The places are [x, y of share, y of noise] for each threshold.
    """
    total = thresholds[-1][1]
    plane = _Plane((thresholds[-1][0], thresholds[0][0]), (0.0, 1.0))
    with_noise = thresholds[0][3] is not None
    shares = [plane.at(value, rows / total) for value, rows, _, _ in thresholds]
    noise = [
        plane.at(value, (wrong or 0) / max(with_gold, 1))
        for value, _, with_gold, wrong in thresholds
    ]
    parts = [_grid_y(plane, count_axis=False), _ticks_x(plane, percent=percent)]
    parts.append(_steps(shares, "line kept"))
    _, kept_y = plane.at(plane.x[0], n_kept / total)
    parts.append(f'<path class="rule" d="M{LEFT} {kept_y}H{WIDTH - RIGHT}"/>')
    if with_noise:
        parts.append(_steps(noise, "line noise"))
    places = [[*share, wrong[1]] for share, wrong in zip(shares, noise, strict=True)]
    x, y, wrong_y = places[0]
    marker = f'<path class="marker" id="marker-line" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'
    marker += f'<circle class="marker dot kept" id="marker-share" cx="{x}" cy="{y}" r="5"/>'
    if with_noise:
        marker += '<circle class="marker dot noise" id="marker-noise"'
        marker += f' cx="{x}" cy="{wrong_y}" r="5"/>'
    parts.append(f'<g id="marker" display="none">{marker}</g>')
    parts.append(_axis_names("confidence threshold", "share"))
    entries = [("stroke kept", "rows at or above the threshold")]
    entries += [("stroke noise", "wrong labels among them")] if with_noise else []
    entries.append(("stroke rule", "kept by the selection"))
    label = "Lines: share of the rows at or above each confidence threshold."
    return _legend(entries) + _svg("".join(parts), label), places


def _bar(plane: _Plane, left: float, right: float, low: float, high: float, kind: str) -> str:
    if high <= low:
        return ""
    (x, y), (right_x, base) = plane.at(left, high), plane.at(right, low)
    fill = ' fill="url(#hatch)"' if kind == "rejected" else ""
    size = f'width="{right_x - x:.1f}" height="{base - y:.1f}"'
    return f'<rect class="{kind}"{fill} x="{x}" y="{y}" {size}/>'


def _steps(places: Sequence[tuple[float, float]], kind: str) -> str:
    """Return a step line through places by falling threshold; a value holds down to the next."""
    path = "".join(f"H{x}V{y}" for x, y in places[1:])
    return f'<path class="{kind}" d="M{places[0][0]} {places[0][1]}{path}"/>'


def _nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from ``low`` to ``high``.

    >>> _nice_ticks(0, 0.23), _nice_ticks(-0.25, 1)
    ([0.0, 0.05, 0.1, 0.15, 0.2], [-0.25, 0.0, 0.25, 0.5, 0.75, 1.0])
    >>> _nice_ticks(0.91, 0.92)
    [0.91, 0.912, 0.914, 0.916, 0.918, 0.92]
    """
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def _ceiling(value: float) -> float:
    """Return the upper end of an axis that begins at 0 and holds ``value``."""
    ticks = _nice_ticks(0, value)
    return ticks[-1] if ticks[-1] >= value else ticks[-1] + ticks[1]


def _grid_y(plane: _Plane, *, count_axis: bool) -> str:
    parts = []
    for value in _nice_ticks(*plane.y):
        _, y = plane.at(plane.x[0], value)
        name = f"{100 * value:.3g} %"
        if count_axis:
            name = count(round(value)) if value == round(value) else ""
        parts.append(f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 6}" y="{y + 4}">{name}</text>')
    return "".join(parts)


def _ticks_x(plane: _Plane, *, percent: bool = False) -> str:
    parts = []
    for value in _nice_ticks(*plane.x):
        name = f"{100 * value:.3g} %" if percent else f"{value:.3g}"
        parts.append(_text(plane.at(value, plane.y[0])[0], TICKS_Y, name, "tick"))
    return "".join(parts)


def _axis_names(x: str, y: str) -> str:
    below = _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x, "name")
    return f'{below}<text class="name start" x="2" y="13">{escaped(y)}</text>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escaped(text)}</text>'


def _legend(entries: Sequence[tuple[str, str]]) -> str:
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


def _svg(inside: str, spoken: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escaped(spoken)}">{inside}</svg>'
    )
