"""Files by name: patterns, checksums, and errors while reading."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from glob import glob
from pathlib import Path

from lops_adapters import formats
from lops_adapters.core import LopsError
from lops_adapters.formats.plain_text import texts_in
from lops_adapters.remote import is_remote, located, matching, opened

STANDARD_INPUT = "-"
NOT_UTF8 = "a text that is not UTF-8 ({}); write the file again"
ALIKE = 0.85  # high, since a shared suffix alone makes two file names similar


def find(patterns: Sequence[str]) -> tuple[Path, ...]:
    """Return the files of names, folders and glob patterns, sorted within each.

    Of a folder, the files with a known suffix count, not the files of folders in it.
    """
    paths: list[Path] = []
    for pattern in patterns:
        check_name(pattern)
        with reading(located(pattern)):
            paths += _matching(pattern)
    twice = [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]
    if twice:
        raise LopsError(f"{twice[0]} is given twice; give every file once")
    return tuple(paths)


def check_name(name: str) -> None:
    """Raise a LopsError about a name that no file can have."""
    try:
        fine = "\0" not in name and bool(os.fsencode(name))
    except UnicodeEncodeError:
        fine = False
    if not fine:
        raise LopsError(f"{name!a:.200} cannot be the name of a file; give another one")


def _matching(pattern: str) -> list[Path]:
    path = located(pattern)
    if path.is_dir():
        inside = sorted(entry for entry in path.iterdir() if entry.is_file() and is_table(entry))
        if not inside and texts_in(path):
            return [path]
        if not inside:
            raise LopsError(
                f"{path} is a folder without tables; wanted files that end in one of "
                f"{', '.join(formats.suffixes())}, or a folder of .txt files per class"
            )
        return inside
    if path.is_file():
        return [path]
    if is_remote(path):
        paths = matching(path)
    else:
        names = glob(str(path), recursive=True)
        paths = sorted(Path(name) for name in names if Path(name).is_file())
    if not paths and path.exists():
        raise LopsError(
            f"{path} is a pipe or a device, and tables are read twice; wanted a file, or "
            f"{STANDARD_INPUT} for standard input"
        )
    if not paths:
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, names, n=1, cutoff=ALIKE)
        if near:
            raise LopsError(f"{pattern}: no such file; did you mean {path.parent / near[0]}?")
        where = ", or out of reach" if is_remote(path) else f" (from {Path.cwd()})"
        raise LopsError(f"{pattern}: no such file{where}")
    return paths


def is_table(path: Path) -> bool:
    """Return whether a file of a folder is a table, by its suffix and start; not if hidden."""
    if path.name.startswith((".", "~$")):  # the latter: of an open spreadsheet
        return False
    format = formats.of_suffix(path)
    return format is not None and format.counts(path)


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
    sums = {}
    for path in paths:
        digest = hashlib.sha256()
        with reading(path):
            for one in _inside(path):
                if one != path:
                    digest.update(os.fsencode(f"{one.relative_to(path).as_posix()}\0"))
                with opened(one) as file:  # hashlib.file_digest needs Python 3.11
                    while chunk := file.read(2**20):
                        digest.update(chunk)
        sums[str(path)] = digest.hexdigest()
    return sums


def states(paths: Sequence[Path]) -> dict[str, tuple[int, int]]:
    """Return bytes and time of change of files, by their names as given."""
    states = {}
    for path in paths:
        with reading(path):
            about = [one.stat() for one in _inside(path)]
            last = max((one.st_mtime_ns for one in about), default=0)
            states[str(path)] = sum(one.st_size for one in about), last
    return states


def _inside(path: Path) -> list[Path]:
    return texts_in(path) if path.is_dir() else [path]


def changed(paths: Sequence[Path]) -> LopsError:
    """Return the error about input that is not the same in both passes."""
    named = ", ".join(map(str, paths[:3])) + (" and others" if len(paths) > 3 else "")
    return LopsError(
        f"the input changed during the run ({named}); nothing was written; "
        "run again when nothing else writes to it"
    )


def fingerprint(checksums: dict[str, str]) -> str:
    """Return one SHA-256 of :func:`checksums`: of one file its own, of several a joint one."""
    digests = list(checksums.values())
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()
