"""Files by name: patterns, formats, and errors while reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from glob import glob
from pathlib import Path

from lops_adapters.core import LopsError

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
FORMATS = ("csv", "tsv", "jsonl", "parquet")
NOT_UTF8 = "a text that is not UTF-8 ({}); write the file again"
ALIKE = 0.85  # high, since a shared suffix alone makes two file names similar


def find(patterns: Sequence[str]) -> tuple[Path, ...]:
    """Return the files of names and glob patterns, sorted within a pattern.

    Raises:
        LopsError: no such file, a folder, or a file given twice.

    """
    paths: list[Path] = []
    for pattern in patterns:
        with reading(Path(pattern)):
            paths += _matching(pattern)
    twice = [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]
    if twice:
        raise LopsError(f"{twice[0]} is given twice; give every file once")
    return tuple(paths)


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        raise LopsError(f"{path} is a folder; give its files, for example '{path}/*.csv'")
    if path.is_file():
        return [path]
    found = sorted(Path(name) for name in glob(pattern, recursive=True) if Path(name).is_file())
    if not found:
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, names, n=1, cutoff=ALIKE)
        if near:
            raise LopsError(f"{pattern}: no such file; did you mean {path.parent / near[0]}?")
        raise LopsError(f"{pattern}: no such file (from {Path.cwd()})")
    return found


def format_of(path: Path, option: str | None = None) -> str:
    """Return the format of a file by its suffix; for a file to write, ``option`` names it.

    >>> format_of(Path("rows.TSV"))
    'tsv'
    """
    kind = SUFFIXES.get(path.suffix.lower())
    known = ", ".join(SUFFIXES)
    if kind is None and option is not None:
        raise LopsError(f"{option} is {path}; wanted a name that ends in one of {known}")
    if kind is None:
        raise LopsError(
            f"{path}: unknown suffix {path.suffix!r}; wanted one of {known}; "
            "rename or unpack the file"
        )
    return kind


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn a system error about a file that cannot be read into a LopsError."""
    try:
        yield
    except OSError as error:
        raise LopsError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:  # in Parquet
        raise LopsError(f"cannot read {path}: {NOT_UTF8.format(error)}") from None
