"""CSV and TSV: a header, then rows of text."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat, tee
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Names, Reading, Start, in_blocks
from lops_adapters.formats.cells import NA, cell_text, cell_texts, number_text
from lops_adapters.formats.headers import (
    FIRST,
    divided,
    first_rows,
    header_of,
    with_row_names,
    without_title,
)
from lops_adapters.formats.lines import beginning, binary, first_lines, raw_lines, text_lines
from lops_adapters.formats.quotes import SCANNED, long_cells, pair, spans, unquoted
from lops_adapters.formats.raw import RawRows
from lops_adapters.formats.records import LineBlock


def csv_records(
    path: Path,
    quiet: bool = False,
    delimiter: str = ",",
    lines: Iterable[str] | None = None,
    quotes: bool = True,
) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the record's last line, fields) of a delimited file; skip blank lines."""
    if lines is None:
        lines = raw_lines(path, quiet)
    if not quotes:
        for number, text in enumerate(lines, 1):
            if text.strip("\r\n"):
                yield number, unquoted(text, delimiter)
        return
    line = 0
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        with long_cells():
            for record in reader:
                line = reader.line_num
                if record:
                    yield line, record
    except csv.Error as error:
        kind = "TSV" if delimiter != "," else "CSV"
        last = reader.line_num
        where = f"line {last}" if last <= line + 1 else f"lines {line + 1} to {last}"
        raise LopsError(
            f"{path}, {where}: not proper {kind} ({error}); "
            'quote fields that contain a quote, and double it: "say ""yes"" to it", or to lops '
            f"select give {typed('quotes', False)} if no field is quoted"
        ) from None


@dataclass
class TextBlock(LineBlock):
    """Rows of cells, all strings, in the order of the columns."""

    reading: Reading = field(default_factory=Reading)
    na: Mapping[int, frozenset[int]] = field(default_factory=dict)  # row -> missing cells

    def missing(self, name: str) -> dict[int, str]:
        """Return the cells of a column that are NA, NULL and such, without quotes."""
        if name in self.derived:
            return {}
        index = self.columns.index(name)
        return {row: self.rows[row][index] for row, places in self.na.items() if index in places}

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        index, rows = self.columns.index(column), list(self.rows)
        raw = None if self.raw is None else list(self.raw)
        for row, value in values.items():
            text = cell_text(value)
            rows[row] = [*rows[row][:index], text, *rows[row][index + 1 :]]
            if raw is not None:
                start, end = spans(raw[row], self.reading.delimiter, self.quotes)[index]
                quoted = self.quotes and raw[row].startswith('"', start)
                new = _written(text, self.reading.delimiter, self.quotes, quoted)
                raw[row] = f"{raw[row][:start]}{new}{raw[row][end:]}"
        return replace(self, rows=rows, raw=raw)

    @property
    def quotes(self) -> bool:
        """Whether quotes hold cells together."""
        return self.reading.quotes is not False


class Delimited(base.Format):
    """CSV or TSV."""

    packs = True
    names_differ = False

    def __init__(self, name: str, delimiter: str) -> None:
        self.name = self.native = name
        self.suffixes, self._delimiter = (f".{name}",), delimiter

    def start(self, path: Path, reading: Reading) -> Start:
        """Read the first lines: the delimiter, the header, and whether quotes hold cells."""
        with binary(path) as file:
            first = beginning(path, file, reading.encoding)
            most = FIRST + reading.header_row
            top = list(islice(text_lines(path, reading.encoding, True, file), most))
        row, delimiter = divided(top, reading, self._delimiter)
        reading, quotes = replace(reading, delimiter=delimiter), reading.quotes is not False
        records = csv_records(path, True, delimiter, without_title(top, row), quotes)
        last, names = next(records, (0, []))
        if not names:
            raise LopsError(f"{path} is empty; wanted a header with the names of the columns")
        if reading.quotes is None:
            some, whole = first_lines(path, reading.encoding, SCANNED)
            some = list(without_title(some, row))
            reading = replace(reading, quotes=pair(some, delimiter, str(path), whole))
        below = first_rows(top[last:], last, reading, len(top) == most)
        header, rows = header_of(chain([(last, names)], below))
        # R writes quotes; without them, a text with a comma looks the same.
        is_named = delimiter in "\t " or "".join(top[header.last :]).startswith('"')
        columns = with_row_names(names, [cells for _, cells in rows]) if is_named else names
        return Start(
            self.name,
            tuple(columns),
            reading,
            marked=first.startswith(codecs.BOM_UTF8),
            mark=first,
            header="".join(top[: header.last]),
            notes=header.notes,
        )

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        reading = start.reading
        lines = text_lines(path, reading.encoding, reading.quiet)
        for rows in in_blocks(_rows(path, start, lines)):
            numbers, cells, texts = zip(*rows, strict=True)
            na = {
                row: places
                for row, text in enumerate(texts)
                if text is not None and (places := _missing(text, reading))
            }
            raw = list(texts) if reading.raw else None
            yield TextBlock(path, numbers, start.columns, list(cells), reading, na, raw=raw)

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: base.Like, escape: bool
    ) -> base.Writer:
        """Return a writer; a file of the same format keeps its delimiter, and has no new quotes."""
        delimiter, quotes = self._delimiter, True
        if start.format == self.name:
            delimiter, quotes = start.reading.delimiter, start.reading.quotes is not False
        return TextRows(path, start, added, delimiter, escape, quotes)

    def copier(self, path: Path, start: Start) -> base.Writer:
        return RawRows(path, start)


