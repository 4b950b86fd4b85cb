"""Figures 1, 3, 7 and 8: what learning order and probability say about pseudo-labels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from statistics import mean
from typing import Any

from benchmarks.figures.curves import (
    LOOKS,
    Words,
    figure_of,
    files_of,
    in_percent,
    name_of,
    panels_of,
    percent,
)
from benchmarks.figures.model import Figure, Panel, measured, series
from benchmarks.nc_curves import BINS, noise_at
from benchmarks.pages.common import Files
from lops_adapters.evaluation import ideal_curve

# The data set of figure 1: the paper's if the protocol has it.
_FIRST = {"cpu": "20news-coarse", "paper": "nyt-coarse"}
_GRID = [number / 50 for number in range(1, 51)]
_SIDES = ("correct", "wrong")

_DISTRIBUTIONS = Words(
    "correct and wrong pseudo-labels by probability and by the epoch they are learnt in",
    "Correct and wrong labels each sum to 100 %. Left: probability of the pseudo-label after "
    "training. Right: first epoch after which it is predicted. Lines at the bars span the seeds.",
    "60 % of the wrong labels have a probability above 0.9, and most correct ones are learnt in "
    "the first epoch (BERT, NYT-Coarse).",
)
_COVERAGE = Words(
    "noise against coverage",
    "Noise of the best share of the pseudo-labels by each confidence, in iteration 0, without "
    "bootstrapping. Samples learnt in the same epoch are ranked by the probability after it. Bands "
    "span the seeds; dotted: best possible ranking.",
    "the area under learning order's curve is significantly smaller than under probability's, "
    "which is worse than random on 20News-Fine (BERT).",
)
_RATIO = Words(
    "the ratio of noise to coverage against the threshold",
    "Samples with at least this confidence are kept. Confidence: 1 - t/T for samples learnt in "
    "epoch t of T (-1/T: never), or the probability after training, at ten thresholds. Thresholds "
    "that keep nothing have no ratio. Bars span the seeds.",
    "the lowest ratio of learning order is significantly lower than that of probability, at "
    "nearly the same threshold on all data sets (BERT).",
)


def first_distribution(protocol: str, classifier: str) -> Figure | None:
    """Figure 1: one data set."""
    data = _FIRST[protocol]
    return _distributions(1, {data: files_of(protocol, classifier)[data]})


def other_distributions(protocol: str, classifier: str) -> Figure | None:
    """Figure 7: the other data sets, one row each."""
    groups = files_of(protocol, classifier)
    return _distributions(7, {data: groups[data] for data in groups if data != _FIRST[protocol]})


def _distributions(number: int, groups: Mapping[str, Files]) -> Figure | None:
    whole = {}
    for data, files in groups.items():
        pair = [_bars(data, files, kind) for kind in ("probability", "learnt_at")] if files else []
        if pair and None not in pair:
            whole[data] = [panel for panel in pair if panel]
    if not whole:
        return None
    said = []
    for data in whole:
        kinds = [item["result"]["distributions"] for item in groups[data]]
        sure = 100 * mean(kind["probability"]["wrong"][-1] for kind in kinds)
        first = [100 * mean(kind["learnt_at"][side][0] for kind in kinds) for side in _SIDES]
        said.append(
            f"{data}: {sure:.1f} % of the wrong labels have a probability of 0.9 or more; "
            f"{first[0]:.1f} % of the correct and {first[1]:.1f} % of the wrong are learnt in "
            "epoch 1"
        )
    return Figure(
        number,
        *_DISTRIBUTIONS,
        "; ".join(said) + ".",
        [panel for pair in whole.values() for panel in pair],
        [groups[data] for data in whole],
        [data for data in groups if data not in whole],
    )


def _bars(data: str, files: Files, kind: str) -> Panel | None:
    found = [item["result"]["distributions"][kind] for item in files]
    sizes = {len(shares) if shares else 0 for item in found for shares in item.values()}
    # Nothing to draw if nothing is correct or wrong, or if trainings differ in length.
    if len(sizes) > 1 or 0 in sizes:
        return None
    size = sizes.pop()
    epochs = [*(str(epoch) for epoch in range(1, size)), "never"]
    ticks = [f"{number / BINS:.1f}" for number in range(BINS)] if kind == "probability" else epochs
    bars = [
        series(side, side, range(size), [percent(item[side]) for item in found]) for side in _SIDES
    ]
    x_label = "probability from ... on" if kind == "probability" else "learnt in epoch"
    return Panel(data, x_label, "share of the pseudo-labels, %", measured(*bars), ticks)


def noise_coverage(protocol: str, classifier: str) -> Figure | None:
    """Figure 3: noise against coverage."""
    groups = files_of(protocol, classifier)
    panels = panels_of(groups, _noise_panel)
    said = []
    for data in panels:
        areas = ", ".join(f"{name} {_area(groups[data], name)}" for name in LOOKS)
        said.append(f"{data}: {areas}")
    return figure_of(3, _COVERAGE, f"areas are, on {'; on '.join(said)}.", panels, groups)


def _area(files: Files, name: str) -> str:
    found = [item["result"]["confidences"].get(name, {}).get("aunc") for item in files]
    return "-" if None in found else f"{mean(found):.4f}"


def _noise_panel(files: Files) -> Panel | None:
    lines = []
    for name, look in LOOKS.items():
        curves = [item["result"]["confidences"].get(name) for item in files]
        if None not in curves:
            runs = [percent([noise_at(curve, at) for at in _GRID]) for curve in curves]
            lines.append(series(name, look, _GRID, runs))
    right = mean(1 - item["result"]["pseudo_labels"]["noise"] for item in files)
    best = percent(ideal_curve(_GRID, right).tolist())
    lines.append(series("best possible", "ideal", _GRID, [best]))
    return Panel(name_of(files), "coverage, %", "noise, %", in_percent(measured(*lines)))


def noise_ratio(protocol: str, classifier: str) -> Figure | None:
    """Figure 8: noise divided by coverage against the threshold on the confidence."""
    groups = files_of(protocol, classifier)
    panels = panels_of(groups, _ratio_panel)
    said = []
    for data, panel in panels.items():
        best = [(min(zip(line.y, line.x, strict=True)), line.label) for line in panel.series]
        lowest = ", ".join(f"{name} {ratio:.3f} at {at:.2g}" for (ratio, at), name in best)
        said.append(f"{data}: {lowest}")
    here = f"the lowest ratios are, on {'; on '.join(said)}."
    return figure_of(8, _RATIO, here, panels, groups)


def _ratio_panel(files: Files) -> Panel | None:
    epochs = {item["result"]["epochs"] for item in files}
    kinds = [kind for item in files for kind in item["result"]["distributions"].values()]
    if len(epochs) > 1 or not all(shares for kind in kinds for shares in kind.values()):
        return None
    total = epochs.pop()
    learnt = [1 - epoch / total for epoch in range(1, total + 2)]
    thresholds = [number / BINS for number in range(BINS - 1, -1, -1)]
    by_order = [_ratios(item, "learnt_at", 1) for item in files]
    by_probability = [_ratios(item, "probability", -1) for item in files]
    lines = measured(
        series("learning-order", "lops", learnt, by_order),
        series("probability", "probability", thresholds, by_probability),
    )
    x_label = "threshold on the confidence"
    return Panel(name_of(files), x_label, "noise / coverage", lines, logarithmic=True)


def _ratios(item: dict[str, Any], kind: str, step: int) -> list[float | None]:
    """Return noise divided by coverage as the threshold falls; None if nothing is kept."""
    noise = item["result"]["pseudo_labels"]["noise"]
    shares = item["result"]["distributions"][kind]
    correct, wrong = (list(accumulate(shares[side][::step])) for side in _SIDES)
    ratios: list[float | None] = []
    for right, false in zip(correct, wrong, strict=True):
        kept = (1 - noise) * right + noise * false
        ratios.append(noise * false / kept**2 if kept > 0 else None)
    return ratios
