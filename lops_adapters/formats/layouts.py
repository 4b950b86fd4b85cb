"""Layouts of annotation tools: which columns of an export hold texts, labels and annotators."""

from collections.abc import Sequence
from typing import NamedTuple

from lops_adapters.console import typed

_MIN = ("id", "annotator", "annotation_id")  # of Label Studio's JSON_MIN and CSV
_BESIDE = {*_MIN, "created_at", "updated_at", "lead_time", "agreement"}


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
