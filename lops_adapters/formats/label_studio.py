"""Exports of Label Studio (JSON): a row per annotation of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lops_adapters.formats.cells import single
from lops_adapters.formats.layouts import ANY, SCALAR, Layout, of_parts
from lops_adapters.formats.nested import Annotation, Nested
from lops_adapters.formats.paths import Steps

ANNOTATOR, NUMBER = "annotator", "task"
_DONE = [
    {
        "completed_by": (*SCALAR, {"email": SCALAR, "id": SCALAR}),
        "result": [{"value": {"choices": [ANY]}}],
    }
]
TASK = {"data": {}, "annotations": _DONE, "completions": _DONE}


class LabelStudio(Nested):
    """Tasks with annotations: their data, a column per control with choices, the annotator.

    Several choices are a list. A task without an annotation is a row without labels.
    """

    name = "label-studio"

    shape = TASK

    def annotations(self, record: dict[str, Any]) -> list[Annotation]:
        data, rows = record.get("data") or {}, []
        for steps, annotation in _done(record):
            who = annotation.get("completed_by")
            if isinstance(who, dict):
                who = who.get("email") or who.get("id")
            choices = _choices(annotation)
            labels = {name: single(chosen) for name, (chosen, _) in choices.items()}
            cells = {**labels, ANNOTATOR: who, NUMBER: record.get("id")}
            places: dict[str, Steps] = {
                name: (*steps, *path) for name, (_, path) in choices.items() if name not in data
            }
            rows.append(Annotation({**data, **cells, **data}, places, [steps]))
        return rows or [Annotation({**data, NUMBER: record.get("id"), **data}, {}, [])]

    def layout(self, records: Sequence[dict[str, Any]]) -> Layout | None:
        data = dict.fromkeys(name for record in records for name in record.get("data") or ())
        controls = dict.fromkeys(
            name for record in records for _, one in _done(record) for name in _choices(one)
        )
        return of_parts([*data], [*controls], ANNOTATOR, "Label Studio")


def _done(task: dict[str, Any]) -> Iterator[tuple[Steps, dict[str, Any]]]:
    key = "annotations" if "annotations" in task else "completions"
    for index, one in enumerate(task.get(key) or ()):
        if one and not one.get("was_cancelled"):
            yield (key, index), one


def _choices(annotation: dict[str, Any]) -> dict[str, tuple[list[Any], Steps]]:
    """Return control -> its choices, and where the last list of them is."""
    chosen: dict[str, tuple[list[Any], Steps]] = {}
    for index, result in enumerate(annotation.get("result") or ()):
        choices = ((result or {}).get("value") or {}).get("choices")
        if choices is not None:
            name = str(result.get("from_name"))
            earlier = chosen[name][0] if name in chosen else []
            chosen[name] = ([*earlier, *choices], ("result", index, "value", "choices"))
    return chosen
