"""Vectors of texts on disk, by encoder and text, in files that runs share.

At most 8 GiB; the least recently used files go first.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np

from lops_adapters.storage import write_arrays

log = logging.getLogger(__name__)
T = TypeVar("T")
_LIMIT = 8 * 2**30  # bytes of all files of all encoders
_DAY = 86_400  # seconds
_HEADERS = 1024  # bytes of a file besides keys and vectors, at most
_DAMAGED = (ValueError, EOFError, KeyError, zipfile.BadZipFile)


class KeptFiles:
    """The files of all encoders: ``*.npz`` and ``*.npy`` in the folders of ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._size: int | None = None  # bytes of all files when last counted, and of those since

    def read(self, path: Path, load: Callable[[Path], T | None]) -> T | None:
        """Return what ``load`` makes of a file, which counts as used now unless that is None.

        A file that cannot be opened is ignored; a damaged one, for which ``load`` raises a
        ValueError, is removed.
        """
        try:
            loaded = load(path)
        except FileNotFoundError:  # never written, or another process has made room
            return None
        except OSError as error:
            log.warning("%s cannot be read (%s); its texts are encoded again", path, error)
            return None
        except _DAMAGED as error:
            log.warning("%s is damaged (%s); its texts are encoded again", path, error)
            with suppress(OSError):
                path.unlink()
            return None
        if loaded is not None:
            with suppress(OSError):
                os.utime(path)
        return loaded

    def keep(self, path: Path, size: int, write: Callable[[Path], object]) -> bool:
        """Let ``write`` make a file of ``size`` bytes; return whether it is kept."""
        try:
            if self._make_room(size):
                path.parent.mkdir(parents=True, exist_ok=True)
                write(path)
                return True
        except OSError as error:
            log.warning("vectors are not kept in %s: %s", path.parent, error)
        return False

    def _make_room(self, size: int) -> bool:
        """Remove old files for a new one of ``size`` bytes; return whether it may be kept.

        Files are counted at the first call and above the limit, and then a twentieth of it is freed
        at once.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        if size > min(_LIMIT, shutil.disk_usage(self.root).free):
            log.warning("vectors are not kept: %s has no room", self.root)
            return False
        if self._size is None or self._size + size > _LIMIT:
            files = sorted(_files(self.root))
            self._size = sum(file_bytes for _, file_bytes, _ in files)
            goal = _LIMIT - _LIMIT // 20 if self._size + size > _LIMIT else _LIMIT
            for _, file_bytes, path in files:
                if self._size == 0 or self._size + size <= goal:
                    break
                path.unlink(missing_ok=True)
                self._size -= file_bytes
        self._size += size
        return True


def _files(root: Path) -> list[tuple[float, int, Path]]:
    """Return when each file was last used, its bytes and its path; remove what kills left behind.

    A file that another process is writing is younger than a day.
    """
    files = []
    for path in [*root.glob("*/*.np[yz]"), *root.glob("*/.*.tmp")]:
        with suppress(FileNotFoundError):
            status = path.stat()
            if path.suffix != ".tmp":
                files.append((status.st_mtime, status.st_size, path))
            elif status.st_mtime < time.time() - _DAY:
                path.unlink()
    return files


def text_keys(texts: Sequence[str]) -> np.ndarray:
    """Return a hash of 16 bytes per text, (n,) of dtype ``V16``.

    >>> keys = text_keys(["a", "b", "a"])
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    digests = [
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="V16")


class VectorCache:
    """A folder of vectors of one encoder, in files of one block each, written whole or not at all.

    Files with vectors of another width or type count as damaged. If the folder cannot be written,
    nothing is kept. It is one folder of :class:`KeptFiles`.
    """

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._writable = True
        self._files = KeptFiles(folder.parent)

    def read(self, keys: np.ndarray, into: np.ndarray) -> np.ndarray:
        """Fill the rows of ``into`` that are kept under ``keys``; return which, (n,) bool."""
        rows: dict[bytes, list[int]] = {}
        for row, key in enumerate(keys.tolist()):
            rows.setdefault(key, []).append(row)
        filled = np.zeros(len(keys), dtype=bool)
        for path in sorted(self.folder.glob("*.npz")):
            for key, vector in self._block(path, rows).items():
                for row in rows.pop(key):
                    into[row], filled[row] = vector, True
            if not rows:
                break
        return filled

    def _block(self, path: Path, wanted: Collection[bytes]) -> dict[bytes, np.ndarray]:
        """Return the wanted vectors of a file; a file without any is not read to its end."""

        def load(path: Path) -> dict[bytes, np.ndarray] | None:
            with np.load(path) as arrays:
                plain = arrays["keys"]
                if plain.dtype != np.uint8 or plain.ndim != 2 or plain.shape[1] != 16:
                    raise ValueError(f"found keys of {plain.dtype} {plain.shape}")
                keys = plain.view("V16").ravel().tolist()
                places = {key: row for row, key in enumerate(keys) if key in wanted}
                if not places:
                    return None
                vectors = arrays["vectors"]
            if vectors.dtype != np.float16 or vectors.shape != (len(keys), self.width):
                raise ValueError(f"found vectors of {vectors.dtype} {vectors.shape}")
            return {key: vectors[row] for key, row in places.items()}

        return self._files.read(path, load) or {}

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Keep a block of vectors, (m, width) float16, under its (m,) keys."""
        if self._writable:
            name = hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()
            # numpy would need a pickle for the type V16.
            plain = np.frombuffer(keys.tobytes(), dtype=np.uint8).reshape(-1, 16)
            self._writable = self._files.keep(
                self.folder / f"{name}.npz",
                vectors.nbytes + keys.nbytes + _HEADERS,
                lambda path: write_arrays(path, keys=plain, vectors=vectors),
            )
