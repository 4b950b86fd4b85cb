"""UTF-8 text files, also packed by gzip, line by line; errors name the line of a bad byte."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lops_adapters.console import progress
from lops_adapters.core import LopsError

# Reading this much takes about a second; a progress bar for less would only flicker.
BAR_FROM_BYTES = 64 * 2**20
_STEP = 2**20
# Text packs to a twentieth at best. What unpacks to more than both is made to fill the memory.
_LARGE, _RATIO = 2**28, 200


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn a system error about a path into a LopsError."""
    try:
        yield
    except OSError as error:
        found = error.filename if isinstance(error.filename, str) else path
        raise LopsError(
            f"{found}: cannot be read ({error.strerror or error}); give a readable file or folder"
        ) from None


def is_packed(path: Path) -> bool:
    """Return whether a file is packed by gzip, by its suffix."""
    return path.suffix.lower() == ".gz"


@contextmanager
def binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, unpacked if its name ends in .gz.

    Raises:
        LopsError: while reading, no or damaged gzip, or far more bytes than text unpacks to.

    """
    with path.open("rb") as file:
        if not is_packed(path):
            yield file
            return
        try:
            unpacked = gzip.GzipFile(fileobj=file)
            yield io.BufferedReader(_Unpacked(unpacked, path, path.stat().st_size))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise LopsError(f"{path} cannot be unpacked ({error}); wanted gzip") from None


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a file, within the limits of this module."""

    def __init__(self, file: gzip.GzipFile, path: Path, size: int) -> None:
        self._file, self._path, self._left = file, path, max(_LARGE, _RATIO * size)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        found = self._file.read(len(buffer))
        self._left -= len(found)
        if self._left < 0:
            raise LopsError(
                f"{self._path} unpacks to more than {_RATIO} times its size; if you trust it, "
                "unpack it yourself"
            )
        buffer[: len(found)] = found
        return len(found)


def raw_lines(path: Path, quiet: bool = False) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, packed or not, ends included, without a byte order mark.

    Only a line feed ends a line; a carriage return or another separator does not.

    Raises:
        LopsError: a byte is not UTF-8; the message names file and line.

    """
    size = path.stat().st_size
    hidden = quiet or size < BAR_FROM_BYTES or is_packed(path)
    with (
        binary(path) as file,
        progress(total=size, unit="B", unit_scale=True, desc=path.name, quiet=hidden) as bar,
    ):
        unseen = 0
        for number, raw in enumerate(file, 1):
            if number == 1:
                if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    raise LopsError(f"{path}: this is UTF-16; wanted UTF-8: save it as UTF-8")
                raw = raw.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise LopsError(
                    f"{path}, line {number}: byte 0x{raw[error.start]:02x} at position "
                    f"{error.start} of the line is not UTF-8; save the file as UTF-8"
                ) from None
            unseen += len(raw)
            if unseen >= _STEP:
                bar.update(unseen)
                unseen = 0
        bar.update(unseen)


def stripped_lines(path: Path, quiet: bool = False) -> list[str]:
    """Read a UTF-8 file as a list of stripped lines; blank lines stay."""
    return [line.strip() for line in raw_lines(path, quiet)]


def filled_lines(path: Path) -> list[str]:
    """Read a list of names or numbers, one per line; blank lines are allowed only at the end.

    Raises:
        LopsError: nothing in the file, or a blank line before the last entry.

    """
    lines = stripped_lines(path)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise LopsError(f"{path}: nothing in it; wanted one entry per line")
    if "" in lines:
        raise LopsError(f"{path}, line {lines.index('') + 1}: blank; wanted an entry in every line")
    return lines


def indices(path: Path, n_classes: int) -> list[int]:
    """Read class indices from 0 to ``n_classes`` - 1, one per line.

    Raises:
        LopsError: a line is not such a number; the message names file and line.

    """
    numbers = []
    for number, line in enumerate(filled_lines(path), 1):
        if not (line.isascii() and line.isdigit()) or int(line) >= n_classes:
            raise LopsError(
                f"{path}, line {number}: found {line!r}; "
                f"wanted a class index from 0 to {n_classes - 1}"
            )
        numbers.append(int(line))
    return numbers
