"""Figures as SVG: deterministic for one matplotlib version, with the numbers stored inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks.figures.model import Figure, Panel, Series
from lops_adapters.extras import load
from lops_adapters.storage import replacing

# Colour-blind safe colours (Okabe and Ito); markers and dashes repeat the distinction.
_CLASSIFIERS = {
    "first": ("#0072B2", "o"),
    "second": ("#D55E00", "s"),
    "third": ("#009E73", "^"),
    "fourth": ("#CC79A7", "D"),
}
LOOKS: dict[str, dict[str, Any]] = {
    "lops": {"color": "#0072B2", "marker": "o"},
    "probability": {"color": "#D55E00", "marker": "s"},
    "automatic": {"color": "#009E73", "marker": "^"},
    "random": {"color": "#767676", "linestyle": "-."},
    "ideal": {"color": "#000000", "linestyle": ":"},
    "standard": {"color": "#767676", "linestyle": "--"},
    "correct": {"color": "#0072B2"},
    "wrong": {"color": "#D55E00", "hatch": "///"},
    **{name: {"color": color, "marker": marker} for name, (color, marker) in _CLASSIFIERS.items()},
    **{
        f"{name}-plain": {"color": color, "linestyle": "--"}
        for name, (color, _) in _CLASSIFIERS.items()
    },
}
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "lops_adapters",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
}
_SIZE = (3.4, 2.6)  # inches per panel
_COLUMNS = 2  # more panels beside each other are too small to read
_LETTERS = 44  # that fit into the legend below one panel
_MANY = 15  # a line with more points has a band instead of bars, and fewer markers


def draw(figure: Figure, path: Path) -> None:
    """Write a figure.

    Raises:
        LopsError: matplotlib is not installed.

    """
    mpl = load("matplotlib", "A figure")
    canvas_of = load("matplotlib.figure", "A figure").Figure
    columns = min(_COLUMNS, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        canvas = canvas_of(
            figsize=(_SIZE[0] * columns, _SIZE[1] * rows + 0.4), layout="constrained"
        )
        grid = canvas.subplots(rows, columns, squeeze=False).ravel()
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid, figure.panels, strict=False):
            (_bars if panel.ticks else _lines)(axes, panel)
            axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            axes.spines[["top", "right"]].set_visible(False)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        for axes in grid[len(figure.panels) :]:
            axes.set_visible(False)
        across = max(1, _LETTERS * columns // (max(map(len, handles)) + 5))
        canvas.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center",
            ncols=across,
            frameon=False,
        )
        about = {
            "Date": None,
            "Creator": None,
            "Title": figure.title,
            "Description": json.dumps(figure.data()),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            canvas.savefig(temporary, format="svg", metadata=about)


def drawn(path: Path) -> dict[str, Any] | None:
    """Return the numbers that a drawing was made from; None if there is no such drawing."""
    try:
        description = ElementTree.parse(path).find(
            ".//{http://purl.org/dc/elements/1.1/}description"
        )
        found = json.loads("" if description is None else description.text or "")
    except (OSError, ElementTree.ParseError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _lines(axes: Any, panel: Panel) -> None:
    for line in panel.series:
        look = LOOKS[line.look]
        if len(line.x) > _MANY:
            band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
            axes.fill_between(line.x, line.low, line.high, **band)
            size = {"markersize": 3.5, "markevery": 0.1, "linewidth": 1.4}
            axes.plot(line.x, line.y, label=line.label, **size, **look)
        else:
            size = {"markersize": 4, "linewidth": 1.4, "capsize": 2}
            axes.errorbar(line.x, line.y, _spans(line), label=line.label, **size, **look)
    places = [at for line in panel.series for at in line.x]
    if all(at == int(at) for at in places) and max(places) < _MANY:  # whole iterations only
        axes.set_xticks(sorted(set(places)))
    if panel.logarithmic:
        axes.set_yscale("log")
    axes.grid(alpha=0.3, linewidth=0.5)


def _bars(axes: Any, panel: Panel) -> None:
    width = 0.8 / len(panel.series)
    for number, line in enumerate(panel.series):
        places = [at + (number - (len(panel.series) - 1) / 2) * width for at in line.x]
        look = {
            **LOOKS[line.look],
            "edgecolor": "white",
            "linewidth": 0.4,
            "ecolor": "black",
            "error_kw": {"linewidth": 0.8},
        }
        axes.bar(places, line.y, width, yerr=_spans(line), label=line.label, **look)
    axes.set_xticks(range(len(panel.ticks or [])), panel.ticks)
    axes.grid(axis="y", alpha=0.3, linewidth=0.5)
    axes.set_axisbelow(True)


def _spans(line: Series) -> list[list[float]]:
    """Return the distances from the mean to the smallest and largest, never negative."""
    down = [max(0.0, mean - low) for mean, low in zip(line.y, line.low, strict=True)]
    return [down, [max(0.0, high - mean) for mean, high in zip(line.y, line.high, strict=True)]]
