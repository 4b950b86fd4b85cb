"""Exports of annotation tools: which columns hold what, and which path in a record which type."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lops_adapters.console import typed
from lops_adapters.core import LopsError

_MIN = ("id", "annotator", "annotation_id")  # of Label Studio's JSON_MIN and CSV
_BESIDE = {*_MIN, "created_at", "updated_at", "lead_time", "agreement"}
ANY = object
SCALAR = (str, int, float)  # a bool is an int
EVERY = "*"  # key: of all values of an object
_WORDS = {dict: "an object", list: "an array", str: "a text", int: "a number", float: "a number"}


class Layout(NamedTuple):
    """Columns of an export.

    Attributes:
        text, label: names of columns.
        source: column of annotators; None: none.
        tool: that wrote the file; None: the names of the columns tell enough.
    """

    text: str
    label: str
    source: str | None = None
    tool: str | None = None

    def __str__(self) -> str:
        names = {"text": self.text, "label": self.label, "source": self.source}
        return " ".join(typed(option, name) for option, name in names.items() if name)


def of_parts(
    texts: Sequence[str], labels: Sequence[str], source: str | None, tool: str | None
) -> Layout | None:
    """Return the layout of columns of texts and of labels; None if several fit."""
    text = "text" if "text" in texts else texts[0] if len(texts) == 1 else None
    label = "label" if "label" in labels else labels[0] if len(labels) == 1 else None
    return Layout(text, label, source, tool) if text and label else None


def by_columns(columns: Sequence[str]) -> Layout | None:
    """Return the layout that the names of columns tell; None: none.

    >>> str(by_columns(["text", "_task_hash", "accept", "answer", "_annotator_id"]))
    "text='text' label='accept' source='_annotator_id'"
    >>> str(by_columns(["title", "id", "topic", "annotator", "annotation_id", "lead_time"]))
    "text='title' label='topic' source='annotator'"
    >>> str(by_columns(["id", "text", "label"])), by_columns(["a", "b"])
    ("text='text' label='label'", None)
    """
    if {"_task_hash", "answer"} <= set(columns):
        who = next((name for name in ("_annotator_id", "_session_id") if name in columns), None)
        labels = [name for name in ("accept", "label") if name in columns]
        return of_parts(["text"], labels[:1], who, "Prodigy") if "text" in columns else None
    if set(_MIN) <= set(columns):
        rest, index = [name for name in columns if name not in _BESIDE], columns.index("id")
        texts = [name for name in rest if name == "text"]  # in CSV, columns are sorted by name
        if index < columns.index("annotation_id"):  # in JSON_MIN, keys of the task stand before id
            texts = list(columns[:index])
        labels = [name for name in rest if name not in texts]
        return of_parts(texts, labels, "annotator", "Label Studio")
    return Layout("text", "label") if {"text", "label"} <= set(columns) else None


def fault(value: Any, shape: Any, path: str = "") -> str | None:
    """Return which value inside another one has a wrong type, and the wanted one; None: none has.

    Args:
        value: of JSON.
        shape: a dict: an object, with shapes of some keys; a list: an array of one shape; a tuple:
            one of several shapes; or a type. A missing value, or null, always fits.
        path: of the value.

    >>> shape = {"a": [{"b": SCALAR}], "c": {EVERY: (str, {"id": int})}}
    >>> fault({"a": [{"b": 1}, {}], "c": {"x": {"id": 3}}, "d": 1}, shape)
    >>> fault({"a": [{"b": [2]}]}, shape)
    'a.0.b is [2]; wanted a text or a number'
    """
    if value is None:
        return None
    kinds = shape if isinstance(shape, tuple) else (shape,)
    for kind in kinds:
        if isinstance(kind, dict) and isinstance(value, dict):
            inside = {key: kind.get(key, kind.get(EVERY, ANY)) for key in value}
            items = [(key, value[key], inside[key]) for key in value]
        elif isinstance(kind, list) and isinstance(value, list):
            items = [(index, one, kind[0]) for index, one in enumerate(value)]
        elif isinstance(kind, type) and isinstance(value, kind):
            return None
        else:
            continue
        faults = (fault(one, part, f"{path}.{key}".strip(".")) for key, one, part in items)
        return next(filter(None, faults), None)
    words = dict.fromkeys(_WORDS[kind if isinstance(kind, type) else type(kind)] for kind in kinds)
    return f"{path or 'it'} is {value!r:.60}; wanted {' or '.join(words)}"


def check_shape(value: Any, shape: Any, place: str) -> None:
    """Raise a LopsError about a value of another shape, with its place."""
    found = fault(value, shape)
    if found is not None:
        raise LopsError(f"{place}: {found}; export it again, or mend it there")
