"""Corrections of a table, checked against the table before anything is written."""

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.formats.cells import NO_CLASS, Names, cell_text, is_unlabelled, single
from lops_adapters.labels.corrections import Correction, Edits, by_row
from lops_adapters.labels.derived import with_named_text
from lops_adapters.labels.naming import key_of


@dataclass
class Changes:
    """What happens to the rows of a table, by their positions from 0.

    Attributes:
        labels: position -> new value of the label, of the column's type.
        same: rows whose label is the new one already.
        new: classes that the table does not have -> rows that get them.
        texts: that corrections name, each of one or several rows; None: corrections name rows.
    """

    labels: dict[int, Any] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    same: int = 0
    new: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    texts: int | None = None


_Rows = list[tuple[int, Any]]  # positions from 0, and labels


def changes(edits: Edits, table: readers.Table, label: str, by: str | None) -> Changes:
    """Return what the corrections change in a table, after one pass over it.

    ``label`` is its column of labels, ``by`` its column of ids; None: corrections give row numbers,
    from 1, over all files. Corrections of texts are of all rows of these; a new label is of those
    that have one. Raises a LopsError about unknown or repeated rows, a row with another text, an id
    of several rows, or a label that the column cannot hold.
    """
    asked = by_row(edits, by)
    rows, known, count = _rows(edits, table, (label, by), asked)
    made = Changes(rows=count, texts=len(asked) if edits.by_key else None)
    names, kinds = Names(known), {type(value) for value in known.values()}
    for key, entry in asked.items():
        of_key = rows[key]
        if edits.by_key and not _deletes(entry, known):
            of_key = [row for row in of_key if not is_unlabelled(row[1])] or of_key
        for row in of_key:
            _change(made, edits, entry, row, known, names, kinds)
    return made


def _rows(
    edits: Edits, table: readers.Table, names: tuple[str, str | None], asked: dict[str, Correction]
) -> tuple[dict[str, _Rows], dict[str, Any], int]:
    """Return the rows of the keys that are asked for, the labels of the table, and its rows.

    ``names`` are its columns of labels and of ids; labels are found by their text.
    """
    label, by = names
    shared = edits.by_key
    if edits.counts is not None:
        table = with_named_text(table, edits.counts.column)
    column = shared.column if shared else by
    if shared and column not in {*table.columns, *table.derived}:
        raise LopsError(
            f"{edits.path} names {shared.words}, and {table.paths[0]} has no such column; give the "
            "table that the file was made for"
        )
    texts = [] if shared else _text_columns(edits, table)
    read = (label, *((column,) if column else ()), *texts)
    current: dict[str, _Rows] = {}
    found_texts: dict[str, list[Any]] = {}
    known: dict[str, Any] = {}
    position = -1
    for position, (_, _, (value, *cells)) in enumerate(table.cells(read)):
        value = single(value)  # noqa: PLW2901
        if not is_unlabelled(value) and not isinstance(value, list | dict):
            known.setdefault(cell_text(value), value)
            known.setdefault(str(value), value)
        if shared:
            key = key_of(shared.kind, cells[0])
        else:
            key = cell_text(cells.pop(0)).strip() if by else str(position + 1)
        shown = key if key in asked else f"'{key}"  # as a spreadsheet shows a formula
        if shown not in asked:
            continue
        if shown in current and not shared:
            raise LopsError(
                f"{edits.place(asked[shown])}: the id {key!r} is in several rows of the table; "
                "correct by row number, without --id"
            )
        found_texts[shown] = cells
        current.setdefault(shown, []).append((position, value))
    count = position + 1
    unknown = [entry for key, entry in asked.items() if key not in current]
    if unknown:
        named = listed((f"{entry.row or entry.text!r:.80}" for entry in unknown), limit=5)
        has = f"{count:,} rows" if column is None else f"no such id in column {column!r}"
        if shared:
            has = f"no such {shared.kind[:-1]} in column {column!r}"
        raise LopsError(
            f"{edits.place(unknown[0])}: no row {named} in the table, which has {has}; is this "
            "the table that the corrections were made for?"
        )
    if texts:
        for key, entry in asked.items():
            edits.check(entry, found_texts[key])
    return current, known, count


def _text_columns(edits: Edits, table: readers.Table) -> list[str]:
    """Return the columns that may hold the texts of corrections; empty: no texts are stated."""
    if not any((entry.text, entry.key) != (None, None) for entry in edits.entries):
        return []
    if edits.counts is not None and edits.counts.column in {*table.columns, *table.derived}:
        return [edits.counts.column]
    block = next(table.blocks(), None)
    names = list(dict.fromkeys(table.columns))
    cells = [] if block is None else block.cells(names)
    return [
        name
        for name, column in zip(names, cells, strict=False)
        if any(isinstance(cell, str) for cell in column)
    ]


def _deletes(entry: Correction, known: dict[str, Any]) -> bool:
    """Return whether an entry deletes its row: no label, or - where that is no class."""
    label = entry.label.strip()
    return not label or (label == NO_CLASS and NO_CLASS not in known)


def _change(
    made: Changes,
    edits: Edits,
    entry: Correction,
    row: tuple[int, Any],
    known: dict[str, Any],
    names: Names,
    kinds: set[type],
) -> None:
    position, label = row
    if entry.before not in (None, cell_text(label)):
        raise LopsError(
            f"{edits.place(entry)}: row {entry.row} had the label {entry.before!r:.60}, and it has "
            f"{label!r:.60} in the table; give the table that the rows were selected from"
        )
    if _deletes(entry, known):
        made.deleted.add(position)
        return
    text = entry.label
    alike = names.alike(text)
    values = {(type(known[name]), known[name]) for name in alike}
    if text in known and not (text.startswith("'") and text[1:] in known):
        value = known[text]
    elif len(values) > 1:  # a spreadsheet may show them alike
        raise LopsError(
            f"{edits.place(entry)}: the label is {text!r:.60}, and the table has "
            f"{listed(map(repr, sorted(alike)), 5)}; write one of them as it is, or rename one of "
            "them in the table first"
        )
    elif values:
        value = known[alike[0]]
    else:
        value = _new(edits, entry, known, kinds)
        made.new[text] = made.new.get(text, 0) + 1
    if type(value) is type(label) and value == label:
        made.same += 1
    else:
        made.labels[position] = value


def _new(edits: Edits, entry: Correction, known: dict[str, Any], types: set[type]) -> Any:
    """Return a label that the table does not have, as a value of the column's type."""
    if types <= {str}:
        return entry.label
    try:
        value = json.loads(entry.label)
    except (ValueError, RecursionError):
        value = entry.label
    if types == {float} and type(value) is int:
        with suppress(OverflowError):
            value = float(value)
    if type(value) not in types or (type(value) is float and not math.isfinite(value)):
        names = ", ".join(sorted(kind.__name__ for kind in types))
        raise LopsError(
            f"{edits.place(entry)}: the label is {entry.label!r:.80}, and the table's labels are "
            f"of type {names}; wanted one of {listed(sorted(known), limit=10)}"
        )
    return value