def _rows(
    path: Path, start: Start, lines: Iterable[str]
) -> Iterator[tuple[int, list[str], str | None]]:
    reading, held = start.reading, None
    quotes, width = reading.quotes is not False, len(start.columns)
    first = next(iter(lines := iter(lines)), "")
    row, _ = divided([first], reading, reading.delimiter)
    lines, again = tee(chain([first], lines))
    below_title = without_title(lines, row)
    header, records = header_of(csv_records(path, True, reading.delimiter, below_title, quotes))
    last_line = header.last
    list(islice(again, last_line))
    for line, record in records:
        needs_text = reading.raw or not (reading.keep_na or NA.isdisjoint(record))
        raw, last_line = list(islice(again, line - last_line)), line
        text = "".join(raw) if needs_text else None
        cells = record if len(record) == width else _fitted(path, line, record, start.columns)
        if not reading.raw:
            yield line, cells, text
            continue
        if held is not None:
            yield held
        held = line, cells, str(text)
    if held is not None:
        yield held[0], held[1], held[2] + "".join(again)  # blank lines at the end


def _missing(text: str, reading: Reading) -> frozenset[int]:
    """Return the places of cells that are missing in words; in quotes they are texts."""
    cells = spans(text, reading.delimiter, reading.quotes is not False)
    return frozenset(index for index, (a, b) in enumerate(cells) if text[a:b] in NA)


def _fitted(path: Path, line: int, record: list[str], columns: Names) -> list[str]:
    """Return the cells of a row with more or fewer delimiters at its end than the header."""
    surplus, lacking = record[len(columns) :], columns[len(record) :]
    if any(surplus) or any(lacking):
        raise LopsError(
            f"{path}, line {line}: found {len(record)} fields; wanted {len(columns)}, as in the "
            "header; quote fields that contain the delimiter, or to lops select give "
            f"{typed('delimiter')}"
        )
    return record[: len(columns)] + [""] * len(lacking)


def _written(text: str, delimiter: str, quotes: bool, quoted: bool) -> str:
    special = delimiter in text or "\n" in text or "\r" in text
    if not quotes:
        if special:
            raise LopsError(
                f"{text!r:.60} holds the delimiter or a line break, and the file has no quotes; "
                "wanted another label"
            )
        return text
    if quoted or special or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text


class TextRows(base.Writer):
    """CSV or TSV in UTF-8, with a header and the input's byte order mark, if it has one.

    Cells that were text stay as they are.
    """

    def __init__(
        self,
        path: Path,
        start: Start,
        added: Sequence[str],
        delimiter: str,
        escape: bool,
        quotes: bool = True,
    ) -> None:
        self._columns, self._added = start.columns, list(added)
        self._escape = escape
        super().__init__(path, "utf-8-sig" if start.marked else "utf-8")
        self._write: Callable[[Iterable[str]], Any] = (
            storage.csv_writer(self._file, delimiter).writerow
            if quotes
            else lambda cells: self._file.write(delimiter.join(cells) + "\n")
        )
        self._write([*cell_texts(self._columns, escape), *self._added])

    def write(self, block: Block, rows: np.ndarray, added: base.Added) -> None:
        cells, new = block.records(self._columns), [added[name] for name in self._added]
        extra: Iterable[Sequence[Any]] = zip(*new, strict=True) if new else repeat((), len(rows))
        for row, added_cells in zip(rows.tolist(), extra, strict=True):
            self._write(cell_texts((*cells[row], *map(number_text, added_cells)), self._escape))
