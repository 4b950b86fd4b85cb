"""Tables on disk: one or several files of one format, read in blocks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import formats
from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block, Derived, Format, Names, Reading, Start
from lops_adapters.formats.files import check_name
from lops_adapters.formats.files import reading as readable
from lops_adapters.formats.lines import encoding_of

TABULAR = ("csv", "tsv", "xlsx")  # formats with a line of names


@dataclass(frozen=True)
class Table:
    """Files with the same columns, read one after another, any number of times."""

    paths: tuple[Path, ...]
    format: Format
    start: Start
    held: tuple[Block, ...] | None = None
    notes: tuple[str, ...] = ()
    derived: Mapping[str, Derived] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; of JSON, all keys, and paths that are asked for."""
        return self.start.columns

    def blocks(self, columns: Names | None = None) -> Iterator[Block]:
        """Yield all rows in order, in blocks as the files hold them."""
        if columns is not None:
            columns = tuple(dict.fromkeys(part for name in columns for part in self.parts_of(name)))
        for block in self._read(columns) if self.held is None else self.held:
            block.derived = self.derived
            yield block

    def _read(self, columns: Names | None) -> Iterator[Block]:
        for path in self.paths:
            with readable(path):
                yield from self.format.blocks(path, self.start, columns)

    def parts_of(self, name: str) -> Names:
        """Return the columns of the file that a column is read from: itself, or several."""
        return self.derived[name].parts if name in self.derived else (name,)

    def deriving(self, columns: Mapping[str, Derived], note: str) -> Table:
        """Return the table with further columns that are read from others, and a note."""
        return replace(self, derived={**self.derived, **columns}, notes=(*self.notes, note))

    def cells(self, names: Names) -> Iterator[tuple[Path, int, tuple[Any, ...]]]:
        """Yield (file, line or row number from 1, cells of the named columns).

        A missing key of a JSON object is None. Raises as :meth:`blocks`.
        """
        for block in self.blocks(names):
            with readable(block.path):
                rows = zip(*block.cells(names), strict=True)
            for number, cells in zip(block.numbers, rows, strict=True):
                yield block.path, number, cells

    def loaded(self, most: int) -> Table:
        """Return the table with its blocks in memory, so that its files are not read again.

        A table that unpacks to more than ``most`` bytes stays as it is.
        """
        held, size = [], 0
        for block in self.blocks():
            held.append(block)
            size += block.unpacked
            if size > most:
                return self
        return replace(self, held=tuple(held))

    def parts(self, rows: int) -> list[Table]:
        """Return tables that can be read apart, in order, of at least so many rows if cut."""
        start = replace(self.start, reading=replace(self.start.reading, quiet=True))
        return [
            replace(self, paths=(path.absolute(),), start=replace(start, part=part))
            for path in self.paths
            for part in self.format.parts(path, rows)
        ]


def rehearse(table: Table, kind: str, added: Sequence[str]) -> None:
    """Raise what writing a table in a format, with empty new columns, would raise.

    All rows are converted if the format is not the table's: some values have no place there.
    """
    if kind == table.format.name or (table.format.copies(kind) and not added):
        table.format.check_writable(table.paths[0], table.start)
        return
    doubled = [name for name, times in Counter(table.columns).items() if times > 1]
    if doubled and formats.FORMATS[kind].names_differ:
        raise LopsError(
            f"{table.paths[0]}: {table.columns.count(doubled[0])} columns are named "
            f"{doubled[0]!r}, and {kind} needs different names; rename all but one, or give "
            f"{typed('format', table.format.native)}"
        )
    with formats.FORMATS[kind].writer(Path(os.devnull), table.start, added, {}, False) as writer:
        for block in table.blocks():
            nothing = dict.fromkeys(added, [None] * len(block))
            try:
                with readable(block.path):
                    writer.write(block, np.arange(len(block)), nothing)
            except RecursionError:
                raise LopsError(
                    f"{block.path}: a cell is nested too deeply for {kind}; "
                    f"give {typed('format', table.format.native)}"
                ) from None


