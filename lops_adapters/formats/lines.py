"""Text files, also packed by gzip or zip, line by line; errors name the line of a bad byte."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

from lops_adapters.console import listed, progress, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import valid_text
from lops_adapters.remote import opened

# What unpacks to more than both is made to fill the memory: text packs to a twentieth at best.
LARGE, RATIO = 2**28, 200  # bytes, and times the size of the file
# Reading this much takes about a second; a progress bar for less would only flicker.
BAR_FROM_BYTES = 64 * 2**20
_STEP = 2**20
_NOTES = (".md", ".txt", ".pdf", ".html", "")  # in an archive, next to its table
_QUOTED = re.compile(r'"[^"]*"')
_BAD = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile)
_IN_RUNS = 0.8
_SCRIPTS = (
    ("cp932", "[\u3041-\u30fa]", 0.2),
    ("gb18030", "[\u4e00-\u9fff]", 0.9),
    ("cp1251", "[\u0400-\u04ff]", 0.9),
)
_WIDE = {  # 32 first: its little-endian mark begins like the mark of 16
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


class Unpacked:
    """Counts the unpacked bytes of a file."""

    def __init__(self, path: Path, way_out: str) -> None:
        self._path, self._way_out = path, way_out
        self._left = max(LARGE, RATIO * path.stat().st_size)

    def count(self, size: int) -> None:
        """Count bytes; a LopsError if all so far are too many."""
        self._left -= size
        if self._left < 0:
            raise LopsError(
                f"{self._path} unpacks to more than {RATIO} times its size; if you trust it, "
                f"{self._way_out}"
            )


def is_packed(path: Path) -> bool:
    """Return whether a file is packed by gzip or zip, by its suffix."""
    return path.suffix.lower() in (".gz", ".zip")


def unpacked_name(path: Path) -> Path:
    """Return the name of a packed file without .gz or .zip, with the suffix of what is in it.

    >>> unpacked_name(Path("rows.csv.gz")), unpacked_name(Path("rows.csv"))
    (PosixPath('rows.csv'), PosixPath('rows.csv'))
    """
    if not is_packed(path):
        return path
    bare = path.with_suffix("")
    if path.suffix.lower() == ".zip" and not bare.suffix and path.is_file():
        with (
            suppress(LopsError, OSError, zipfile.BadZipFile),
            opened(path) as file,
            zipfile.ZipFile(file) as archive,
        ):
            return bare.with_suffix(Path(_member(archive, path).filename).suffix)
    return bare


def _member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """Return the only table of an archive; notes next to it do not count."""
    files = [one for one in archive.infolist() if not one.is_dir()]
    files = [one for one in files if not re.search(r"(^|/)(\.|__MACOSX/)", one.filename)]
    tables = [one for one in files if Path(one.filename).suffix.lower() not in _NOTES]
    members = files if len(files) == 1 else tables
    if len(members) != 1:
        names = listed((one.filename for one in files), 5)
        raise LopsError(f"{path} holds {names}; wanted one table: unpack it and give its files")
    return members[0]


@contextmanager
def binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, unpacked if its name ends in .gz or .zip."""
    with opened(path) as file:
        if not is_packed(path):
            yield file
            return
        kind = "zip" if path.suffix.lower() == ".zip" else "gzip"
        try:
            with ExitStack() as stack:
                if kind == "gzip":
                    unpacked: IO[bytes] = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
                else:
                    unpacked = stack.enter_context(_opened(zipfile.ZipFile(file), path))
                yield io.BufferedReader(_Limited(unpacked, Unpacked(path, "unpack it yourself")))
        except _BAD as error:
            raise LopsError(f"{path} cannot be unpacked ({error}); wanted {kind}") from None


def _opened(archive: zipfile.ZipFile, path: Path) -> IO[bytes]:
    try:
        return archive.open(_member(archive, path))
    except RuntimeError as error:  # a password, or an unknown compression
        raise LopsError(f"{path} cannot be unpacked ({error}); unpack it yourself") from None


class _Limited(io.RawIOBase):
    def __init__(self, file: IO[bytes], limit: Unpacked) -> None:
        self._file, self._limit = file, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        self._limit.count(len(content))
        buffer[: len(content)] = content
        return len(content)


