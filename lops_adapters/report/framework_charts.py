"""Charts of a framework's run: macro-F1 and noise per arm and iteration."""

from collections.abc import Mapping, Sequence

from lops_adapters.console import percent
from lops_adapters.report import drawing
from lops_adapters.report.drawing import Plane
from lops_adapters.report.text import escaped

_NAMES = 12  # names under the axis; of more steps only some are named
_PAIRS = 40  # pairs of points side by side
_LABELLED = 8  # points with a number above them

Steps = Sequence[str]
Values = Mapping[str, Mapping[str, float]]  # arm -> step -> value
Pairs = Mapping[str, Mapping[str, tuple[float, float]]]  # arm -> step -> before, after


def line_chart(
    title: str, steps: Steps, arms: Sequence[str], values: Values, axes: tuple[str, str]
) -> str:
    """Return a line per arm over the steps; points with their numbers for one step.

    Args:
        title: what is read out, before the numbers.
        steps: names of the iterations or stages, in order.
        arms: all arms of the run; their order gives colours and shapes.
        values: fractions, where they are known; at least one.
        axes: names of both axes.

    """
    axis, height = axes
    known = [value for row in values.values() for value in row.values()]
    middle = (min(known) + max(known)) / 2
    reach = max((max(known) - min(known)) / 2, 0.05) * 1.1
    plane = Plane(
        (0.0, float(len(steps))),
        drawing.nice_range(max(0.0, middle - reach), min(1.0, middle + reach)),
    )
    alone = len(steps) == 1
    parts = [drawing.grid_y(plane, count_axis=False), _axes(plane, steps, axis, height)]
    for i, arm in enumerate(arms):
        places = [
            (step, value, plane.at(_across(steps.index(step), i, len(arms), alone), value))
            for step, value in values.get(arm, {}).items()
        ]
        line = " ".join(f"{x},{y}" for _, _, (x, y) in places)
        drawn = f'<polyline class="line {drawing.style_of(i)}" points="{line}"/>'
        parts.append(drawn if len(places) > 1 else "")
        for step, value, (x, y) in places:
            said = f"{arm}, {axis} {step}: {percent(value)}"
            point = drawing.mark(i, x, y, f"dot {drawing.style_of(i)}")
            if alone and len(arms) <= _LABELLED:
                point += drawing.label(x, y - 10, percent(value), "value")
            parts.append(f"<g><title>{escaped(said)}</title>{point}</g>")
    said = "; ".join(
        f"{arm}: " + ", ".join(f"{step} {percent(value)}" for step, value in row.items())
        for arm, row in values.items()
    )
    return _legend(arms, lines=not alone) + drawing.svg("".join(parts), f"{title}. {said}")


def is_crowded(steps: Steps, arms: Sequence[str]) -> bool:
    """Return whether a run has too many arms and steps to show noise before and after."""
    return len(steps) * len(arms) > _PAIRS


def noise_chart(steps: Steps, arms: Sequence[str], pairs: Pairs, axis: str) -> str:
    """Return noise before (hollow) and after (filled) selection, per arm and step.

    Args:
        steps, arms: as for :func:`line_chart`.
        pairs: noise before and after, fractions, where both are known; at least one pair.
        axis: name of the axis below.

    """
    highest = max(value for row in pairs.values() for pair in row.values() for value in pair)
    plane = Plane((0.0, float(len(steps))), (0.0, drawing.ceiling(max(1.05 * highest, 0.01))))
    parts = [drawing.grid_y(plane, count_axis=False), _axes(plane, steps, axis, "wrong labels")]
    for i, arm in enumerate(arms):
        style = drawing.style_of(i)
        for step, (before, after) in pairs.get(arm, {}).items():
            across = _across(steps.index(step), i, len(arms), True)
            (x, top), (_, bottom) = plane.at(across, before), plane.at(across, after)
            said = f"{arm}, {axis} {step}: {percent(before)} before, {percent(after)} after"
            drawn = drawing.mark(i, x, bottom, f"dot {style}")
            if before != after:
                link = f'<path class="link {style}" d="M{x} {top}V{bottom}"/>'
                drawn = link + drawing.mark(i, x, top, f"dot hollow {style}") + drawn
            parts.append(f"<g><title>{escaped(said)}</title>{drawn}</g>")
    said = "; ".join(
        f"{arm}: "
        + ", ".join(f"{step} {percent(b)} to {percent(a)}" for step, (b, a) in row.items())
        for arm, row in pairs.items()
    )
    title = f"Wrong pseudo-labels before and after selection, per arm and {axis}"
    return _legend(arms, lines=False) + drawing.svg("".join(parts), f"{title}. {said}")


def _across(step: int, arm: int, n_arms: int, spread: bool) -> float:
    """Return the place of a point on the axis: the middle of its step, or its arm's own slot."""
    return step + (0.15 + 0.7 * (arm + 0.5) / n_arms if spread else 0.5)


def _axes(plane: Plane, steps: Steps, axis: str, height: str) -> str:
    """Return the names of both axes and of the steps; a single step needs none."""
    if len(steps) == 1:
        return drawing.axis_names("", height)
    every = -(-len(steps) // _NAMES)
    return drawing.axis_names(axis, height) + "".join(
        drawing.label(plane.at(i + 0.5, plane.y[0])[0], drawing.TICKS_Y, step, "tick")
        for i, step in enumerate(steps)
        if i % every == 0
    )


def _legend(arms: Sequence[str], *, lines: bool) -> str:
    kind = "line" if lines else "mark"
    return drawing.legend([(f"{kind}{i} {drawing.style_of(i)}", arm) for i, arm in enumerate(arms)])
