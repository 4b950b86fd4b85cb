"""Atomic writes: a killed program leaves the old file or the new one, never half a file.

Temporary names cannot be guessed, and locks follow no links: in a folder that others may write,
nobody can plant a link that leads a write elsewhere. Locks keep two processes from writing the same
output. Windows has no ``fcntl``: nothing is locked.
"""

from __future__ import annotations

import csv
import json
import math
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, is_dataclass
from glob import escape
from numbers import Real
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any, TextIO

import numpy as np

from lops_adapters import remote
from lops_adapters.core import LopsError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Windows has neither. A pipe that is opened to be written waits for a reader.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def user_cache() -> Path:
    """Return the folder of downloads, vectors and trained parts that runs share.

    It is ``lops_adapters`` in ``$XDG_CACHE_HOME``, otherwise in ``~/.cache``.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "lops_adapters"


def check_writable(folder: Path, way_out: str) -> None:
    """Raise a LopsError if no file can be made in a folder, or in its nearest existing parent."""
    is_remote = remote.is_remote(folder)
    there = next(path for path in (folder, *folder.parents) if is_remote or path.exists())
    try:
        if is_remote:
            trial = there / f".lops-{secrets.token_hex(6)}"
            trial.write_text("", encoding="utf-8")
            discard(trial)
            return
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise LopsError(
            f"cannot write into {there} ({error.strerror or error}); {way_out}"
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder, to be written, then rename it to ``path``.

    A link stays a link, and a file keeps its mode. A remote file is replaced at once. LopsError: a
    folder, a pipe or a device is there; the superuser could replace /dev/null.
    """
    # Asked of the link: /dev/stdout leads to a pipe without a name.
    if not remote.is_remote(path) and path.exists() and not path.is_file():
        raise LopsError(f"{path} is no file; move it away, or name another place")
    path = path.resolve() if path.is_symlink() else path
    temporary = _hidden(path, "tmp")
    try:
        yield temporary
        if not remote.is_remote(path):
            with temporary.open("rb+") as handle:
                os.fsync(handle.fileno())
            if path.exists():
                shutil.copymode(path, temporary)
        temporary.replace(path)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        # Of a full disk: the error names no file.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        discard(temporary)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield a fresh folder, to be filled, then put it in place of ``folder``.

    If that fails, everything is as before. A link to a folder stays a link. A remote folder is
    :func:`~lops_adapters.remote.published`.
    """
    if remote.is_remote(folder):
        with remote.published(folder) as run:
            yield run
        return
    folder = folder.resolve() if folder.is_symlink() else folder
    if folder.exists() and not folder.is_dir():
        raise LopsError(f"{folder} is no folder; move it away, or name another place")
    temporary, old = _hidden(folder, "tmp"), _hidden(folder, "old.tmp")
    temporary.mkdir(parents=True)
    try:
        yield temporary
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if folder.exists():
        folder.rename(old)
    try:
        temporary.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _hidden(path: Path, end: str) -> Path:
    """Return a temporary name next to a path: the process, for :func:`restore`, and chance."""
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(6)}.{end}")


def lock(file: int) -> bool:
    """Lock the file of a descriptor until it is closed; False: another process has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


@contextmanager
def claimed(*paths: Path | None) -> Iterator[None]:
    """Keep other processes from writing the paths meanwhile; None is ignored."""
    with ExitStack() as stack:
        for path in filter(None, paths):
            if remote.is_remote(path):  # stores have no locks
                continue
            path = path.resolve() if path.is_symlink() else path  # noqa: PLW2901 (as it is written)
            parent = next(folder for folder in path.absolute().parents if folder.exists())
            lock_path = parent / f".{path.name}.lock"
            # If the place is not writable, the command's own checks say it better.
            with suppress(OSError):
                if lock_path.is_symlink():
                    raise LopsError(f"{lock_path} is a link; wanted a lock of lops; delete it")
                file = os.open(lock_path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
                stack.callback(os.close, file)
                if not lock(file):
                    raise LopsError(
                        f"another process is writing {path}; wait until it ends, or give another "
                        "output"
                    )
                stack.callback(lock_path.unlink, missing_ok=True)
            restore(path)
        yield


def restore(path: Path) -> None:
    """Put back what a process killed inside :func:`replacing_folder` had moved, delete its rest."""
    for leftover in sorted(path.parent.glob(f".{escape(path.name)}.*.tmp")):
        process = leftover.name.removeprefix(f".{path.name}.").split(".")[0]
        if not process.isdecimal() or _is_running(int(process)):
            continue
        is_moved = leftover.name.endswith(".old.tmp") and not leftover.is_symlink()
        if is_moved and not path.exists():
            leftover.rename(path)
        else:
            discard(leftover)


def discard(path: Path) -> None:
    """Delete a file, a link or a folder with what is in it; nothing if it is not there."""
    if isinstance(path, remote.RemotePath):
        path.discard()
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name == "nt":  # os.kill would end it
        return True
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON; NaN becomes null, since JSON has no NaN."""
    write_text(path, json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path, way_out: str) -> dict[str, Any]:
    """Return the JSON object of a file; without one, a LopsError that ends in ``way_out``."""
    try:
        with remote.opened(path) as file:
            stored = json.loads(file.read())
    except (OSError, ValueError, RecursionError) as error:
        raise LopsError(f"{path} is damaged or missing ({error!s:.200}); {way_out}") from None
    if not isinstance(stored, dict):
        raise LopsError(f"{path} is damaged (found {stored!r:.200}, not an object); {way_out}")
    return stored


def write_csv(
    path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]], encoding: str = "utf-8"
) -> None:
    """Write a CSV file with a header; None becomes an empty cell."""
    with replacing(path) as temporary, temporary.open("w", encoding=encoding, newline="") as file:
        writer = csv_writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def csv_writer(file: TextIO, delimiter: str = ",") -> Any:
    """Return a ``csv.writer`` with LF line ends that quotes every cell with a line break.

    Before Python 3.13, ``csv.writer`` quotes a lone carriage return only if its own line end
    contains one. Unquoted, readers take it for the end of the row.
    """
    with_line_feed = SimpleNamespace(write=lambda row: file.write(f"{row[:-2]}\n"))
    return csv.writer(with_line_feed, delimiter=delimiter, lineterminator="\r\n")


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write an uncompressed ``.npz`` file of number arrays."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Return a value in JSON's own types.

    numpy numbers and arrays, fractions, paths, tuples and dataclasses are converted; NaN and
    infinity become None.
    """
    if value is None or type(value) in (str, int, bool):  # most values of a page
        return value
    if is_dataclass(value):
        value = {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, PurePath):
        return str(value)
    if type(value) is not float and isinstance(value, Real) and not isinstance(value, int):
        value = float(value)  # also of fractions
    return None if isinstance(value, float) and not math.isfinite(value) else value


def pack_strings(strings: Sequence[str]) -> np.ndarray:
    """Return strings as one uint8 array (UTF-8 JSON), compact also with a very long string.

    >>> unpack_strings(pack_strings(["a", "b"]))
    ['a', 'b']
    """
    return np.frombuffer(json.dumps(list(strings)).encode(), dtype=np.uint8)


def unpack_strings(array: np.ndarray) -> list[str]:
    """Return the strings of :func:`pack_strings`."""
    strings: list[str] = json.loads(array.tobytes().decode())
    return strings
