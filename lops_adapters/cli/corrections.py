"""Corrections of a table: read, and checked against the table before anything is written."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats import files, lines, readers
from lops_adapters.formats.cells import NO_CLASS, cell_text, is_unlabelled, single, spelling
from lops_adapters.tables import results

ROW, LABEL = "row", "label"
CHECKED = "checked"  # of to_check.csv: the label by a person; empty: not checked
TABLE, COLUMN, ID = "sha256", "column", "id"  # optional columns


@dataclass(frozen=True)
class Correction:
    """One line of the file: the row or id, as text, and its new label, empty or - to delete it.

    ``before``: the label that the row has in the table; None: not stated.
    """

    line: int
    row: str
    label: str
    before: str | None = None


@dataclass(frozen=True)
class Edits:
    """A file of corrections.

    Attributes:
        path: of the file.
        entries: in the order of the file.
        column: the column of labels that the file names; None: none.
        sha256: of the table that the corrections were made for; None: not stated.
        numbered: whether rows are given by number, even if there are ids.
    """

    path: Path
    entries: list[Correction]
    column: str | None
    sha256: str | None
    numbered: bool = False

    def place(self, entry: Correction) -> str:
        """Return where an entry stands, for a message."""
        return f"{self.path}, line {entry.line}"


@dataclass
class Changes:
    """What happens to the rows of a table, by their positions from 0.

    Attributes:
        labels: position -> new value of the label, of the column's type.
        deleted: positions.
        same: corrections that change nothing.
        new: classes that the table does not have -> rows that get them.
        rows: of the table.
    """

    labels: dict[int, Any] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    same: int = 0
    new: dict[str, int] = field(default_factory=dict)
    rows: int = 0


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

    Raises:
        LopsError: missing columns, several tables or label columns, or what reading raises.
    """
    with files.reading(path):
        encoding = lines.encoding_of(path, encoding)
    table = readers.open_table([path], encoding=encoding, quiet=True)
    row = ID if by_id and ID in table.columns else ROW
    label = CHECKED if filled and CHECKED in table.columns else LABEL
    relabelled = results.ROW in table.columns and results.GIVEN in table.columns
    if relabelled:
        row, label = results.ROW, column or LABEL
    missing = [name for name in (row, label) if name not in table.columns]
    if missing:
        way_out = "; name the column of labels by --label" if relabelled else ""
        raise LopsError(
            f"{path} has no column {missing[0]!r}; its columns are "
            f"{listed(map(repr, table.columns))}; wanted {row!r} and {label!r}{way_out}"
        )
    if relabelled:
        rows = table.cells((row, label, results.GIVEN))
        entries = [
            Correction(line, *(cell_text(single(value)) for value in values))
            for _, line, values in rows
        ]
        return Edits(path, entries, column, None, numbered=True)
    optional = [name for name in (COLUMN, TABLE) if name in table.columns]
    entries, stated = [], {name: set[str]() for name in (COLUMN, TABLE)}
    for _, line, cells in table.cells((row, label, *optional)):
        texts = [cell_text(cell) for cell in cells]
        if label == LABEL or texts[1].strip():
            entries.append(Correction(line, texts[0].strip(), texts[1]))
        for name, text in zip(optional, texts[2:], strict=True):
            stated[name] |= {text} - {""}
    for name, values in stated.items():
        if len(values) > 1:
            raise LopsError(
                f"{path} holds corrections of several tables: its column {name!r} has "
                f"{listed(map(repr, sorted(values)))}; apply them one by one"
            )
    column, sha256 = (next(iter(stated[name]), None) for name in (COLUMN, TABLE))
    return Edits(path, entries, column, sha256)


def changes(edits: Edits, table: readers.Table, label: str, by: str | None) -> Changes:
    """Return what the corrections change in a table, after one pass over it.

    ``label`` is its column of labels, ``by`` its column of ids; None: corrections give row numbers,
    from 1, over all files. Raises a LopsError about unknown or repeated rows, an id of several
    rows, or a label that the column cannot hold.
    """
    asked = by_row(edits, by)
    current: dict[str, tuple[int, Any]] = {}  # row or id -> position, label
    known: dict[str, Any] = {}
    position = -1
    for position, (_, _, (value, *ids)) in enumerate(table.cells((label, by) if by else (label,))):
        key = cell_text(ids[0]).strip() if ids else str(position + 1)
        value = single(value)  # noqa: PLW2901
        if not is_unlabelled(value) and not isinstance(value, list | dict):
            known.setdefault(cell_text(value), value)
            known.setdefault(str(value), value)
        shown = key if key in asked else f"'{key}"  # as a spreadsheet shows a formula
        if shown in asked:
            if shown in current:
                raise LopsError(
                    f"{edits.place(asked[shown])}: the id {key!r} is in several rows of the "
                    f"table; correct by row number, without --id"
                )
            current[shown] = (position, value)
    count = position + 1
    unknown = [entry for key, entry in asked.items() if key not in current]
    if unknown:
        named = listed((f"{entry.row!r:.80}" for entry in unknown), limit=5)
        has = f"{count:,} rows" if by is None else f"no such id in column {by!r}"
        raise LopsError(
            f"{edits.place(unknown[0])}: no row {named} in the table, which has {has}; is this "
            "the table that the corrections were made for?"
        )
    made = Changes(rows=count)
    for key, entry in asked.items():
        _change(made, edits, entry, current[key], known)
    return made


