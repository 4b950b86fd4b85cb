"""Standard input as a file: stored for the passes over it, its format recognised by its start."""

import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.formats.files import STANDARD_INPUT, find

NAME = "standard input"
_START = 2**16  # bytes that tell the format


@contextmanager
def given(patterns: Sequence[str]) -> Iterator[tuple[Path, ...]]:
    """Yield the files of names and patterns; ``-`` is standard input, stored until the end.

    Raises what :func:`~lops_adapters.formats.files.find` raises, and a LopsError if standard input
    is empty or given next to files.
    """
    if STANDARD_INPUT not in patterns:
        yield find(patterns)
        return
    if list(patterns) != [STANDARD_INPUT]:
        raise LopsError(f"found {STANDARD_INPUT} next to files; give standard input alone")
    with tempfile.TemporaryDirectory(prefix="lops-") as folder:
        path = _stored(Path(folder))
        try:
            yield (path,)
        except LopsError as error:
            raise LopsError(str(error).replace(str(path), NAME)) from None


def named(patterns: Sequence[str], paths: Sequence[Path]) -> str:
    """Return the names of the files, at most three of them."""
    if STANDARD_INPUT in patterns:
        return NAME
    rest = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(map(str, paths[:3])) + rest


def _stored(folder: Path) -> Path:
    if sys.stdin is None or sys.stdin.isatty():
        raise LopsError(
            "standard input is a terminal; pipe a table into the command, such as '< rows.jsonl'"
        )
    stream = sys.stdin.buffer
    path = folder / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file)
    with path.open("rb") as file:
        start = file.read(_START)
    if not start:
        raise LopsError("standard input is empty; wanted a table")
    return path.rename(folder / f"stdin{suffix_of(start)}")


def suffix_of(start: bytes) -> str:
    r"""Return the suffix of a table's format, by its first bytes.

    JSONL begins with an object, JSON with an array, fastText's lines with a label; TSV has a tab
    in its first line; other text is CSV.

    >>> suffix_of(b'{"a": 1}'), suffix_of(b"a\tb\n1\t2"), suffix_of(b"a;b"), suffix_of(b"PAR1")
    ('.jsonl', '.tsv', '.csv', '.parquet')
    """
    if start.startswith(b"\x1f\x8b"):
        return f"{suffix_of(_unpacked(start))}.gz"
    if start.startswith(b"PAR1"):
        return ".parquet"
    if start.startswith(b"PK\x03\x04"):
        return ".xlsx"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    for first, suffix in ((b"{", ".jsonl"), (b"[", ".json"), (b"__label__", ".txt")):
        if text.startswith(first):
            return suffix
    return ".tsv" if b"\t" in text.split(b"\n", 1)[0] else ".csv"


def _unpacked(start: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, _START)
    except zlib.error:
        raise LopsError(f"{NAME} cannot be unpacked; wanted gzip") from None
