"""Checking rows inside a notebook, with ipywidgets."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from lops_adapters import extras

if TYPE_CHECKING:
    from lops_adapters.texts.result import TextSelection

_LATER = "not checked"  # a string that is no index of an option


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