def check_table(edits: Edits, checksums: dict[str, str]) -> None:
    """Raise a LopsError if corrections were made for another table."""
    if edits.sha256 is not None and edits.sha256 != files.fingerprint(checksums):
        raise LopsError(
            f"{edits.path} was made for another table, or the table has changed since: its SHA-256 "
            f"is {files.fingerprint(checksums)[:12]}, not {edits.sha256[:12]}; give the files of "
            "lops select, in their order, or remove the column sha256 if the rows are the same"
        )


def by_row(edits: Edits, by: str | None = None) -> dict[str, Correction]:
    """Return the corrections by row number, or by id; LopsError about bad and repeated rows."""
    asked: dict[str, Correction] = {}
    for entry in edits.entries:
        key = entry.row
        if by is None:
            if not (key.isascii() and key.isdigit() and key.strip("0")):
                raise LopsError(
                    f"{edits.place(entry)}: the row is {key!r:.80}; wanted its number, from 1, or "
                    "--id COLUMN for ids"
                )
            key = key.lstrip("0")  # int() refuses thousands of digits
        if key in asked:
            raise LopsError(
                f"{edits.place(entry)}: row {key} was corrected in line {asked[key].line} already; "
                "give every row once"
            )
        asked[key] = entry
    return asked


def _change(
    made: Changes, edits: Edits, entry: Correction, row: tuple[int, Any], known: dict[str, Any]
) -> None:
    position, label = row
    if entry.before not in (None, cell_text(label)):
        raise LopsError(
            f"{edits.place(entry)}: row {entry.row} had the label {entry.before!r:.60}, and it has "
            f"{label!r:.60} in the table; give the table that the rows were selected from"
        )
    if not entry.label.strip() or (entry.label.strip() == NO_CLASS and NO_CLASS not in known):
        made.deleted.add(position)
        return
    text = entry.label
    alike = [name for name in known if spelling(name) == spelling(text)]
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
        value = _new(edits, entry, known)
        made.new[text] = made.new.get(text, 0) + 1
    if type(value) is type(label) and value == label:
        made.same += 1
    else:
        made.labels[position] = value


def _new(edits: Edits, entry: Correction, known: dict[str, Any]) -> Any:
    """Return a label that the table does not have, as a value of the column's type."""
    types = {type(value) for value in known.values()}
    if types <= {str}:
        return entry.label
    try:
        value = json.loads(entry.label)
    except (ValueError, RecursionError):
        value = entry.label
    if types == {float} and type(value) is int:
        value = float(value)
    if type(value) not in types:
        names = ", ".join(sorted(kind.__name__ for kind in types))
        raise LopsError(
            f"{edits.place(entry)}: the label is {entry.label!r:.80}, and the table's labels are "
            f"of type {names}; wanted one of {listed(sorted(known), limit=10)}"
        )
    return value


def read_checked_files(
    paths: Sequence[Path],
    label: str | None,
    checksums: Callable[[], dict[str, str]],
    encoding: str = "utf-8",
) -> dict[int, str]:
    """Return row of the table, from 0 -> label by a person; nothing or -: none of the classes.

    ``label`` is the table's column of labels; ``checksums`` returns the checksums of its files,
    if a file names its table; ``encoding`` is of files that are neither UTF-8 nor UTF-16.

    Raises a LopsError about a file that cannot be read or was made for another table or column, no
    checked row, and a row that is checked twice with different labels.
    """
    labels: dict[int, str] = {}
    source: dict[int, Path] = {}
    for path in paths:
        corrections = read_corrections(path, by_id=False, filled=True, encoding=encoding)
        if corrections.sha256 is not None:
            check_table(corrections, checksums())
        if corrections.column not in (None, label):
            raise LopsError(
                f"{path} holds labels of the column {corrections.column!r}, and --label is "
                f"{label!r}; give the file that was made for this column"
            )
        for key, entry in by_row(corrections).items():
            row, text = int(key[:18]) - 1, entry.label  # int() refuses thousands of digits
            if labels.get(row, text) != text:
                raise LopsError(
                    f"{corrections.place(entry)}: row {key} is checked as {text!r:.80}, and as "
                    f"{labels[row]!r:.80} in {source[row]}; correct one of them"
                )
            labels[row], source[row] = text, path
    if paths and not labels:
        raise LopsError(
            f"{paths[0]}: no row is checked yet; fill in the column {CHECKED}, or leave --checked "
            "out"
        )
    return labels
