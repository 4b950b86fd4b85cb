"""Where a command writes: nothing that is not its own is replaced, and nothing stands there half."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lops_adapters.cli.files import FORMATS, reading
from lops_adapters.cli.rows import Rows
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.runs.folder import surroundings

PAGES = ("config.json", "summary.json", "comparison.json", "report.html")
WRITTEN = {*PAGES, *(f"{part}.{kind}" for part in ("kept", "rejected") for kind in FORMATS)}
LEFT_BY_DESKTOPS = {
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
}  # looking at a folder is enough to have them in it


def check_folder(folder: Path, command: str, force: bool, inputs: Iterable[Path]) -> Path:
    """Return the folder a command may write, or raise a LopsError.

    Args:
        folder: need not exist.
        command: ``select`` or ``compare``; only a folder that the same command wrote, and that
            holds nothing else, is replaced.
        force: replace what is there.
        inputs: files that are read.

    """
    for path in inputs:
        if folder.resolve() in path.resolve().parents and folder.exists():
            raise LopsError(
                f"{path} is read and lies in {folder}, which would be replaced; give another --output"
            )
    if folder.is_dir() and any(folder.iterdir()):
        if not force:
            raise LopsError(
                f"{folder} is there already; give --force to replace it, or another --output"
            )
        if written_by(folder) != command:
            raise LopsError(
                f"{folder} was not written by lops {command}, so --force does not replace it; give another --output"
            )
        others = sorted(
            entry.name for entry in folder.iterdir() if entry.name not in WRITTEN | LEFT_BY_DESKTOPS
        )
        if others:
            raise LopsError(
                f"{folder} holds what lops {command} did not write ({listed(map(repr, others))}), so --force does not replace it; "
                "move that elsewhere, or give another --output"
            )
        check_writable(folder, "--output")  # what is in it goes when it is replaced
    elif folder.exists() and not folder.is_dir():
        raise LopsError(f"{folder} is there and is no folder; give another --output")
    check_writable(folder.absolute().parent, "--output")
    return folder


def check_file(path: Path, option: str, force: bool, inputs: Iterable[Path]) -> Path:
    """Return the file a command may write, or raise a LopsError."""
    if path.resolve() in {given.resolve() for given in inputs}:
        raise LopsError(f"{option} is {path}, which is read; give another name")
    if path.is_dir():
        raise LopsError(f"{option} is {path}, which is a folder; wanted a file's name")
    if path.exists() and not force:
        raise LopsError(f"{path} is there already; give --force to replace it, or another {option}")
    if not path.resolve().parent.is_dir():
        raise LopsError(
            f"{option} is {path}, and there is no folder {path.resolve().parent}; make it first"
        )
    check_writable(path.resolve().parent, option)
    return path


def check_writable(folder: Path, option: str) -> None:
    """Raise a LopsError where no file can be made in a folder, or in the nearest that is there, in
    which it would be made.
    """
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise LopsError(
            f"cannot write into {there} ({error.strerror}); give another {option}"
        ) from None


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Name what is written where writing fails, and not the temporary file that was to become it."""
    try:
        yield
    except OSError as error:
        raise LopsError(f"cannot write {place}: {error.strerror or error}") from None


def written_by(folder: Path) -> str | None:
    """Return the command that wrote a folder, by its ``config.json``; None where that says nothing."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name = config.get("framework") if isinstance(config, dict) else None
    return name if isinstance(name, str) else None


def checksums(paths: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of files, by their names as given."""
    found = {}
    for path in paths:
        with reading(path), path.open("rb") as file:
            found[str(path)] = _digest(file)
    return found


def _digest(file: Any) -> str:
    """SHA-256 of an open file, a piece at a time: hashlib.file_digest needs Python 3.11."""
    digest = hashlib.sha256()
    while chunk := file.read(2**20):
        digest.update(chunk)
    return digest.hexdigest()


def dataset(rows: Rows, checksums: dict[str, str]) -> dict[str, Any]:
    """Return what ``config.json`` says of the data."""
    return {
        "documents": len(rows.texts),
        "rows": len(rows.labelled),
        "classes": sorted(rows.values),
        "sha256": checksums,
    }


def describe(
    command: str, settings: dict[str, Any], seed: int, data: dict[str, Any], device: str
) -> dict[str, Any]:
    """Return the contents of ``config.json``, with the keys that every run folder has."""
    return {
        "framework": command,
        "settings": settings,
        "seed": seed,
        "dataset": data,
        "device": device,
        "command": " ".join(["lops", command, *sys.argv[2:]]),
        **surroundings(),
    }
