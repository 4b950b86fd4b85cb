"""Spreadsheets (.xlsx): sheets, their cells as a CSV file would have them; only read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from lops_adapters import extras
from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats import cells as values
from lops_adapters.formats.base import Block, Format, Names, Reading, Start, in_blocks
from lops_adapters.formats.cells import NA
from lops_adapters.formats.delimited import TextBlock
from lops_adapters.formats.headers import header_of
from lops_adapters.formats.lines import Unpacked
from lops_adapters.remote import opened

_LAST_ROW = 1_048_576  # of a spreadsheet
_BESIDE = 10_000_000  # empty cells beyond the others that are read, at most
_FIRST = 50  # rows that tell whether a sheet is empty
_END, _TAG = re.compile(rb"</(?:\w+:)?sheetData>"), 100  # bytes of the tag, at most
_MERGED = re.compile(rb'mergeCell [^>]{0,200}?ref="([A-Z]{1,3})(\d+):[A-Z]{1,3}(\d+)"')

Records = Iterator[tuple[int, list[str]]]


class SheetBlock(TextBlock):
    """Rows of a sheet."""

    unit = "row"

    @property
    def unpacked(self) -> int:
        return sum(len(cell) for row in self.rows for cell in row)


class Xlsx(Format):
    """Spreadsheets."""

    name = "xlsx"
    suffixes = (".xlsx", ".xlsm")
    unit = "row"
    native = "csv"

    def start(self, path: Path, reading: Reading) -> Start:
        """Read the header of every sheet that is asked for; they have to be the same."""
        start: Start | None = None
        for place, notes, records in _sheets(path, reading):
            header, _ = header_of(records, reading.header_row)
            columns = tuple(header.names)
            if not columns:
                raise LopsError(f"{place} is empty; wanted a header with the names of the columns")
            if start is not None and columns != start.columns:
                raise LopsError(
                    f"{place} has other columns than {reading.sheets[0]!r}: "
                    f"{listed(map(repr, columns))}, not {listed(map(repr, start.columns))}; give "
                    "sheets with the same columns"
                )
            start = start or Start(self.name, columns, reading, notes=(*notes, *header.notes))
        assert start is not None
        return start

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        for place, _, records in _sheets(path, start.reading):
            _, below = header_of(records, start.reading.header_row)
            for rows in in_blocks(_fitted(place, below, len(start.columns))):
                numbers, texts = zip(*rows, strict=True)
                na = {
                    row: frozenset(index for index, cell in enumerate(cells) if cell in NA)
                    for row, cells in enumerate(texts)
                    if not (start.reading.keep_na or NA.isdisjoint(cells))
                }
                yield SheetBlock(place, numbers, start.columns, list(texts), start.reading, na)


def _fitted(path: Path, records: Records, width: int) -> Records:
    """Yield rows of one width; LopsError: cells beyond the header that are not empty."""
    for number, cells in records:
        if len(cells) > width:
            raise LopsError(
                f"{path}, row {number}: found {len(cells)} cells; wanted {width}, as in the header"
            )
        yield number, cells + [""] * (width - len(cells))


def _sheets(path: Path, reading: Reading) -> Iterator[tuple[Path, tuple[str, ...], Records]]:
    openpyxl = extras.load("openpyxl", str(path))
    _check_size(path)
    with _damaged(path), opened(path) as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        with closing(book):
            sheets = {one.title: one for one in book.worksheets}
            unknown = [name for name in reading.sheets if name not in sheets]
            if unknown:
                known = ", ".join(map(repr, [*sheets][:30]))
                raise LopsError(f"{path} has no sheet {unknown[0]!r}; its sheets are {known}")
            if not sheets:
                raise LopsError(f"{path} has no sheet with cells")
            asked = reading.sheets or [*sheets][:1]
            notes = () if reading.sheets else _about_others(path, sheets)
            for name in asked:
                place = path.with_name(f"{path.name}, sheet {name!r}")
                yield place if len(asked) > 1 else path, notes, _records(sheets[name], path)


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    try:
        yield
    except (LopsError, GeneratorExit):
        raise
    except Exception as error:  # openpyxl and its parsers raise anything
        raise LopsError(
            f"{path} cannot be read as a spreadsheet ({error!s:.100}); save it again, or as CSV"
        ) from None


def _about_others(path: Path, sheets: Mapping[str, Any]) -> tuple[str, ...]:
    first, *others = sheets
    others = [name for name in others if any(any(row) for row in _first_rows(sheets[name]))]
    if not others:
        return ()
    return (
        f"{path.name}: sheet {first!r} of {len(sheets)}; not read: "
        f"{listed(map(repr, others), 10)}. Give {typed('sheet')}, once per sheet, to read others.",
    )


def _first_rows(sheet: Any) -> Iterator[Sequence[Any]]:
    sheet.reset_dimensions()
    return islice(sheet.iter_rows(values_only=True), _FIRST)


def _records(sheet: Any, path: Path) -> Records:
    """Yield (row number from 1, cells as text) of a sheet; skip empty rows.

    A merged cell holds for all its rows; empty cells at the end of a row are dropped.
    """
    with _damaged(path):
        sheet.reset_dimensions()  # rows are as wide as their last cell, not as the file says
        merged, held = _merged(sheet), dict[int, tuple[int, str]]()  # column -> last row, text
        width = beside = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            texts = [cell_text(value) for value in row]
            while texts and not texts[-1]:
                texts.pop()
            beside += max(0, len(row) - width) if width else 0
            width = max(width, len(texts))
            if number > _LAST_ROW or beside > _BESIDE:
                raise LopsError(
                    f"{path}, row {number}: cells far outside the table; save it as CSV"
                )
            for column, last in merged.get(number, ()):
                held[column] = last, texts[column] if column < len(texts) else ""
            if not texts:
                continue
            for column, (last, text) in held.items():
                if number <= last and text:
                    texts += [""] * (column + 1 - len(texts))
                    texts[column] = text
            yield number, texts


def _merged(sheet: Any) -> dict[int, list[tuple[int, int]]]:
    """Return first row -> (column from 0, last row) of the merged cells, which follow the rows.

    openpyxl reads them only together with all cells of a workbook.
    """
    rest, is_after = b"", False
    with sheet._get_source() as source:
        while part := source.read(2**20):
            rest += part
            if not is_after and (end := _END.search(rest)):
                rest, is_after = rest[end.end() :], True
            rest = rest if is_after else rest[-_TAG:]
    merged: dict[int, list[tuple[int, int]]] = {}
    for column, first, last in _MERGED.findall(rest):
        index = 0
        for letter in column:
            index = 26 * index + letter - ord("A") + 1
        merged.setdefault(int(first), []).append((index - 1, int(last)))
    return merged


def cell_text(value: Any) -> str:
    """Return a cell as text: whole numbers without a point, dates by ISO 8601.

    >>> [cell_text(value) for value in (None, 3, 3.0, 0.5, True, "a")]
    ['', '3', '3', '0.5', 'true', 'a']
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value.isoformat()) if hasattr(value, "isoformat") else values.cell_text(value)


def _check_size(path: Path) -> None:
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise LopsError(
            f"{path} cannot be read as a spreadsheet (no .xlsx file); is it text? "
            "Then rename it to .csv"
        ) from None
    Unpacked(path, "save it as CSV").count(size)
