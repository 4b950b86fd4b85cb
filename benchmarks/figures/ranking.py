"""Figures 1, 3, 4, 7, 8 and 9: what learning order and probability say about pseudo-labels, from
the cells of ``benchmarks.curves``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from statistics import mean
from typing import Any

from benchmarks.figures.model import Figure, Files, Panel, Series, measured, series
from benchmarks.nc_curves import BINS, noise_at
from benchmarks.pages.common import results
from benchmarks.pages.self_training import DATASETS
from lops_adapters.evaluation import ideal_curve

_FIRST = {
    "cpu": "20news-coarse",
    "paper": "nyt-coarse",
}  # the data set of figure 1; the paper's where a protocol has it
_GRID = [number / 50 for number in range(1, 51)]
_CURVES = {
    "learning-order": "lops",
    "probability": "probability",
    "automatic": "automatic",
    "random": "random",
}
_SIDES = {"correct": "correct", "wrong": "wrong"}
Make = Callable[[Files], Panel | None]


def files_of(protocol: str, classifier: str) -> dict[str, list[dict[str, Any]]]:
    """Data set -> its curves, one a seed; an empty list is a hole."""
    found = {
        data: results(f"{protocol}/curves-{classifier}-{data}-seed*.json")
        for data in DATASETS[protocol]
    }
    return {
        data: [item for item in files if item["about"]["settings"]["classifier"] == classifier]
        for data, files in found.items()
    }


def _panels(groups: Mapping[str, Files], make: Make) -> tuple[dict[str, Panel], list[str]]:
    """Panels by data set, and the data sets that have none."""
    made = {data: make(files) if files else None for data, files in groups.items()}
    return {data: panel for data, panel in made.items() if panel}, [
        data for data, panel in made.items() if not panel
    ]


def first_distribution(protocol: str, classifier: str) -> Figure | None:
    """Figure 1: one data set."""
    data = _FIRST[protocol]
    return _distributions(1, {data: files_of(protocol, classifier)[data]})


def other_distributions(protocol: str, classifier: str) -> Figure | None:
    """Figure 7: the other data sets, a row each."""
    return _distributions(
        7,
        {
            data: files
            for data, files in files_of(protocol, classifier).items()
            if data != _FIRST[protocol]
        },
    )


def _distributions(number: int, groups: Mapping[str, Files]) -> Figure | None:
    pairs = {
        data: [_bars(data, files, kind) for kind in ("probability", "learnt_at")]
        for data, files in groups.items()
        if files
    }
    whole = {
        data: [panel for panel in pair if panel] for data, pair in pairs.items() if None not in pair
    }
    if not whole:
        return None
    said = []
    for data in whole:
        kinds = [item["result"]["distributions"] for item in groups[data]]
        sure = 100 * mean(kind["probability"]["wrong"][-1] for kind in kinds)
        first = [100 * mean(kind["learnt_at"][side][0] for kind in kinds) for side in _SIDES]
        said.append(
            f"{data}: {sure:.1f} % of the wrong have a probability of 0.9 or more; "
            f"{first[0]:.1f} % of the correct and {first[1]:.1f} % of the wrong are learnt in epoch 1"
        )
    return Figure(
        number,
        "correct and wrong pseudo-labels by probability and by the epoch they are learnt in",
        "The correct and the wrong each sum to 100 %. Left: the probability of the pseudo-label after the training. Right: the first epoch "
        "after which it is predicted. Lines at the bars span the seeds.",
        "60 % of the wrong have a probability above 0.9, and most of the correct are learnt in the first epoch (BERT, NYT-Coarse).",
        "; ".join(said) + ".",
        [panel for pair in whole.values() for panel in pair],
        [groups[data] for data in whole],
        [data for data in groups if data not in whole],
    )


def _bars(data: str, files: Files, kind: str) -> Panel | None:
    found = [item["result"]["distributions"][kind] for item in files]
    sizes = {len(shares) if shares else 0 for item in found for shares in item.values()}
    if (
        len(sizes) > 1 or 0 in sizes
    ):  # nothing correct, nothing wrong, or trainings of different lengths
        return None
    size = sizes.pop()
    epochs = [*(str(epoch) for epoch in range(1, size)), "never"]
    ticks = [f"{number / BINS:.1f}" for number in range(BINS)] if kind == "probability" else epochs
    bars = [
        series(label, side, range(size), [_percent(item[side]) for item in found])
        for side, label in _SIDES.items()
    ]
    x_label = "probability from ... on" if kind == "probability" else "learnt in epoch"
    return Panel(data, x_label, "share of the pseudo-labels, %", measured(*bars), ticks)


def noise_coverage(protocol: str, classifier: str) -> Figure | None:
    """Figure 3: noise against coverage."""
    groups = files_of(protocol, classifier)
    panels, missing = _panels(groups, _noise_panel)
    said = [
        f"{data}: " + ", ".join(f"{name} {_area(groups[data], name)}" for name in _CURVES)
        for data in panels
    ]
    return _figure(
        3,
        "noise against coverage",
        "The best so large a share of the pseudo-labels by each confidence, iteration 0, without bootstrapping; learning order settles "
        "equal epochs by the probability then. Bands span the seeds; the best possible ranking is dotted.",
        "the area under the curve of learning order is significantly smaller than that of probability, which on 20News-Fine is worse than "
        "random (BERT).",
        "areas are, on " + "; on ".join(said) + ".",
        panels,
        groups,
        missing,
    )


def _area(files: Files, name: str) -> str:
    found = [item["result"]["confidences"].get(name, {}).get("aunc") for item in files]
    return "-" if None in found else f"{mean(found):.4f}"


def _noise_panel(files: Files) -> Panel | None:
    lines = []
    for name, look in _CURVES.items():
        curves = [item["result"]["confidences"].get(name) for item in files]
        if None not in curves:
            lines.append(
                series(
                    name,
                    look,
                    _GRID,
                    [_percent([noise_at(curve, at) for at in _GRID]) for curve in curves],
                )
            )
    right = mean(1 - item["result"]["pseudo_labels"]["noise"] for item in files)
    best = _percent(ideal_curve(_GRID, right).tolist())
    lines.append(series("best possible", "ideal", _GRID, [best]))
    return Panel(_name(files), "coverage, %", "noise, %", _in_percent(measured(*lines)))


def noise_ratio(protocol: str, classifier: str) -> Figure | None:
    """Figure 8: noise over coverage against the threshold on the confidence."""
    groups = files_of(protocol, classifier)
    panels, missing = _panels(groups, _ratio_panel)
    said = []
    for data, panel in panels.items():
        best = [(min(zip(line.y, line.x, strict=True)), line.label) for line in panel.series]
        said.append(
            f"{data}: " + ", ".join(f"{name} {ratio:.3f} at {at:.2g}" for (ratio, at), name in best)
        )
    return _figure(
        8,
        "the ratio of noise to coverage against the threshold",
        "What has at least so large a confidence is kept: 1 - t/T for what is learnt in epoch t of T (-1/T: never), or the probability "
        "after the training, at ten thresholds. A ratio is there where something is kept. Bars span the seeds.",
        "the lowest ratio of learning order is significantly lower than that of probability, at nearly the same threshold on all data sets "
        "(BERT).",
        "the lowest ratios are, on " + "; on ".join(said) + ".",
        panels,
        groups,
        missing,
    )


def _ratio_panel(files: Files) -> Panel | None:
    epochs = {item["result"]["epochs"] for item in files}
    whole = all(
        shares
        for item in files
        for kind in item["result"]["distributions"].values()
        for shares in kind.values()
    )
    if len(epochs) > 1 or not whole:
        return None
    total = epochs.pop()
    learnt = [1 - epoch / total for epoch in range(1, total + 2)]
    probability = [number / BINS for number in range(BINS - 1, -1, -1)]
    lines = (
        series("learning-order", "lops", learnt, [_ratios(item, "learnt_at", 1) for item in files]),
        series(
            "probability",
            "probability",
            probability,
            [_ratios(item, "probability", -1) for item in files],
        ),
    )
    return Panel(
        _name(files),
        "threshold on the confidence",
        "noise / coverage",
        measured(*lines),
        logarithmic=True,
    )


def _ratios(item: dict[str, Any], kind: str, step: int) -> list[float | None]:
    """Noise over coverage while the threshold falls; None where nothing is kept."""
    noise = item["result"]["pseudo_labels"]["noise"]
    shares = item["result"]["distributions"][kind]
    correct, wrong = (list(accumulate(shares[side][::step])) for side in _SIDES)
    kept = [
        (1 - noise) * right + noise * false for right, false in zip(correct, wrong, strict=True)
    ]
    return [
        noise * false / part**2 if part > 0 else None
        for false, part in zip(wrong, kept, strict=True)
    ]


def f1_coverage(protocol: str, classifier: str) -> Figure | None:
    """Figure 4: macro-F1 of a classifier trained on the best share."""
    groups = files_of(protocol, classifier)
    panels, missing = _panels(groups, _coverage_panel)
    return _figure(
        4,
        "macro-F1 against coverage",
        "A classifier trained on the best so large a share of the pseudo-labels: of each class by learning order, of all by probability. "
        "Classes that are lost on the way count. Bars span the seeds; dashed: trained on all.",
        "learning order is significantly better and more stable than probability (BERT).",
        _ahead(panels) + ".",
        panels,
        groups,
        missing,
    )


def f1_threshold(protocol: str, classifier: str) -> Figure | None:
    """Figure 9: macro-F1 of a classifier trained on what is above a threshold."""
    groups = files_of(protocol, classifier)
    panels, missing = _panels(groups, _threshold_panel)
    lacking = [
        f"learning order on {data}"
        for data, panel in panels.items()
        if "learning-order" not in {line.label for line in panel.series}
    ]
    best = []
    for data, panel in panels.items():
        found = [
            (max(zip(line.y, line.x, strict=True)), line.label)
            for line in panel.series
            if line.look != "standard"
        ]
        best.append(
            f"{data}: "
            + ", ".join(f"{name} {score:.1f} at {at:.2g}" for (score, at), name in found)
        )
    return _figure(
        9,
        "macro-F1 against the threshold",
        "A classifier trained on what has at least so large a confidence: 1 - t/T for what is learnt in epoch t of T, or the probability "
        "after the training. Bars span the seeds; dashed: trained on all.",
        "learning order performs better than probability across several thresholds (BERT).",
        "the best are, on " + "; on ".join(best) + ".",
        panels,
        groups,
        [*missing, *lacking],
    )


def _coverage_panel(files: Files) -> Panel | None:
    lines = [_f1_line(files, name, name) for name in ("learning-order", "probability")]
    return _f1_panel(files, "coverage, %", _in_percent(measured(*lines)))


def _threshold_panel(files: Files) -> Panel | None:
    lines = [
        _f1_line(files, "learning order above", "learning-order"),
        _f1_line(files, "probability above", "probability"),
    ]
    return _f1_panel(files, "threshold on the confidence", measured(*lines))


def _f1_line(files: Files, by: str, label: str) -> Series | None:
    rows = [
        {row["at"]: 100 * row["macro_f1"] for row in item["result"]["f1"] if row["by"] == by}
        for item in files
    ]
    places = sorted(set().union(*rows))
    return series(label, _CURVES[label], places, [[row.get(at) for at in places] for row in rows])


def _f1_panel(files: Files, x_label: str, lines: list[Series]) -> Panel | None:
    if not lines:
        return None
    ends = [min(line.x[0] for line in lines), max(line.x[-1] for line in lines)]
    all_of = [
        [100 * row["macro_f1"] for row in item["result"]["f1"] if row["by"] == "all"] * 2
        for item in files
    ]
    dashed = series("trained on all", "standard", ends, all_of) if all(all_of) else None
    return Panel(_name(files), x_label, "macro-F1, %", [*lines, *measured(dashed)])


def _ahead(panels: dict[str, Panel]) -> str:
    """At how many coverages learning order is ahead, data set by data set."""
    said = []
    for data, panel in panels.items():
        lines = {line.label: dict(zip(line.x, line.y, strict=True)) for line in panel.series}
        first, second = (lines.get(name, {}) for name in ("learning-order", "probability"))
        both = sorted(set(first) & set(second))
        ahead = sum(first[at] > second[at] for at in both)
        said.append(f"learning order is ahead at {ahead} of {len(both)} coverages of {data}")
    return "; ".join(said)


def _figure(
    number: int,
    title: str,
    shows: str,
    published: str,
    here: str,
    panels: dict[str, Panel],
    groups: Mapping[str, Files],
    missing: list[str],
) -> Figure | None:
    drawn = list(panels.values())
    return (
        Figure(
            number, title, shows, published, here, drawn, [groups[data] for data in panels], missing
        )
        if drawn
        else None
    )


def _name(files: Files) -> str:
    return str(files[0]["about"]["dataset"]["name"])


def _percent(shares: Sequence[float | None]) -> list[float | None]:
    return [None if share is None else 100 * share for share in shares]


def _in_percent(lines: list[Series]) -> list[Series]:
    """Return the same lines over places in percent."""
    return [
        Series(
            line.label,
            line.look,
            [round(100 * at, 3) for at in line.x],
            line.y,
            line.low,
            line.high,
        )
        for line in lines
    ]
