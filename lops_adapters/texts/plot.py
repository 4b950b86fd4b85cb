"""A selection as three charts: kept and wrong rows per class, confidence, suggested labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras

if TYPE_CHECKING:
    from lops_adapters.texts.result import TextSelection

_CLASSES, _BINS = 15, 20


def charts(selection: TextSelection) -> np.ndarray:
    """Draw a selection and return the (3,) object array of its axes; needs matplotlib.

    The classes with most rows are shown, at most 15.
    """
    extras.load("matplotlib", "A plot")
    from matplotlib import pyplot

    by_size = sorted(selection.per_class.items(), key=lambda item: (-item[1].count, str(item[0])))
    classes = [label for label, _ in by_size[:_CLASSES]]
    size = (14, 2 + 0.3 * len(classes))
    _, axes = pyplot.subplots(1, 3, figsize=size, layout="constrained")
    _rows(axes[0], selection, classes)
    _confidence(axes[1], selection)
    _suggested(axes[2], selection, classes)
    drawn: np.ndarray = axes
    return drawn


def _rows(axis: Any, selection: TextSelection, classes: list[Any]) -> None:
    reports = [selection.per_class[label] for label in classes]
    kept = [report.kept for report in reports]
    places = np.arange(len(classes))
    axis.barh(places, kept, label="kept")
    rejected = [report.count - report.kept for report in reports]
    axis.barh(places, rejected, left=kept, label="rejected", color="lightgray")
    wrong = selection.wrong
    how, counts = "estimate", [(wrong.expected or {}).get(label, np.nan) for label in classes]
    if wrong.rate is not None:
        how = "checked"
        pairs = zip(classes, reports, strict=True)
        counts = [wrong.rates[c].value * r.count if c in wrong.rates else np.nan for c, r in pairs]
    if np.isfinite(counts).any():
        axis.plot(counts, places, "|", markersize=14, color="black", label=f"wrong ({how})")
    axis.set(yticks=places, yticklabels=list(map(str, classes)), xlabel="rows")
    axis.invert_yaxis()
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)


def _confidence(axis: Any, selection: TextSelection) -> None:
    parts = [selection.confidence[rows] for rows in (selection.kept, selection.rejected)]
    axis.hist(
        parts, bins=_BINS, stacked=True, label=["kept", "rejected"], color=["C0", "lightgray"]
    )
    axis.set(xlabel="confidence", ylabel="rows", yscale="symlog")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)


def _suggested(axis: Any, selection: TextSelection, classes: list[Any]) -> None:
    """Draw how many rejected rows of each label have which suggestion."""
    index_of = {label: i for i, label in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for i in selection.rejected.tolist():
        label, suggested = selection.labels[i], selection.suggested[i]
        if label in index_of and suggested in index_of and label != suggested:
            counts[index_of[label], index_of[suggested]] += 1
    axis.imshow(counts, cmap="Oranges", aspect="auto")
    for row, column in zip(*np.nonzero(counts), strict=True):
        axis.text(column, row, counts[row, column], ha="center", va="center")
    names = list(map(str, classes))
    axis.set(xticks=range(len(names)), yticks=range(len(names)), yticklabels=names)
    axis.set_xticklabels(names, rotation=45, ha="right")
    axis.set(xlabel="suggested", ylabel="label", title="rejected rows")
