"""Rows of a table that people have checked, from files of corrections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.corrections import (
    Correction,
    Edits,
    by_row,
    check_table,
    read_corrections,
)
from lops_adapters.labels.naming import CHECKED, IDS, TEXT, TEXTS, Counted, key_of


class Checked(NamedTuple):
    """A label by a person, as text; ``check`` raises if no cell of the row is the text meant."""

    label: str
    check: Callable[[Sequence[Any]], None] | None = None


def read_checked(
    paths: Sequence[Path],
    table: readers.Table,
    columns: Columns,
    label: str | None,
    checksums: Callable[[], dict[str, str]],
    encoding: str = "utf-8",
) -> dict[int, Checked]:
    """Return row of a table, from 0 -> label by a person; nothing or -: none of the classes.

    Args:
        table, columns: joined, if it has a row per annotation.
        label: the column of labels of its files; None: several.
        checksums: returns the checksums of its files, if a file names its table.
    """
    checked: dict[int, Checked] = {}
    source: dict[int, Path] = {}
    for path in paths:
        edits = read_corrections(path, by_id=False, filled=True, encoding=encoding)
        if edits.column not in (None, label):
            raise LopsError(
                f"{path} holds labels of the column {edits.column!r}, and {typed('label')} is "
                f"{label!r}; give the file that was made for this column"
            )
        if columns.joined is None:
            placed = _numbered(edits, checksums)
        else:
            placed = _found(edits, table, columns)
        for row, entry, check in placed:
            known = checked.get(row)
            if known is not None and known.label != entry.label:
                raise LopsError(
                    f"{edits.place(entry)}: row {entry.row} is checked as {entry.label!r:.80}, and "
                    f"as {known.label!r:.80} in {source[row]}; correct one of them"
                )
            checked[row], source[row] = Checked(entry.label, check), path
    if paths and not checked:
        raise LopsError(
            f"{paths[0]}: no row is checked yet; fill in the column {CHECKED}, or leave "
            f"{typed('checked')} out"
        )
    return checked


_Placed = tuple[int, Correction, Callable[[Sequence[Any]], None] | None]


def _numbered(edits: Edits, checksums: Callable[[], dict[str, str]]) -> list[_Placed]:
    """Return (row from 0, entry, check of its text) of corrections that number rows."""
    if edits.by_key:
        raise LopsError(
            f"{edits.path} names {edits.by_key.words}, of a table with a row per annotation; give "
            f"{typed('source')}, and {typed('id')}, as for that table"
        )
    if edits.sha256 is not None:
        check_table(edits, checksums())
    # int() refuses thousands of digits.
    return [
        (int(key[:18]) - 1, entry, partial(edits.check, entry))
        for key, entry in by_row(edits).items()
    ]


def _found(edits: Edits, table: readers.Table, columns: Columns) -> list[_Placed]:
    """Return (row from 0, entry, None) of corrections of texts, wherever these stand now."""
    counted = edits.by_key
    if (
        counted is None
        and columns.joined == columns.id
        and all(entry.id for entry in edits.entries)
    ):
        counted = columns.counted
    if counted is None and all(entry.text for entry in edits.entries):
        counted = Counted(TEXTS, str(columns.text))
    if counted is None or counted.column not in (columns.text, columns.id):
        stated = "numbers rows" if counted is None else f"names {counted.words}"
        raise LopsError(
            f"{edits.path} {stated}, and rows of the table are joined to texts by the column "
            f"{columns.joined!r}; wanted a column {TEXT!r}: check rows of the to_check.csv that "
            "this command writes"
        )
    places: dict[str, list[int]] = {}
    for row, (_, _, (cell,)) in enumerate(table.cells((counted.column,))):
        places.setdefault(key_of(counted.kind, cell), []).append(row)
    placed: list[_Placed] = []
    for entry in edits.entries:
        stated = (entry.id if counted.kind == IDS else entry.text) or ""
        keys = (
            [entry.key]
            if edits.by_key
            else [key_of(counted.kind, one) for one in (stated, stated.removeprefix("'"))]
        )
        rows = next((places[key] for key in keys if key and key in places), [])
        if len(rows) != 1:
            many = f"{len(rows):,} texts" if rows else "no text"
            raise LopsError(
                f"{edits.place(entry)}: row {entry.row}, {stated!r:.60}, is {many} of the table by "
                f"column {counted.column!r}; give the table that the file was made for, or leave "
                "the row out"
            )
        placed.append((rows[0], entry, None))
    return placed
