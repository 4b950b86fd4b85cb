"""Figures of a selection for papers and notebooks, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lops_adapters.core import LopsError
from lops_adapters.report.data import SelectionPage
from lops_adapters.report.text import count, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEPT, REJECTED = "#1b62b5", "#b4500f"


def plot_selection(page: SelectionPage) -> Figure:
    """Return a figure: rows by the time they were learnt, and the share of rows (and noise) against
    the confidence threshold.

    It is not registered with pyplot, so it needs no closing; ``figure.savefig("selection.pdf")``
    writes it.

    Args:
        page: what the page of the selection shows; without learning times the figure has the second
            part alone.

    Raises:
        LopsError: matplotlib is not installed.

    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LopsError(
            'plots need matplotlib, which is not installed; pip install "lops_adapters[report]"'
        ) from None
    parts = 2 if page.learnt else 1
    figure = Figure(figsize=(5 * parts, 3.4), layout="constrained")
    axes = figure.subplots(1, parts, squeeze=False)[0]
    figure.suptitle(
        f"Kept {count(page.n_kept)} of {count(page.n_rows)} rows ({share(page.n_kept, page.n_rows)})"
    )
    if page.learnt:
        _histogram(axes[0], page)
    _thresholds(axes[-1], page)
    return figure


def _histogram(axes: Any, page: SelectionPage) -> None:
    places = range(len(page.learnt))
    kept, rejected = [row[1] for row in page.learnt], [row[2] for row in page.learnt]
    axes.bar(places, kept, color=KEPT, label="kept")
    axes.bar(
        places,
        rejected,
        bottom=kept,
        color="white",
        edgecolor=REJECTED,
        hatch="///",
        label="rejected",
    )
    every = max(1, len(page.learnt) // 6)
    named = [
        i
        for i in places
        if i == len(page.learnt) - 1 or (i % every == 0 and len(page.learnt) - 1 - i >= every)
    ]
    axes.set_xticks(
        named, ["never" if page.learnt[i][0] is None else f"{page.learnt[i][0]:.3g}" for i in named]
    )
    axes.set(xlabel="learnt after so many epochs", ylabel="rows")
    axes.legend(frameon=False)


def _thresholds(axes: Any, page: SelectionPage) -> None:
    values = [value for value, _, _, _ in page.thresholds]
    axes.step(
        values,
        [rows / page.n_rows for _, rows, _, _ in page.thresholds],
        where="post",
        color=KEPT,
        label="rows at or above it",
    )
    if page.n_judged:
        noise = [(wrong or 0) / max(judged, 1) for _, _, judged, wrong in page.thresholds]
        axes.step(
            values, noise, where="post", color=REJECTED, linestyle="--", label="wrong among these"
        )
    axes.axhline(page.n_kept / page.n_rows, color="0.4", linestyle=":", label="kept")
    axes.set(xlabel="confidence threshold", ylabel="share", ylim=(0, 1.02))
    axes.legend(frameon=False)
