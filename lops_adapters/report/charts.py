"""Charts of a selection, as SVG that needs no script."""

from collections.abc import Sequence

from lops_adapters.report import drawing
from lops_adapters.report.drawing import BOTTOM, HEIGHT, LEFT, RIGHT, TICKS_Y, TOP, WIDTH, Plane
from lops_adapters.report.measure import Threshold
from lops_adapters.report.text import count

Bin = tuple[float | None, int, int]  # time (None: never), kept, rejected


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


_HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>'
    '<path class="hatch-line" d="M0 0V6"/></pattern></defs>'
)
