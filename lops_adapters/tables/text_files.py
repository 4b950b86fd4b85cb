"""Text files of a table: their encoding, lines and JSON objects, with the place of every error."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.datasets.lines import binary, raw_lines
from lops_adapters.tables.repairs import valid_text

WIDE = {  # 32 first: its little-endian mark begins like the mark of 16
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


def first_bytes(path: Path) -> bytes:
    """Return the first four bytes of a file, enough for a byte order mark."""
    with binary(path) as file:
        return file.read(4)


def check_wide(path: Path, encoding: str) -> None:
    """Raise a LopsError if the byte order mark of a file contradicts the encoding."""
    start, name = first_bytes(path), codecs.lookup(encoding).name
    found = next((wide for wide, marks in WIDE.items() if start.startswith(marks)), None)
    if found is not None and not name.startswith(found):
        raise LopsError(
            f"{path} begins with the byte order mark of {found.upper()} and would be read as "
            f"{name}; give --encoding {found}"
        )


def text_lines(path: Path, encoding: str, quiet: bool) -> Iterator[str]:
    """Yield the lines of a text file with their ends; only a line feed ends a line.

    Raises:
        LopsError: bytes that are not valid in the encoding, with the line.

    """
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        try:
            yield from raw_lines(path, quiet)
        except LopsError as error:
            raise LopsError(
                f"{error}, or give its encoding, for example --encoding cp1252"
            ) from None
        return
    number = 0
    try:
        with binary(path) as raw, io.TextIOWrapper(raw, encoding, newline="\n") as file:
            for number, line in enumerate(file, 1):  # noqa: B007 (for the message)
                yield valid_text(line)
    except UnicodeError as error:
        where = f"{path}, after line {number}" if number else f"{path}"
        raise LopsError(
            f"{where}: bytes that are not {encoding} ({error}); give another --encoding"
        ) from None


def json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """Return the JSON object of a line; raise a LopsError if it is not one."""
    wanted = "wanted one JSON object per line"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError: also of thousands of digits
        raise LopsError(f"{path}, line {number}: not JSON ({error}); {wanted}") from None
    if not isinstance(record, dict):
        raise LopsError(f"{path}, line {number}: found {record!r:.80}; {wanted}")
    return record
