"""Spreadsheets (.xlsx): one sheet, its cells as a CSV file would have them; only read."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.formats import cells as values
from lops_adapters.formats.base import Block, Format, Names, Reading, Start, in_blocks
from lops_adapters.formats.cells import NA
from lops_adapters.formats.delimited import TextBlock
from lops_adapters.formats.limits import Unpacked

_LAST_ROW = 1_048_576  # of a spreadsheet
_BESIDE = 10_000_000  # empty cells beyond the header that are read, at most


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
        _, header = next(sheet_records(path, reading.sheet), (0, []))
        if not header:
            raise LopsError(f"{path} is empty; wanted a header with the names of the columns")
        return Start(self.name, tuple(header), reading)

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        records = sheet_records(path, start.reading.sheet)
        next(records, None)  # the header
        for rows in in_blocks(records):
            numbers, texts = zip(*rows, strict=True)
            na = {
                row: frozenset(index for index, cell in enumerate(cells) if cell in NA)
                for row, cells in enumerate(texts)
                if not (start.reading.keep_na or NA.isdisjoint(cells))
            }
            yield SheetBlock(path, numbers, start.columns, list(texts), start.reading, na)


def sheet_records(path: Path, sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number from 1, cells as text) of a sheet; skip empty rows.

    Cells beyond the header's last are dropped if they are empty, missing ones are empty.

    Args:
        path: of the file.
        sheet: its name; None: the first.

    Raises a LopsError: openpyxl is missing, no spreadsheet or a damaged one, an unknown sheet, or
    cells beyond the header.
    """
    openpyxl = extras.load("openpyxl", str(path))
    _check_size(path)
    try:
        with path.open("rb") as file:
            yield from _records(openpyxl, file, path, sheet)
    except (LopsError, GeneratorExit):
        raise
    except Exception as error:  # openpyxl and its parsers raise anything
        raise LopsError(
            f"{path} cannot be read as a spreadsheet ({error!s:.100}); save it again, or as CSV"
        ) from None


def _records(
    openpyxl: Any, file: IO[bytes], path: Path, sheet: str | None
) -> Iterator[tuple[int, list[str]]]:
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        names = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in names:
            known = ", ".join(map(repr, names[:30]))
            raise LopsError(f"{path} has no sheet {sheet!r}; its sheets are {known}")
        if not names:
            raise LopsError(f"{path} has no sheet with cells")
        chosen = book[sheet or names[0]]
        chosen.reset_dimensions()  # rows are as wide as their last cell, not as the file says
        width = beside = 0
        for number, row in enumerate(chosen.iter_rows(values_only=True), 1):
            beside += max(0, len(row) - width) if width else 0
            if number > _LAST_ROW or beside > _BESIDE:
                raise LopsError(
                    f"{path}, row {number}: cells far outside the table; save it as CSV"
                )
            texts = [cell_text(value) for value in row]
            while texts and not texts[-1]:
                texts.pop()
            if not texts:
                continue
            width = width or len(texts)
            if len(texts) > width:
                raise LopsError(
                    f"{path}, row {number}: found {len(texts)} cells; wanted {width}, as in the "
                    "header"
                )
            yield number, texts + [""] * (width - len(texts))
    finally:
        book.close()


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
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise LopsError(f"{path} cannot be read as a spreadsheet (no .xlsx file)") from None
    Unpacked(path, "save it as CSV").count(size)
