"""Files by name: patterns, formats, checksums, and errors while reading."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError

SUFFIXES = {  # of files to write
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
PACKED = ".gz"  # behind the suffix of a text file
SHEETS = (".xlsx", ".xlsm")  # read as CSV
STANDARD_INPUT = "-"
FORMATS = ("csv", "tsv", "jsonl", "parquet")
NOT_UTF8 = "a text that is not UTF-8 ({}); write the file again"
ALIKE = 0.85  # high, since a shared suffix alone makes two file names similar


def find(patterns: Sequence[str]) -> tuple[Path, ...]:
    """Return the files of names, folders and glob patterns, sorted within each.

    Of a folder, the files with a known suffix count, not those of folders in it.

    Raises:
        LopsError: no such file, a folder without tables, or a file given twice.

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
        inside = sorted(entry for entry in path.iterdir() if entry.is_file() and is_table(entry))
        if not inside:
            raise LopsError(
                f"{path} is a folder without tables; wanted files that end in one of {known()}"
            )
        return inside
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


def known() -> str:
    """Return the suffixes of files that can be read, for messages."""
    return ", ".join([*SUFFIXES, *SHEETS, "any of these with .gz"])


def is_table(path: Path) -> bool:
    """Return whether a file can be read, by its suffix; hidden files cannot."""
    hidden = path.name.startswith((".", "~$"))  # the latter: of an open spreadsheet
    return not hidden and (bare(path).suffix.lower() in (*SUFFIXES, *SHEETS))


def bare(path: Path) -> Path:
    """Return the name of a file without .gz.

    >>> str(bare(Path("rows.csv.gz"))), str(bare(Path("rows.parquet")))
    ('rows.csv', 'rows.parquet')
    """
    return path.with_suffix("") if path.suffix.lower() == PACKED else path


def is_sheet(path: Path) -> bool:
    """Return whether a file is a spreadsheet, by its suffix."""
    return path.suffix.lower() in SHEETS


def format_to_read(path: Path) -> str:
    """Return the format of a file to read, by its suffix; of a spreadsheet, csv.

    >>> format_to_read(Path("rows.jsonl.gz")), format_to_read(Path("rows.xlsx"))
    ('jsonl', 'csv')
    """
    suffix = bare(path).suffix.lower()
    kind = "csv" if suffix in SHEETS else SUFFIXES.get(suffix)
    if kind is None or (path != bare(path) and (kind == "parquet" or suffix in SHEETS)):
        raise LopsError(
            f"{path}: unknown suffix {path.suffix!r}; wanted one of {known()}; rename or unpack "
            "the file"
        )
    return kind


def format_of(path: Path, option: str) -> str:
    """Return the format of a file to write, by its suffix; ``option`` names it.

    >>> format_of(Path("rows.TSV"), "--output")
    'tsv'
    """
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise LopsError(
            f"{option} is {path}; wanted a name that ends in one of {', '.join(SUFFIXES)}"
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


def checksums(paths: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of files, by their names as given."""
    found = {}
    for path in paths:
        with reading(path), path.open("rb") as file:
            found[str(path)] = _digest(file)
    return found


def fingerprint(found: dict[str, str]) -> str:
    """Return one SHA-256 of :func:`checksums`: of one file its own, of several a joint one."""
    digests = list(found.values())
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _digest(file: Any) -> str:
    """Return the SHA-256 of an open file in pieces; hashlib.file_digest needs Python 3.11."""
    digest = hashlib.sha256()
    while chunk := file.read(2**20):
        digest.update(chunk)
    return digest.hexdigest()
