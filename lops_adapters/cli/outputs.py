"""Where a command writes: only its own earlier output is replaced, and only by complete output."""

import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lops_adapters import remote
from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats import WRITTEN
from lops_adapters.formats.files import check_name
from lops_adapters.storage import check_writable
from lops_adapters.tables.parts import CORRECTED, DUPLICATES, PARTS, SEND_BACK, SOURCES, TO_CHECK

PAGES = ("config.json", "summary.json", "agreement.json", "report.html")
NAMES = {
    *PAGES,
    DUPLICATES,
    TO_CHECK,
    SOURCES,
    SEND_BACK,
    *(f"{part}.{kind}" for part in PARTS.keys() - {CORRECTED} for kind in WRITTEN),
    *(PARTS.keys() - {CORRECTED}),  # folders, by --engine ray
}
LEFT_BY_DESKTOPS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # appear when a folder is viewed


def check_folder(folder: Path, command: str, force: bool, inputs: Iterable[Path]) -> None:
    """Raise a LopsError if a command may not, or cannot, write a folder, which need not exist.

    Only a folder that the same command wrote, and that holds nothing else, is replaced, by
    ``force``. No input may be in it.
    """
    if remote.is_remote(folder):
        _check_remote_folder(folder, command, force)
        return
    resolved = resolve(folder, "--output")
    for path in inputs:
        if resolved in path.resolve().parents and folder.exists():
            raise LopsError(
                f"the input {path} is in the output folder {folder}; move it, or give another "
                "--output"
            )
    if folder.is_dir() and any(folder.iterdir()):
        if not force:
            raise LopsError(
                f"{folder} already exists; give --force to replace it, or another --output"
            )
        if written_by(folder) != command:
            raise LopsError(
                f"{folder} was not written by lops {command}, so --force does not replace it; "
                "give another --output"
            )
        others = sorted(
            entry.name for entry in folder.iterdir() if entry.name not in NAMES | LEFT_BY_DESKTOPS
        )
        if others:
            raise LopsError(
                f"{folder} holds files that lops {command} did not write "
                f"({listed(map(repr, others))}), so --force does not replace it; "
                "move them, or give another --output"
            )
        check_writable(folder, "give another --output")
    elif folder.exists() and not folder.is_dir():
        raise LopsError(f"{folder} is a file; wanted a folder; give another --output")
    check_writable(folder.absolute().parent, "give another --output")


def _check_remote_folder(folder: Path, command: str, force: bool) -> None:
    """Check that a command may write a folder of a store; what it has not written stays there."""
    if (folder / remote.MANIFEST).exists():
        if not force:
            raise LopsError(
                f"{folder} already holds output; give --force to replace it, or another --output"
            )
        if written_by(remote.complete(folder)) != command:
            raise LopsError(
                f"{folder / remote.MANIFEST} was not written by lops {command}, so --force does "
                "not replace it; give another --output"
            )
    check_writable(folder, "give another --output")


def check_file(path: Path, option: str, force: bool, inputs: Iterable[Path]) -> None:
    """Raise a LopsError if a command may not, or cannot, write a file."""
    resolved = resolve(path, option)
    if resolved in {source.resolve() for source in inputs}:
        raise LopsError(f"{option} is {path}, which is an input; give another file")
    if path.exists() and not path.is_file():
        raise LopsError(f"{option} is {path}, a folder, a pipe or a device; wanted a file")
    if path.exists() and not force:
        raise LopsError(f"{path} already exists; give --force to replace it, or another {option}")
    folder = resolved.parent
    if not folder.is_dir() and not remote.is_remote(folder):
        raise LopsError(f"{option} is {path}, but {folder} does not exist; create it first")
    check_writable(folder, f"give another {option}")


def resolve(path: Path, option: str) -> Path:
    """Return an output without links; a LopsError if it has links in a circle or no valid name."""
    check_name(str(path))
    if remote.is_remote(path):
        return path
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LopsError(f"{option} is {path}, which links to itself; give another") from None
    return path.resolve()


@contextmanager
def as_private_as(inputs: Iterable[Path]) -> Iterator[None]:
    """Give outputs no readers that an input does not have, by the mask of this process.

    The group of an output is this process's: it may read what the same group may read.
    """
    hidden = 0
    for path in inputs:
        with suppress(OSError):  # said where it is read
            about = path.stat()
            hidden |= 0 if about.st_mode & stat.S_IROTH else stat.S_IRWXO
            shared = about.st_mode & stat.S_IROTH or (
                about.st_mode & stat.S_IRGRP and about.st_gid == os.getegid()
            )
            hidden |= 0 if shared else stat.S_IRWXG
    umask = os.umask(stat.S_IRWXG | stat.S_IRWXO)
    os.umask(umask | hidden)
    try:
        yield
    finally:
        os.umask(umask)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a system error into a LopsError: about ``path`` in place of a temporary file.

    Errors about files elsewhere name these.
    """
    try:
        yield
    except OSError as error:
        folder, named = path.resolve().parent, error.filename
        if isinstance(named, str | os.PathLike):
            elsewhere = folder not in remote.located(os.fspath(named)).resolve().parents
            if elsewhere:
                raise LopsError(f"{named}: {error.strerror or error}") from None
        raise LopsError(f"cannot write {path}: {error.strerror or error}") from None
    except UnicodeEncodeError as error:
        raise LopsError(
            f"cannot write {path}: {error.object[error.start]!a} is not valid Unicode; "
            "remove it from the input"
        ) from None


def written_by(folder: Path) -> str | None:
    """Return the command that wrote a folder, from its ``config.json``; None if unknown."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name = config.get("framework") if isinstance(config, dict) else None
    return name if isinstance(name, str) else None