def raw_lines(path: Path, quiet: bool = False, opened: IO[bytes] | None = None) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, packed or not, ends included, without a byte order mark.

    Only a line feed ends a line; a carriage return or another separator does not. ``opened``: the
    file, if it is open already.
    """
    size = path.stat().st_size
    hidden = quiet or size < BAR_FROM_BYTES or is_packed(path)
    with (
        nullcontext(opened) if opened else binary(path) as file,
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


def first_lines(path: Path, encoding: str, most: int) -> tuple[list[str], bool]:
    """Return the lines in the first bytes of a text file, and whether these are all its lines."""
    with binary(path) as file:
        content = file.read(most)
        whole = not file.read(1)
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        content = content if whole else content[: content.rfind(b"\n") + 1]
        with suppress(UnicodeDecodeError):  # at once: several times faster than line by line
            lines = io.StringIO(content.decode("utf-8-sig"), newline="\n")
            return list(_ended(lines)), whole
    some: list[str] = []
    for line in text_lines(path, encoding, True):
        most -= len(line)
        if most < 0:
            return some, False
        some.append(line)
    return some, True


def encoding_of(path: Path, usual: str = "utf-8") -> str:
    """Return the encoding of a small file: by its mark, else UTF-8, ``usual`` or cp1252."""
    with binary(path) as file:
        content = file.read()
    for wide, marks in _WIDE.items():
        if content.startswith(marks):
            return wide
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252" if codecs.lookup(usual).name in ("utf-8", "utf-8-sig") else usual
    return "utf-8"


def likely(path: Path) -> str:
    """Return the encoding that a text which is not UTF-8 probably has, by its first bytes.

    Bytes above 127 come in pairs and longer runs in Chinese, Japanese and Russian, and alone in
    other European languages.
    """
    with binary(path) as file:
        content = file.read(_STEP)
    runs = re.findall(rb"[\x80-\xff]+", content)
    high = sum(map(len, runs))
    if sum(len(run) for run in runs if len(run) > 1) > _IN_RUNS * high:
        for encoding, script, share in _SCRIPTS:
            text = content.decode(encoding, "replace")
            letters = re.sub(r"[\x00-\x7f\W_]", "", text)
            if text.count("\ufffd") < 2 and len(re.findall(script, letters)) > share * len(letters):
                return encoding  # one bad character: where the first bytes end
    return "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", content) else "cp1252"


def beginning(path: Path, opened: Any, encoding: str) -> bytes:
    """Return the first bytes of an open file, enough for a byte order mark; they stay there."""
    first: bytes = opened.peek(4)[:4]
    name = codecs.lookup(encoding).name
    marked = next((wide for wide, marks in _WIDE.items() if first.startswith(marks)), None)
    if marked is None and name in ("utf-8", "utf-8-sig") and b"\0" in first:
        wide = "utf-16-be" if first.startswith(b"\0") else "utf-16-le"
        raise LopsError(
            f"{path} begins with zero bytes, as UTF-16 does; save it as UTF-8, or to lops select "
            f"give {typed('encoding', wide)}"
        )
    if marked is not None and not name.startswith(marked):
        raise LopsError(
            f"{path} begins with the byte order mark of {marked.upper()} and would be read as "
            f"{name}; save it as UTF-8, or to lops select give {typed('encoding', marked)}"
        )
    return first


def text_lines(
    path: Path, encoding: str, quiet: bool, opened: IO[bytes] | None = None
) -> Iterator[str]:
    """Yield the lines of a text file with their ends.

    Only a line feed ends a line, or a carriage return if one ends the first line, as in CSV of
    older spreadsheets. ``opened``: the file, if it is open already.
    """
    return _ended(_decoded(path, encoding, quiet, opened))


def _ended(lines: Iterator[str]) -> Iterator[str]:
    """Return lines, cut at carriage returns if one ends the first line."""
    first = next(lines, "")
    again = chain([first] if first else [], lines)
    if "\r" in first[:-2] and "\r" in _QUOTED.sub("", first).rstrip("\r\n"):
        return chain.from_iterable(io.StringIO(line, newline="") for line in again)
    return again


def _decoded(
    path: Path, encoding: str, quiet: bool, opened: IO[bytes] | None = None
) -> Iterator[str]:
    """Yield the lines of a text file with their ends; only a line feed ends a line."""
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        try:
            yield from raw_lines(path, quiet, opened)
        except LopsError as error:
            raise LopsError(
                f"{error}, or to lops select give its encoding, probably "
                f"{typed('encoding', likely(path))}"
            ) from None
        return
    number = 0
    try:
        with (
            nullcontext(opened) if opened else binary(path) as raw,
            io.TextIOWrapper(raw, encoding, newline="\n") as file,
        ):
            for number, line in enumerate(file, 1):  # noqa: B007 (for the message)
                yield valid_text(line)
    except UnicodeError as error:
        where = f"{path}, after line {number}" if number else f"{path}"
        raise LopsError(
            f"{where}: bytes that are not {encoding} ({error}); give another {typed('encoding')}"
        ) from None
