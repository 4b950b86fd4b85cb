"""A selection in a notebook: counts and ten rows to check, a box to check rows in, charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.console import chance, percent
from lops_adapters.texts.class_table import cells, interval

if TYPE_CHECKING:
    from lops_adapters.texts.result import TextSelection

_ROWS, _CLASSES, _CHARS = 10, 50, 160
_LATER = "not checked"  # a string that is no index of an option
_CHARTED, _BINS = 15, 20  # classes with most rows, and bins of confidence
_TEXTS, _LEFT = ("class", "text", "label", "suggested", "why"), ' style="text-align: left"'


def html(selection: TextSelection) -> str:
    """Return a selection as HTML without scripts; texts are aligned to the left."""
    counts = f"{_kept(selection).capitalize()}."
    head, *rows = cells(selection.per_class, selection.wrong)
    n_hidden = len(rows) - 1 - _CLASSES
    if n_hidden > 0:
        rows = [*rows[:_CLASSES], [f"... {n_hidden:,} more classes"], rows[-1]]
    parts = [f"<p>{escape(counts)} {escape(_wrong(selection))}</p>", _table(head, rows)]
    if selection.checks_rows:
        positions, title = selection.to_check(_ROWS).tolist(), "Rows to check first:"
    else:
        order = np.argsort(selection.confidence[selection.rejected], kind="stable")
        positions, title = selection.rejected[order[:_ROWS]].tolist(), "Least trusted rows:"
    if positions:
        checks = [_row(selection, i) for i in positions]
        names = ("row", "text", "label", "suggested", "label is right")
        parts += [f"<p>{title}</p>", _table(names, checks)]
    return "<div>" + "".join(parts) + "</div>"


def line(selection: TextSelection) -> str:
    """Return a selection as one line: kept rows, wrong labels, the method."""
    parts = [_kept(selection), _wrong(selection).rstrip(".").lower()]
    method = selection.settings["method"]
    return f"TextSelection({'; '.join(filter(None, [*parts, f'method {method}']))})"


def _kept(selection: TextSelection) -> str:
    n = len(selection.kept) + len(selection.rejected)
    return f"kept {len(selection.kept):,} of {n:,} rows ({percent(len(selection.kept) / n)})"


def _wrong(selection: TextSelection) -> str:
    wrong = selection.wrong
    if wrong.rate is not None:
        return f"Wrong labels by {wrong.rate.checked:,} checked rows: {interval(wrong.rate)}."
    total = wrong.total(selection.per_class)
    if total is None:
        return ""
    return f"Wrong labels, estimated: {percent(total)}; more if errors are shared."


def _row(selection: TextSelection, i: int) -> list[str]:
    text, suggested = " ".join(selection.texts[i].split()), selection.shown_suggestion(i)
    short = text if len(text) <= _CHARS else f"{text[: _CHARS - 3]}..."
    right = chance(float(selection.confidence[i])) if selection.checks_rows else "-"
    return [str(i), short, str(selection.labels[i]), str(suggested), right]


def _table(head: Sequence[Any], rows: Iterable[Sequence[str]]) -> str:
    left = [name in _TEXTS for name in head]

    def row_of(tag: str, values: Iterable[Any]) -> str:
        cells = [
            f"<{tag}{_LEFT if text else ''}>{escape(str(value))}</{tag}>"
            for value, text in zip(values, left, strict=False)
        ]
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(row_of("td", row) for row in rows)
    return f"<table><thead>{row_of('th', head)}</thead><tbody>{body}</tbody></table>"


def box(selection: TextSelection, count: int) -> Any:
    """Return an ``ipywidgets.VBox``: text and label of the next rows to check, a choice for each.

    Its attribute ``checked``, row -> right label or None, follows the choices. Suggestions are not
    shown: they would decide the answers.
    """
    widgets = extras.load("ipywidgets", "Checking in a notebook")
    checked, classes, rows = dict(selection.checked), list(selection.per_class), []

    def choose(row: int, change: Any) -> None:
        if change["new"] == _LATER:
            checked.pop(row, None)
        else:
            checked[row] = None if change["new"] < 0 else classes[change["new"]]

    options = [(_LATER, _LATER), *((str(label), i) for i, label in enumerate(classes))]
    for row in selection.to_check(count).tolist():
        choice = widgets.Dropdown(options=[*options, ("none of the classes", -1)], value=_LATER)
        choice.observe(partial(choose, row), names="value")
        label, text = escape(str(selection.labels[row])), escape(selection.texts[row])
        rows.append(widgets.VBox([widgets.HTML(f"<b>{row}, {label}</b>: {text}"), choice]))
    whole = widgets.VBox(rows)
    whole.checked = checked
    return whole


def charts(selection: TextSelection) -> np.ndarray:
    """Draw a selection and return the (3,) object array of its axes; needs matplotlib.

    The classes with most rows are shown, at most 15.
    """
    extras.load("matplotlib", "A plot")
    from matplotlib import pyplot

    by_size = sorted(selection.per_class.items(), key=lambda item: (-item[1].count, str(item[0])))
    classes = [label for label, _ in by_size[:_CHARTED]]
    size = (14, 2 + 0.3 * len(classes))
    _, axes = pyplot.subplots(1, 3, figsize=size, layout="constrained")
    _bars(axes[0], selection, classes)
    _confidence(axes[1], selection)
    _suggested(axes[2], selection, classes)
    drawn: np.ndarray = axes
    return drawn


def _bars(axis: Any, selection: TextSelection, classes: list[Any]) -> None:
    reports = [selection.per_class[label] for label in classes]
    kept = [report.kept for report in reports]
    places = np.arange(len(classes))
    axis.barh(places, kept, label="kept")
    rejected = [report.count - report.kept for report in reports]
    axis.barh(places, rejected, left=kept, label="rejected", color="lightgray")
    wrong = selection.wrong
    how, shares = "estimate", wrong.shares or {}
    if wrong.rate is not None:
        how, shares = "checked", {label: rate.value for label, rate in wrong.rates.items()}
    pairs = zip(classes, reports, strict=True)
    counts = [shares.get(label, np.nan) * report.count for label, report in pairs]
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
    pairs = {(label, suggested): n for label, suggested, n in selection.corrections()}
    counts = np.array([[pairs.get((label, other), 0) for other in classes] for label in classes])
    axis.imshow(counts, cmap="Oranges", aspect="auto")
    for row, column in zip(*np.nonzero(counts), strict=True):
        axis.text(column, row, counts[row, column], ha="center", va="center")
    names = list(map(str, classes))
    axis.set(xticks=range(len(names)), yticks=range(len(names)), yticklabels=names)
    axis.set_xticklabels(names, rotation=45, ha="right")
    axis.set(xlabel="suggested", ylabel="label", title="rejected rows")
