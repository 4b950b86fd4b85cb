"""CSV and TSV: a header, then rows of text."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.tables.formats import base
from lops_adapters.tables.formats.base import Block, Names, Reading, Start, in_blocks
from lops_adapters.tables.formats.cells import cell_text, number_text, without_formula
from lops_adapters.tables.formats.lines import beginning, binary, raw_lines, text_lines


def csv_records(
    path: Path, quiet: bool = False, delimiter: str = ",", lines: Iterable[str] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the record's last line, fields) of a delimited file; skip blank lines.

    ``lines`` default to the lines of the file, read as UTF-8.

    Raises:
        LopsError: a bad byte, or unpaired quotes (read leniently, they swallow the rest of the
            file).

    """
    if lines is None:
        lines = raw_lines(path, quiet)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    previous = csv.field_size_limit(2**31 - 1)
    try:
        for record in reader:
            if record:
                yield reader.line_num, record
    except csv.Error as error:
        kind = "TSV" if delimiter != "," else "CSV"
        raise LopsError(
            f"{path}, line {reader.line_num}: not proper {kind} ({error}); "
            'quote fields that contain a quote, and double it: "say ""yes"" to it"'
        ) from None
    finally:
        csv.field_size_limit(previous)


@dataclass
class TextBlock(Block):
    """Rows of cells, all strings, in the order of the columns."""

    unit = "line"
    columns: Sequence[str]
    rows: list[list[str]]

    def cells(self, names: Sequence[str]) -> list[list[Any]]:
        """Return the values of columns."""
        places = [self.columns.index(name) for name in names]
        return [[row[place] for row in self.rows] for place in places]

    def records(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        """Return the rows."""
        return list(self.rows)

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        """Return the block with other values in a column."""
        place, rows = self.columns.index(column), list(self.rows)
        for row, value in values.items():
            rows[row] = [*rows[row][:place], cell_text(value), *rows[row][place + 1 :]]
        return replace(self, rows=rows)


class Delimited(base.Format):
    """CSV or TSV.

    Args:
        name: csv or tsv.
        delimiter: unless another is given.

    """

    packs = True

    def __init__(self, name: str, delimiter: str) -> None:
        self.name = self.native = name
        self.suffixes, self.delimiter = (f".{name}",), delimiter

    def start(self, path: Path, reading: Reading) -> Start:
        """Read the header."""
        with binary(path) as file:
            first = beginning(path, file, reading.encoding)
            lines = text_lines(path, reading.encoding, True, file)
            _, header = next(csv_records(path, True, reading.delimiter, lines), (0, []))
        if not header:
            raise LopsError(f"{path} is empty; wanted a header with the names of the columns")
        return Start(self.name, tuple(header), reading, marked=first.startswith(codecs.BOM_UTF8))

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        """Yield the rows."""
        reading = start.reading
        lines = text_lines(path, reading.encoding, reading.quiet)
        records = csv_records(path, reading.quiet, reading.delimiter, lines)
        next(records, None)  # the header
        for rows in in_blocks(_checked(path, records, len(start.columns))):
            numbers, cells = zip(*rows, strict=True)
            yield TextBlock(path, numbers, start.columns, list(cells))

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: base.Like, escape: bool
    ) -> base.Writer:
        """Return a writer; a file of the same format keeps its delimiter."""
        delimiter = start.reading.delimiter if start.format == self.name else self.delimiter
        return TextRows(path, start, added, delimiter, escape)


def _checked(
    path: Path, records: Iterable[tuple[int, list[str]]], width: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield records; a LopsError about one with another number of fields than the header."""
    for line, record in records:
        if len(record) != width:
            raise LopsError(
                f"{path}, line {line}: found {len(record)} fields; wanted {width}, as in the "
                "header; quote fields that contain the delimiter, or to lops select give "
                "--delimiter"
            )
        yield line, record


class TextRows(base.Writer):
    """CSV or TSV in UTF-8, with a header and the input's byte order mark, if it has one.

    Cells that were text stay as they are.
    """

    def __init__(
        self, path: Path, start: Start, added: Sequence[str], delimiter: str, escape: bool
    ) -> None:
        self._columns, self._added = start.columns, list(added)
        self._cell = without_formula if escape else cell_text
        super().__init__(path, "utf-8-sig" if start.marked else "utf-8")
        self._rows = storage.csv_writer(self._file, delimiter)
        self._rows.writerow([*map(self._cell, self._columns), *self._added])

    def write(self, block: Block, rows: np.ndarray, added: base.Added) -> None:
        """Write rows of a block."""
        cells, new = block.records(self._columns), [added[name] for name in self._added]
        extra: Iterable[Sequence[Any]] = zip(*new, strict=True) if new else repeat((), len(rows))
        for row, more in zip(rows.tolist(), extra, strict=True):
            self._rows.writerow(
                [*map(self._cell, cells[row]), *(self._cell(number_text(cell)) for cell in more)]
            )
