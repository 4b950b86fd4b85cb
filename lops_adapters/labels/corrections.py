"""Reads files of corrections: the labels by people, the rows that they name, and of which table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats import files, readers
from lops_adapters.formats.cells import cell_text, content, single
from lops_adapters.labels.derived import with_named_text
from lops_adapters.labels.naming import (
    CHECKED,
    COLUMN,
    COUNTS,
    GIVEN,
    ID,
    IDS,
    KEY,
    LABEL,
    OURS,
    ROW,
    ROWS,
    TABLE,
    TEXT,
    TEXTS,
    Counted,
    key_of,
)

_BEFORE = "before"
# Columns of files whose labels are the table's own, or suggestions.
_NOT_CHECKED = {"joint_label", "weight", f"{OURS}selected"}
_LONGEST = 32_767  # characters of a cell of a spreadsheet


@dataclass(frozen=True)
class Correction:
    """One line of the file: the row or id, as text, and its new label, empty or - to delete it.

    Attributes:
        before: the label that the row has in the table; None: not stated.
        text, id: of the row; None: not stated.
        key: of its text or id, see :mod:`~lops_adapters.labels.naming`; None: not stated.
    """

    line: int
    row: str
    label: str
    before: str | None = None
    text: str | None = None
    id: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Edits:
    """A file of corrections.

    Attributes:
        column: the column of labels that the file names; None: none.
        sha256: of the table that the corrections were made for; None: not stated.
        numbered: whether rows are given by number, even if there are ids.
    """

    path: Path
    entries: list[Correction]
    column: str | None
    sha256: str | None
    counts: Counted | None = None
    encoding: str = "utf-8"
    numbered: bool = False

    @property
    def by_key(self) -> Counted | None:
        """What keys of the entries are made of; None: the entries number rows."""
        return None if self.counts is None or self.counts.kind == ROWS else self.counts

    def place(self, entry: Correction) -> str:
        """Return where an entry stands, for a message."""
        return f"{self.path}, line {entry.line}"

    def check(self, entry: Correction, cells: Sequence[Any]) -> None:
        """Raise a LopsError if no cell of a row is the text that an entry states."""
        if entry.key is not None:
            fits = any(key_of(TEXTS, cell) == entry.key for cell in cells)
        else:
            text = entry.text
            fits = text is None or any(self._is_text(text, cell) for cell in cells)
        if not fits:
            known = f", which has {cells[0]!r:.60}" if len(cells) == 1 else ""
            stated = "another text" if entry.text is None else f"the text {entry.text!r:.60}"
            raise LopsError(
                f"{self.place(entry)}: row {entry.row} has {stated} there, and not in the "
                f"table{known}; give the table that the file was made for, in its order. If "
                f"{typed('source')} joined its rows to texts, make the file again: it then names "
                "texts"
            )

    def _is_text(self, stated: str, cell: Any) -> bool:
        """Return whether a cell is a text, as a spreadsheet may have marked, cut and saved it."""
        text, saved = self._saved(cell), self._saved(stated)
        is_cut = len(stated) >= _LONGEST and text.startswith(saved)
        return is_cut or text in (saved, saved.removeprefix("'"))

    def _saved(self, cell: Any) -> str:
        """Return a text, with a mark in place of what the encoding of the file does not have."""
        text = content(cell)
        if self.encoding.lower().startswith("utf"):
            return text
        return re.sub(r"\?+", "?", text.encode(self.encoding, "replace").decode(self.encoding))


def read_corrections(
    path: Path,
    by_id: bool,
    filled: bool = False,
    encoding: str = "utf-8",
    column: str | None = None,
) -> Edits:
    """Read a file of corrections.

    Args:
        path: CSV, as any spreadsheet saves it, or another table; with the columns ``row`` and
            ``label``. Or the relabelled rows that ``lops select`` writes.
        by_id: rows are given by the column ``id``, or by ``row`` if the table has no such column.
        filled: take the labels of the column ``checked`` if there is one, without empty ones.
        encoding: of a file that is neither UTF-8 nor UTF-16.
        column: of labels, in relabelled rows; default: ``label``.
    """
    table = readers.open_saved(path, encoding)
    relabelled = {f"{OURS}{ROW}", GIVEN} <= set(table.columns)
    before = OURS if relabelled else ""
    sha256, words = _only(path, table, f"{before}{TABLE}"), _only(path, table, f"{before}{COUNTS}")
    counts = None if words is None else Counted.read(words)
    if counts is None and words is not None:
        raise LopsError(
            f"{path} says that it counts {words!r:.80}; wanted 'rows', 'texts in COLUMN' or 'ids "
            "in COLUMN', as lops writes it"
        )
    if relabelled:
        table = table if counts is None else with_named_text(table, counts.column)
        roles = _of_relabelled(table, counts, column)
    else:
        roles = _of_corrections(path, table, counts, by_id, filled)
        column = _only(path, table, COLUMN)
    needed = (ROW, LABEL) if counts is None or counts.kind == ROWS else (LABEL,)
    missing = [roles[role] for role in needed if roles[role] not in table.columns]
    if missing:
        way_out = f"; name the column of labels by {typed('label')}" if relabelled else ""
        raise LopsError(
            f"{path} has no column {missing[0]!r}; its columns are "
            f"{listed(map(repr, table.columns))}; wanted {roles[ROW]!r} and {roles[LABEL]!r}"
            f"{way_out}"
        )
    known = {*table.columns, *table.derived}
    roles = {role: name for role, name in roles.items() if name in known}
    entries = []
    for _, line, cells in table.cells(tuple(roles.values())):
        values = dict(zip(roles, (cell_text(single(cell)) for cell in cells), strict=True))
        if roles[LABEL] == CHECKED and not values[LABEL].strip():
            continue
        entries.append(_entry(line, values, counts))
    saved_as = table.start.reading.encoding
    return Edits(path, entries, column, sha256, counts, saved_as, numbered=relabelled)


def _of_relabelled(
    table: readers.Table, counts: Counted | None, column: str | None
) -> dict[str, str]:
    joint = f"{OURS}{LABEL}"
    roles = {ROW: f"{OURS}{ROW}", LABEL: joint if joint in table.columns else column or LABEL}
    if counts is not None:
        roles[ID if counts.kind == IDS else TEXT] = counts.column
    if counts is None or counts.kind == ROWS:
        roles[_BEFORE] = GIVEN
    return roles


def _of_corrections(
    path: Path, table: readers.Table, counts: Counted | None, by_id: bool, filled: bool
) -> dict[str, str]:
    """Return the columns of corrections, by what they hold; LopsError: labels of no person."""
    label = CHECKED if filled and CHECKED in table.columns else LABEL
    if label == LABEL and (found := sorted(_NOT_CHECKED & set(table.columns))):
        raise LopsError(
            f"{path} has a column {found[0]!r}, so that its labels are no corrections; add a "
            f"column {CHECKED!r} with the right labels, empty where a row is not checked"
        )
    roles = {ROW: ID if by_id and ID in table.columns else ROW, LABEL: label, TEXT: TEXT, ID: ID}
    return roles if counts is None else {**roles, KEY: KEY}


def _entry(line: int, values: dict[str, str], counts: Counted | None) -> Correction:
    key, text, name = values.get(KEY), values.get(TEXT), values.get(ID)
    if not key and counts is not None and counts.kind != ROWS:
        key = key_of(counts.kind, name if counts.kind == IDS else text)
    row, label = values.get(ROW, "").strip(), values[LABEL]
    return Correction(line, row, label, values.get(_BEFORE), text, name, key)


def _only(path: Path, table: readers.Table, name: str) -> str | None:
    """Return the one value of a column; None: no column, or empty; LopsError: several values."""
    if name not in table.columns:
        return None
    values = {cell_text(cell) for _, _, (cell,) in table.cells((name,))} - {""}
    if len(values) > 1:
        raise LopsError(
            f"{path} holds corrections of several tables: its column {name!r} has "
            f"{listed(map(repr, sorted(values)))}; apply them one by one"
        )
    return next(iter(values), None)


def check_table(edits: Edits, checksums: dict[str, str]) -> None:
    """Raise a LopsError if corrections that number rows were made for another table."""
    if edits.by_key or edits.sha256 in (None, files.fingerprint(checksums)):
        return
    name = f"{OURS if edits.numbered else ''}{TABLE}"
    raise LopsError(
        f"{edits.path} was made for another table, or the table has changed since: its SHA-256 "
        f"is {files.fingerprint(checksums)[:12]}, not {edits.sha256[:12]}; give the files of "
        f"lops select, in their order, or remove the column {name} if the rows are the same"
    )


def by_row(edits: Edits, by: str | None = None) -> dict[str, Correction]:
    """Return the corrections by row number, by id or, of texts, by key.

    ``by``: a column of ids. Raises a LopsError about bad and repeated rows.
    """
    asked: dict[str, Correction] = {}
    for entry in edits.entries:
        key = entry.key or "" if edits.by_key else entry.row
        if edits.by_key and not key:
            raise LopsError(
                f"{edits.place(entry)}: the row has no {edits.by_key.kind[:-1]}, by which the file "
                f"names rows (column {edits.by_key.column!r} of the table); leave the row out"
            )
        if by is None and not edits.by_key:
            if not (key.isascii() and key.isdigit() and key.strip("0")):
                raise LopsError(
                    f"{edits.place(entry)}: the row is {key!r:.80}; wanted its number, from 1, or "
                    f"{typed('id')} COLUMN for ids"
                )
            key = key.lstrip("0")  # int() refuses thousands of digits
        if key in asked:
            raise LopsError(
                f"{edits.place(entry)}: row {entry.row if edits.by_key else key} was corrected in "
                f"line {asked[key].line} already; give every row once"
            )
        asked[key] = entry
    return asked
