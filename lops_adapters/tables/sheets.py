"""Spreadsheets (.xlsx): one sheet, its cells as a CSV file would have them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed

_LARGE, _RATIO = 2**28, 200  # unpacked bytes, and times the size, that no table reaches


def sheet_records(path: Path, sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number from 1, cells as text) of a sheet; skip empty rows.

    Cells beyond the header's last are dropped if they are empty, missing ones are empty.

    Args:
        path: of the file.
        sheet: its name; None: the first.

    Raises:
        LopsError: openpyxl is missing, no spreadsheet, an unknown sheet, or cells beyond the
            header.

    """
    openpyxl = extras.load("openpyxl", str(path))
    _check_size(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise LopsError(f"{path} cannot be read as a spreadsheet ({error!s:.100})") from None
    try:
        names = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in names:
            raise LopsError(
                f"{path} has no sheet {sheet!r}; its sheets are {listed(map(repr, names))}"
            )
        if not names:
            raise LopsError(f"{path} has no sheet with cells")
        width = 0
        for number, row in enumerate(book[sheet or names[0]].iter_rows(values_only=True), 1):
            cells = [cell_text(value) for value in row]
            while cells and not cells[-1]:
                cells.pop()
            if not cells:
                continue
            width = width or len(cells)
            if len(cells) > width:
                raise LopsError(
                    f"{path}, row {number}: found {len(cells)} cells; wanted {width}, as in the "
                    "header"
                )
            yield number, cells + [""] * (width - len(cells))
    finally:
        book.close()


def cell_text(value: Any) -> str:
    """Return a cell as text: whole numbers without a point, dates by ISO 8601.

    >>> [cell_text(value) for value in (None, 3, 3.0, 0.5, True, "a")]
    ['', '3', '3', '0.5', 'true', 'a']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _check_size(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile:
        raise LopsError(f"{path} cannot be read as a spreadsheet (no .xlsx file)") from None
    if size > max(_LARGE, _RATIO * path.stat().st_size):
        raise LopsError(
            f"{path} unpacks to more than {_RATIO} times its size; if you trust it, save it as CSV"
        )