def open_table(
    paths: Sequence[Path],
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    quiet: bool = False,
    sheets: Sequence[str] = (),
    header_row: int = 1,
    quotes: bool | None = None,
    keep_na: bool = False,
    raw: bool = False,
    nested: Sequence[str] = (),
) -> Table:
    """Read the beginnings of files and return them as a table.

    Args:
        paths: at least one file, all of one format.
        delimiter: of CSV or TSV, one character; default: by the suffix, or the one that divides
            the header.
        encoding: of text files, a name that Python knows.
        sheets: names of the sheets to read, of spreadsheets; default: the first.
        header_row: line of the names of columns, of CSV, TSV and spreadsheets.
        quotes, keep_na, raw, nested: as in :class:`~lops_adapters.formats.base.Reading`.
    """
    kinds = {}
    for path in paths:
        check_name(str(path))
        with readable(path):
            kind = formats.to_read(path)
        kinds[kind.name] = kind
    if len(kinds) > 1:
        raise LopsError(
            f"the files have several formats ({', '.join(sorted(kinds))}); give files of one format"
        )
    (kind,) = kinds.values()
    _check_options(kind.name, delimiter, encoding)
    if sheets and kind.name != "xlsx":
        raise LopsError(
            f"{typed('sheet')} is {sheets[0]!r}, but {paths[0]} is no spreadsheet; leave it out"
        )
    if header_row < 1 or (header_row > 1 and kind.name not in TABULAR):
        raise LopsError(
            f"{typed('header_row')} is {header_row} for a {kind.name} file; wanted the line of the "
            "names of columns, from 1, in CSV, TSV or a spreadsheet"
        )
    first, starts = paths[0], dict[Path, Start]()
    how = Reading(
        delimiter or "", encoding, quiet, tuple(dict.fromkeys(sheets)), header_row, quotes, keep_na,
        raw, tuple(nested),
    )  # fmt: skip
    for path in paths:
        with readable(path):
            starts[path] = kind.start(path, how)
        how = replace(how, delimiter=starts[path].reading.delimiter)
    start = starts[first]
    pairing = all(one.reading.quotes is not False for one in starts.values())
    start = replace(start, reading=replace(start.reading, quotes=pairing))
    for path, other in starts.items():
        columns = other.columns
        same = columns == start.columns or not (
            kind.ordered or set(columns).isdisjoint(start.columns)
        )
        if not same or other.types != start.types:
            what = "types of columns" if columns == start.columns else "columns"
            raise LopsError(
                f"{path} has other {what} than {first}: {listed(map(repr, columns))}, "
                f"not {listed(map(repr, start.columns))}; give files with the same columns and "
                "types"
            )
    every = dict.fromkeys(name for one in starts.values() for name in one.columns)
    start = replace(start, columns=tuple(every)) if len(every) > len(start.columns) else start
    notes = [note for one in starts.values() for note in one.notes]
    if quotes is None and not pairing:
        notes.append(
            "Quotes are read as part of the texts, since they do not hold cells together; if they "
            f"do, give {typed('quotes', True)}."
        )
    return Table(tuple(paths), kind, start, notes=tuple(dict.fromkeys(notes)))


def open_saved(path: Path, usual: str = "utf-8") -> Table:
    """Return a small table as a spreadsheet saved it: CSV by its mark, as UTF-8 or as ``usual``.

    Raises as :func:`open_table`.
    """
    with readable(path):
        is_text = formats.to_read(path).name in ("csv", "tsv")
        encoding = encoding_of(path, usual) if is_text else usual
    return open_table([path], encoding=encoding, quiet=True)


def _check_options(kind: str, delimiter: str | None, encoding: str) -> None:
    try:
        b"x".decode(encoding, "ignore")
    except (LookupError, ValueError):  # also of codecs that are not of text, such as hex
        raise LopsError(
            f"{typed('encoding')} is {encoding!r}, which Python does not know; "
            "wanted a name such as utf-8, cp1252 or latin-1"
        ) from None
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter in '"\r\n\0' or kind not in ("csv", "tsv")
    ):
        raise LopsError(
            f"{typed('delimiter')} is {delimiter!r} for a {kind} file; wanted one character, for "
            "CSV or TSV"
        )
