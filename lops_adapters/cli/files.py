"""Files by their names: which of them are meant, of which format they are, and whether they can be
read.
"""

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
ALIKE = 0.85  # of names with their suffixes, which make the names of two tables alike by themselves


def find(patterns: Sequence[str]) -> tuple[Path, ...]:
    """Return the files of names and glob patterns, sorted within a pattern.

    Raises:
        LopsError: no such file, a folder, or a file named twice.

    """
    paths: list[Path] = []
    for pattern in patterns:
        with reading(Path(pattern)):
            paths += _matching(pattern)
    twice = [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]
    if twice:
        raise LopsError(f"{twice[0]} is named twice; name every file once")
    return tuple(paths)


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        raise LopsError(f"{path} is a folder; name its files, for instance '{path}/*.csv'")
    if path.is_file():
        return [path]
    found = sorted(Path(name) for name in glob(pattern, recursive=True) if Path(name).is_file())
    if not found:
        near = (
            get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1, cutoff=ALIKE)
            if path.parent.is_dir()
            else []
        )
        raise LopsError(
            f"{pattern}: no such file"
            + (f"; did you mean {path.parent / near[0]}?" if near else f" (from {Path.cwd()})")
        )
    return found


def format_of(path: Path, option: str | None = None) -> str:
    """Return the format of a file by its suffix; ``option`` names the file where it is one to
    write.

    >>> format_of(Path("rows.TSV"))
    'tsv'
    """
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None and option is not None:
        raise LopsError(
            f"{option} is {path}; wanted a name that ends in one of {', '.join(SUFFIXES)}"
        )
    if kind is None:
        raise LopsError(
            f"{path}: the suffix {path.suffix!r} is unknown; wanted one of {', '.join(SUFFIXES)}: rename or unpack the file"
        )
    return kind


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Make what the system says of a file that cannot be read a LopsError."""
    try:
        yield
    except OSError as error:
        raise LopsError(f"cannot read {path}: {error.strerror or error}") from None
