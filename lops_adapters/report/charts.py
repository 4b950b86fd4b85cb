"""Charts of a selection, as SVG that needs no script."""

from collections.abc import Sequence

from lops_adapters.report import drawing
from lops_adapters.report.contents import BEST, Curve
from lops_adapters.report.drawing import BOTTOM, HEIGHT, LEFT, RIGHT, TICKS_Y, TOP, WIDTH, Plane
from lops_adapters.report.measure import Threshold
from lops_adapters.report.text import count, escaped

_BEGINNING = 0.05  # curves may leave the chart below this coverage

Bin = tuple[float | None, int, int]  # time (None: never), kept, rejected
Point = tuple[str, float, float]  # name, coverage, noise


def histogram(bins: Sequence[Bin]) -> str:
    """Return bars of kept and rejected rows by learning time, side by side with their numbers."""
    highest = max(kept + rejected for _, kept, rejected in bins)
    plane = Plane((0.0, float(len(bins))), (0, drawing.ceiling(1.08 * highest)))
    parts = [_HATCH, drawing.grid_y(plane, count_axis=True)]
    for i, (time, kept, rejected) in enumerate(bins):
        name = "never" if time is None else f"{time:.3g}"
        parts.append(f"<g><title>{name}: {count(kept)} kept, {count(rejected)} rejected</title>")
        parts.append(_bar(plane, i + 0.14, i + 0.86, 0, kept, "kept"))
        parts.append(_bar(plane, i + 0.14, i + 0.86, kept, kept + rejected, "rejected"))
        x, y = plane.at(i + 0.5, kept + rejected)
        parts.append(drawing.label(x, y - 5, count(kept + rejected), "value"))
        parts.append(f"{drawing.label(x, TICKS_Y, name, 'tick')}</g>")
    parts.append(drawing.axis_names("epoch at which the rows were learnt", "rows"))
    never = sum(kept + rejected for time, kept, rejected in bins if time is None)
    label = f"Bars: kept and rejected rows by learning time. Never learnt: {count(never)} rows."
    entries = drawing.legend([("box kept", "kept"), ("box rejected", "rejected")])
    return entries + drawing.svg("".join(parts), label)


def threshold_chart(
    thresholds: Sequence[Threshold], n_kept: int, *, percent: bool = False
) -> tuple[str, list[list[float]]]:
    """Return shares of rows (and noise) against the confidence threshold, with marker places.

    Needs at least two thresholds. The marker is hidden until the script moves it. ``percent``: the
    confidences are probabilities. The places are [x, y of share, y of noise] for each threshold.
    """
    total = thresholds[-1][1]
    plane = Plane((thresholds[-1][0], thresholds[0][0]), (0.0, 1.0))
    with_noise = thresholds[0][3] is not None
    shares = [plane.at(value, rows / total) for value, rows, _, _ in thresholds]
    noise = [
        plane.at(value, (wrong or 0) / max(with_gold, 1))
        for value, _, with_gold, wrong in thresholds
    ]
    parts = [drawing.grid_y(plane, count_axis=False), drawing.ticks_x(plane, percent=percent)]
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
    parts.append(drawing.axis_names("confidence threshold", "share"))
    entries = [("stroke kept", "rows at or above the threshold")]
    entries += [("stroke noise", "wrong labels among them")] if with_noise else []
    entries.append(("stroke rule", "kept by the selection"))
    label = "Lines: share of the rows at or above each confidence threshold."
    return drawing.legend(entries) + drawing.svg("".join(parts), label), places


def curve_chart(curves: Sequence[Curve], kept: Sequence[Point] = ()) -> str:
    """Return noise-coverage curves; ``kept`` are selections, drawn as points on them.

    Noise among the first few rows is erratic. Where it alone is high, the axis ends below it and a
    note says so.
    """
    values = [value for curve in curves for value in curve.noise]
    highest = max([*values, *(noise for _, _, noise in kept), 0.01])
    top = drawing.ceiling(min(highest, _worth_showing(curves, kept)))
    plane = Plane((0.0, 1.0), (0.0, top))
    parts = [drawing.grid_y(plane, count_axis=False), drawing.ticks_x(plane, percent=True)]
    parts += [_CLIP, '<g clip-path="url(#inside)">']
    parts += [_curve(plane, curve) for curve in curves]
    parts.append("</g>")
    for name, coverage, noise in kept:
        x, y = plane.at(coverage, noise)
        dot = f'<circle class="dot curve" cx="{x}" cy="{y}" r="5"/>'
        parts.append(f"<g><title>{escaped(name)}: kept</title>{dot}</g>")
    parts.append(drawing.axis_names("share of rows kept", "wrong labels among them"))
    entries = [(f"stroke {_style(curve)}", curve.name) for curve in curves]
    entries += [("point", "kept by the method")] if kept else []
    label = "Lines: share of wrong labels against the share of rows kept."
    drawn = drawing.legend(entries) + drawing.svg("".join(parts), label)
    if highest <= top:
        return drawn
    return (
        f'{drawn}<p class="note">The axis ends at {100 * top:.3g} %: '
        "noise among the first few rows is higher.</p>"
    )


def _curve(plane: Plane, curve: Curve) -> str:
    style = _style(curve)
    places = [plane.at(x, y) for x, y in zip(curve.coverage, curve.noise, strict=True)]
    if len(places) == 1:
        shape = f'<circle class="dot {style}" cx="{places[0][0]}" cy="{places[0][1]}" r="4"/>'
    else:
        drawn = " ".join(f"{x},{y}" for x, y in places)
        shape = f'<polyline class="line {style}" points="{drawn}"/>'
    return f"<g><title>{escaped(curve.name)}</title>{shape}</g>"


def _style(curve: Curve) -> str:
    """Return the class of a curve in the style sheet."""
    return "best" if curve.name == BEST else "curve"


def _worth_showing(curves: Sequence[Curve], kept: Sequence[Point]) -> float:
    """Return a height above all but the beginnings of the curves, which are shares of few rows."""
    overall = max((curve.noise[-1] for curve in curves), default=0.0)
    later = [
        noise
        for curve in curves
        for coverage, noise in zip(curve.coverage, curve.noise, strict=True)
        if coverage >= _BEGINNING
    ]
    points = [noise for _, _, noise in kept]
    return max(1.5 * overall, 1.05 * max([*later, *points], default=0.0), 0.01)


def _bar(plane: Plane, left: float, right: float, low: float, high: float, kind: str) -> str:
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


_CLIP = (  # wider than the plane on three sides, so that lines along its edges keep their width
    f'<clipPath id="inside"><rect x="{LEFT - 4}" y="{TOP}" width="{WIDTH - LEFT - RIGHT + 8}"'
    f' height="{HEIGHT - TOP - BOTTOM + 4}"/></clipPath>'
)
_HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>'
    '<path class="hatch-line" d="M0 0V6"/></pattern></defs>'
)
