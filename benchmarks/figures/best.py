"""Figures 4 and 9: macro-F1 of classifiers trained on the best pseudo-labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.figures.curves import (
    LOOKS,
    Words,
    figure_of,
    files_of,
    in_percent,
    name_of,
    panels_of,
)
from benchmarks.figures.model import Figure, Panel, Series, measured, series
from benchmarks.pages.common import Files

_COVERAGE = Words(
    "macro-F1 against coverage",
    "A classifier trained on the best share of the pseudo-labels: of each class by learning order, "
    "of all classes together by probability. The mean is over all classes, with and without a "
    "kept sample. Bars span the seeds; dashed: trained on all.",
    "learning order is significantly better and more stable than probability (BERT).",
)
_THRESHOLD = Words(
    "macro-F1 against the threshold",
    "A classifier trained on the samples with at least this confidence: 1 - t/T for samples learnt "
    "in epoch t of T, or the probability after training. Bars span the seeds; dashed: trained on "
    "all.",
    "learning order performs better than probability across several thresholds (BERT).",
)


def f1_coverage(protocol: str, classifier: str) -> Figure | None:
    """Figure 4: macro-F1 of a classifier trained on the best share."""
    groups = files_of(protocol, classifier)
    panels = panels_of(groups, _coverage_panel)
    return figure_of(4, _COVERAGE, f"{_ahead(panels)}.", panels, groups)


def f1_threshold(protocol: str, classifier: str) -> Figure | None:
    """Figure 9: macro-F1 of a classifier trained on the samples above a threshold."""
    groups = files_of(protocol, classifier)
    panels = panels_of(groups, _threshold_panel)
    lacking, best = [], []
    for data, panel in panels.items():
        lines = [line for line in panel.series if line.look != "standard"]
        if "learning-order" not in {line.label for line in lines}:
            lacking.append(f"learning order on {data}")
        found = [(max(zip(line.y, line.x, strict=True)), line.label) for line in lines]
        highest = ", ".join(f"{name} {score:.1f} at {at:.2g}" for (score, at), name in found)
        best.append(f"{data}: {highest}")
    here = f"the best are, on {'; on '.join(best)}."
    return figure_of(9, _THRESHOLD, here, panels, groups, lacking)


def _coverage_panel(files: Files) -> Panel | None:
    lines = [_f1_line(files, name, name) for name in ("learning-order", "probability")]
    return _f1_panel(files, "coverage, %", in_percent(measured(*lines)))


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
    return series(label, LOOKS[label], places, [[row.get(at) for at in places] for row in rows])


def _f1_panel(files: Files, x_label: str, lines: Sequence[Series]) -> Panel | None:
    if not lines:
        return None
    ends = [min(line.x[0] for line in lines), max(line.x[-1] for line in lines)]
    all_of = [
        [100 * row["macro_f1"] for row in item["result"]["f1"] if row["by"] == "all"] * 2
        for item in files
    ]
    dashed = series("trained on all", "standard", ends, all_of) if all(all_of) else None
    return Panel(name_of(files), x_label, "macro-F1, %", [*lines, *measured(dashed)])


def _ahead(panels: Mapping[str, Panel]) -> str:
    """Say at how many coverages learning order is ahead, per data set."""
    said = []
    for data, panel in panels.items():
        lines = {line.label: dict(zip(line.x, line.y, strict=True)) for line in panel.series}
        first, second = (lines.get(name, {}) for name in ("learning-order", "probability"))
        both = sorted(set(first) & set(second))
        ahead = sum(first[at] > second[at] for at in both)
        said.append(f"learning order is ahead at {ahead} of {len(both)} coverages of {data}")
    return "; ".join(said)
