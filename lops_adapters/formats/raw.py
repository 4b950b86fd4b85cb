"""Rows of text formats, written byte for byte as they were read."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.base import Added, Block, Start, Writer

_MARKED = {
    "utf-8": {codecs.BOM_UTF8: "utf-8"},
    "utf-8-sig": {codecs.BOM_UTF8: "utf-8"},
    "utf-16": {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"},
    "utf-32": {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"},
}
_UNMARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


class RawRows(Writer):
    """Rows of blocks that hold their text, in the encoding and with the header of the input."""

    def __init__(self, path: Path, start: Start) -> None:
        mark, self._codec = _encoding(start)
        ends = (one for one in ("\r\n", "\r") if start.header.endswith(one))
        self._ends = next(ends, "\n")
        self._before = ""  # what was written last
        self._file = path.open("wb")
        self._file.write(mark)
        self._put(start.header)

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block; ``added`` is empty."""
        assert block.raw is not None
        for row in rows.tolist():
            self._put(block.raw[row])

    def _put(self, text: str, joined: bool = False) -> None:
        """Write a text, on a new line if it is not ``joined`` to what stands before."""
        if not joined and self._before and not self._before.endswith(("\n", "\r")):
            text = f"{self._ends}{text}"
        try:
            self._file.write(text.encode(self._codec))
        except UnicodeEncodeError as error:
            raise LopsError(
                f"{text[error.start : error.end]!r:.60} has no place in {self._codec}, the "
                "encoding of the table; wanted another label, or convert the table to UTF-8"
            ) from None
        self._before = text or self._before


def _encoding(start: Start) -> tuple[bytes, str]:
    name = codecs.lookup(start.reading.encoding).name
    for mark, codec in _MARKED.get(name, {}).items():
        if start.mark.startswith(mark):
            return mark, codec
    return b"", _UNMARKED.get(name, name)
