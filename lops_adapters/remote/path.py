"""Files of object stores and web servers as paths: ``s3://``, ``gs://``, ``hf://``, ``https://``.

pyarrow reads ``s3://`` and ``gs://``, fsspec every other scheme; they find credentials as their own
documentation says.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

from lops_adapters import extras
from lops_adapters.core import LopsError

_GOOGLE = ("gs", "gcs")
_OF_PYARROW = ("s3", *_GOOGLE)
_BLOCK = 2**22  # bytes of a request
_WAITING = 2**26  # bytes that may wait to be sent


class RemotePath(PurePosixPath):
    """A file or folder at an address; its methods do what :class:`pathlib.Path` does."""

    _kind: Any = None  # of an entry of a listing, so that it is not asked for again

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)

    @property
    def _scheme(self) -> str:
        return self.parts[0].removesuffix(":").lower()

    @property
    def _address(self) -> str:
        return "/".join(self.parts[1:]) if self._scheme in _OF_PYARROW else str(self)

    def _store(self) -> Any:
        host = self.parts[1] if len(self.parts) > 1 else ""
        store = _store(self._scheme, host if self._scheme in _OF_PYARROW else "")
        if self._scheme not in _OF_PYARROW:  # hf:// would not notice a file that has changed
            store.handler.fs.invalidate_cache(self._address)
        return store

    def _info(self) -> Any:
        with _named(self):
            return self._store().get_file_info(self._address)

    def _is(self, kind: str) -> bool:
        return (self._kind or self._info().type).name == kind

    def is_file(self) -> bool:
        """Return whether there is an object."""
        return self._is("File")

    def is_dir(self) -> bool:
        """Return whether there are objects below."""
        return self._is("Directory")

    def exists(self) -> bool:
        """Return whether there is anything."""
        return not self._is("NotFound")

    def stat(self) -> Any:
        """Return size and time of change, 0 if unknown; anybody may read, as far as is known."""
        info = self._info()
        if info.type.name == "NotFound":
            raise FileNotFoundError(errno.ENOENT, "No such file", str(self))
        return SimpleNamespace(
            st_size=info.size or 0, st_mtime_ns=info.mtime_ns or 0, st_mode=0o444
        )

    def resolve(self) -> RemotePath:
        """Return the path."""
        return self

    def absolute(self) -> RemotePath:
        """Return the path."""
        return self

    def is_symlink(self) -> bool:
        """Return False."""
        return False

    def mkdir(self, **_: object) -> None:
        """Do nothing: a folder begins with its first object."""

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield the objects and folders directly below."""
        yield from self._listed(recursive=False)

    def files(self) -> dict[str, int]:
        """Return the objects below, at any depth: name from here -> bytes."""
        return {
            "/".join(one.parts[len(self.parts) :]): one.stat().st_size
            for one in self._listed(recursive=True)
            if one.is_file()
        }

    def _listed(self, recursive: bool) -> list[RemotePath]:
        # Of gs://, pyarrow lists a folder only if it is an object itself.
        deep = recursive or self._scheme in _GOOGLE
        with _named(self):
            fs = extras.load("pyarrow.fs", str(self), "remote")
            paths = set()
            for info in self._store().get_file_info(fs.FileSelector(self._address, recursive=deep)):
                parts = [part for part in PurePosixPath(info.path).parts if part[-1] not in "/:"]
                below = parts[len(self.parts) - 1 :]
                if below:  # fsspec lists the folder itself, too
                    one = self.joinpath(*(below if recursive else below[:1]))
                    is_below = len(one.parts) < len(self.parts) + len(below)
                    one._kind = fs.FileType.Directory if is_below else info.type
                    paths.add(one)
        return sorted(paths)

    def open(
        self, mode: str = "r", buffering: int = _BLOCK, encoding: str | None = None,
        newline: str | None = None,
    ) -> Any:  # fmt: skip
        """Open the object to be read, or to be written when it is closed.

        ``mode``: rb, r, wb or w. Without buffering, every read is a request.
        """
        with _named(self):
            store = self._store()
            if "w" in mode:
                raw = _Bytes(store.open_output_stream(self._address), self)
                file: Any = io.BufferedWriter(raw, buffering)
            else:
                raw = _Bytes(store.open_input_file(self._address), self)
                file = io.BufferedReader(raw, buffering) if buffering else raw
        return file if "b" in mode else io.TextIOWrapper(file, encoding, newline=newline)

    def read_text(self, encoding: str) -> str:
        """Return the text of the object."""
        with self.open("r", encoding=encoding) as file:
            return str(file.read())

    def write_text(self, text: str, encoding: str) -> None:
        """Write a text as an object."""
        with self.open("w", encoding=encoding, newline="") as file:
            file.write(text)

    def replace(self, target: RemotePath) -> None:
        """Copy the object to another name, where it appears at once, and delete it here."""
        with _named(target):
            self._store().move(self._address, target._address)

    def discard(self) -> None:
        """Delete the object, or the objects below, if there are any."""
        with _named(self):
            if self.is_dir():
                with suppress(FileNotFoundError):  # of gs://, the folder is no object itself
                    self._store().delete_dir(self._address)
            elif self.is_file():
                self._store().delete_file(self._address)


class _Bytes(io.RawIOBase):
    """The bytes of an object; every error of a library is an OSError that names the object."""

    def __init__(self, file: Any, path: RemotePath) -> None:
        self._file, self._path, self._sent = file, path, 0

    def readable(self) -> bool:
        return bool(self._file.readable())

    def writable(self) -> bool:
        return bool(self._file.writable())

    def seekable(self) -> bool:
        return self.readable()

    def readinto(self, buffer: Any) -> int:
        with _named(self._path):
            part = self._file.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def write(self, data: Any) -> int:
        with _named(self._path):
            self._file.write(data)
            self._sent += len(data)
            if self._sent > _WAITING:
                self._file.flush()
                self._sent = 0
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        with _named(self._path):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            with _named(self._path):
                self._file.close()
            super().close()


@cache
def _store(scheme: str, host: str) -> Any:
    """Return pyarrow's file system of a scheme; of a bucket, whose region it finds."""
    needed_by = f"{scheme}://"
    fs = extras.load("pyarrow.fs", needed_by, "remote")
    if scheme in _OF_PYARROW:
        # Without credentials, Google's library would ask for some for over nine minutes.
        waits = "?retry_limit_seconds=30" if scheme in _GOOGLE else ""
        return fs.FileSystem.from_uri(f"{scheme}://{host}{waits}")[0]
    fsspec = extras.load("fsspec", needed_by, "remote")
    try:
        return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme)))
    except ValueError:
        raise LopsError(
            f"{needed_by} is not known; wanted s3, gs, hf, https or another one of fsspec"
        ) from None
    except ImportError as error:
        install = extras.with_extras("remote")
        raise LopsError(f"{needed_by}: {error!s:.200}; or run: pip install {install}") from None


@contextmanager
def _named(path: RemotePath) -> Iterator[None]:
    """Turn errors of stores, which may be of any kind, into system errors that name the path."""
    try:
        yield
    except LopsError:
        raise
    except Exception as error:
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
        text = str(error).partition("\n")[0] or type(error).__name__
        text = text.partition(" error_info=")[0].rpartition(" last message of ")[2]  # Google's
        raise kind(errno.ENOENT if kind is not OSError else errno.EIO, text, str(path)) from error
