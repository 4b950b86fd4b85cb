"""Exports of Label Studio (JSON): a row per annotation of a task; only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lops_adapters.formats.base import Block, Format, Names, Reading, Start, in_blocks
from lops_adapters.formats.cells import single
from lops_adapters.formats.json_array import objects, whole_text
from lops_adapters.formats.records import RecordBlock

ANNOTATOR, TASK = "annotator", "task"


class LabelStudio(Format):
    """Tasks with annotations: their data, a column per control with choices, the annotator.

    Several choices are a list. A task without an annotation is a row without labels.
    """

    name = "label-studio"
    suffixes = ()
    unit = "row"
    native = "jsonl"
    ordered = True

    def start(self, path: Path, reading: Reading) -> Start:
        data: dict[str, None] = {}
        controls: dict[str, None] = {}
        for task in _tasks(path, reading):
            data |= dict.fromkeys(task["data"])
            for annotation in _annotations(task):
                controls |= dict.fromkeys(_choices(annotation))
        names = [*data, *(name for name in (*controls, ANNOTATOR, TASK) if name not in data)]
        return Start(self.name, tuple(names), reading)

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        for rows in in_blocks(_rows(path, start)):
            numbers, cells = zip(*rows, strict=True)
            yield RecordBlock(path, numbers, start.columns, list(cells))


def _tasks(path: Path, reading: Reading) -> Iterator[dict[str, Any]]:
    text, _ = whole_text(path, reading)
    return (task for _, _, task in objects(path, text) if isinstance(task.get("data"), dict))


def _rows(path: Path, start: Start) -> Iterator[tuple[int, list[Any]]]:
    for number, task in enumerate(_tasks(path, start.reading), 1):
        for annotation in _annotations(task) or [{}]:
            who = annotation.get("completed_by")
            if isinstance(who, dict):
                who = who.get("email") or who.get("id")
            cells = {TASK: task.get("id"), ANNOTATOR: who, **_choices(annotation), **task["data"]}
            yield number, [cells.get(name) for name in start.columns]


def _annotations(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the annotations that were not cancelled."""
    found = task.get("annotations", task.get("completions")) or []
    return [one for one in found if isinstance(one, dict) and not one.get("was_cancelled")]


def _choices(annotation: dict[str, Any]) -> dict[str, Any]:
    """Return control -> its choice, or a list of several."""
    chosen: dict[str, list[Any]] = {}
    for result in annotation.get("result") or []:
        choices = (result.get("value") or {}).get("choices")
        if isinstance(choices, list):
            chosen.setdefault(str(result.get("from_name")), []).extend(choices)
    return {name: single(choices) for name, choices in chosen.items()}
