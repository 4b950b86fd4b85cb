"""Figures of a selection for papers and notebooks, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lops_adapters import extras
from lops_adapters.report.contents import SelectionPage
from lops_adapters.report.text import count, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEPT, REJECTED = "#1b62b5", "#b4500f"


def plot_selection(page: SelectionPage) -> Figure:
    """Return a figure: rows by learning time, and shares against the confidence threshold.

    The figure is not registered with pyplot and needs no closing;
    ``figure.savefig("selection.pdf")`` writes it.

    Args:
        page: page of the selection; without learning times, the figure has the second part only.

    Raises:
        LopsError: matplotlib is not installed.

    """
    figures = extras.load("matplotlib.figure", "A plot")
    parts = 2 if page.learnt else 1
    figure: Figure = figures.Figure(figsize=(5 * parts, 3.4), layout="constrained")
    axes = figure.subplots(1, parts, squeeze=False)[0]
    kept = f"Kept {count(page.n_kept)} of {count(page.n_rows)} rows"
    figure.suptitle(f"{kept} ({share(page.n_kept, page.n_rows)})")
    if page.learnt:
        _histogram(axes[0], page)
    _thresholds(axes[-1], page)
    return figure


def _histogram(axes: Any, page: SelectionPage) -> None:
    places = range(len(page.learnt))
    times, kept, rejected = zip(*page.learnt, strict=True)
    hatched = {"color": "white", "edgecolor": REJECTED, "hatch": "///"}
    axes.bar(places, kept, color=KEPT, label="kept")
    axes.bar(places, rejected, bottom=kept, label="rejected", **hatched)
    every, last = max(1, len(times) // 6), len(times) - 1
    named = [i for i in places if i == last or (i % every == 0 and last - i >= every)]
    axes.set_xticks(named, ["never" if times[i] is None else f"{times[i]:.3g}" for i in named])
    axes.set(xlabel="epoch at which the rows were learnt", ylabel="rows")
    axes.legend(frameon=False)


def _thresholds(axes: Any, page: SelectionPage) -> None:
    values = [value for value, _, _, _ in page.thresholds]
    shares = [rows / page.n_rows for _, rows, _, _ in page.thresholds]
    axes.step(values, shares, where="post", color=KEPT, label="rows at or above the threshold")
    if page.n_judged:
        noise = [(wrong or 0) / max(judged, 1) for _, _, judged, wrong in page.thresholds]
        dashed = {"color": REJECTED, "linestyle": "--"}
        axes.step(values, noise, where="post", label="wrong labels among them", **dashed)
    axes.axhline(page.n_kept / page.n_rows, color="0.4", linestyle=":", label="kept")
    axes.set(xlabel="confidence threshold", ylabel="share", ylim=(0, 1.02))
    axes.legend(frameon=False)
