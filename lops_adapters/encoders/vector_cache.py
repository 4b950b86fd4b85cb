"""Vectors of texts on disk, by encoder and text."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
import zipfile
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from lops_adapters.storage import write_arrays

log = logging.getLogger(__name__)
_LIMIT = 8 * 2**30  # bytes of all files of all encoders
_HEADERS = 1024  # bytes of a file besides keys and vectors, at most
_DAY = 86_400  # seconds
_DAMAGED = (ValueError, EOFError, KeyError, zipfile.BadZipFile)


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
    """A folder of vectors, in files of one block each, written whole or not at all.

    Damaged files and files with vectors of another width or type are removed; files that cannot be
    opened are ignored. If the folder cannot be written, nothing is kept. Above 8 GiB in all folders
    beside this one, the least recently used files are removed.

    Args:
        folder: of one encoder and its settings.
        width: numbers per vector.

    """

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._writable = True
        self._read = set[Path]()  # read or written here
        self._size: int | None = None  # bytes of all files when last counted, and of those since

    def read(self, keys: np.ndarray, into: np.ndarray) -> np.ndarray:
        """Fill the rows of ``into``, (n, width) float16, that are kept under ``keys``.

        Returns:
            (n,) bool, the rows that were found.

        """
        rows: dict[bytes, list[int]] = {}
        for row, key in enumerate(keys.tolist()):
            rows.setdefault(key, []).append(row)
        found = np.zeros(len(keys), dtype=bool)
        for path in sorted(self.folder.glob("*.npz")):
            self._read.add(path)
            for key, vector in self._block(path, rows).items():
                for row in rows.pop(key):
                    into[row], found[row] = vector, True
            if not rows:
                break
        return found

    def news(self, keys: Collection[bytes]) -> dict[bytes, np.ndarray]:
        """Return the wanted vectors that other processes have written since :meth:`read`."""
        found: dict[bytes, np.ndarray] = {}
        for path in sorted(set(self.folder.glob("*.npz")) - self._read):
            self._read.add(path)
            found |= self._block(path, keys)
        return found

    def _block(self, path: Path, wanted: Collection[bytes]) -> dict[bytes, np.ndarray]:
        """Return the wanted vectors of a file; a file without any is not read to its end."""
        try:
            with np.load(path) as arrays:
                plain = arrays["keys"]
                if plain.dtype != np.uint8 or plain.ndim != 2 or plain.shape[1] != 16:
                    raise ValueError(f"found keys of {plain.dtype} {plain.shape}")
                keys = plain.view("V16").ravel().tolist()
                places = {key: row for row, key in enumerate(keys) if key in wanted}
                if not places:
                    return {}
                vectors = arrays["vectors"]
                if vectors.dtype != np.float16 or vectors.shape != (len(keys), self.width):
                    raise ValueError(f"found vectors of {vectors.dtype} {vectors.shape}")
        except FileNotFoundError:  # another process has made room
            return {}
        except OSError as error:
            log.warning("%s cannot be read (%s); its texts are encoded again", path, error)
            return {}
        except _DAMAGED as error:
            log.warning("%s is damaged (%s); its texts are encoded again", path, error)
            with suppress(OSError):
                path.unlink()
            return {}
        with suppress(OSError):  # the least recently used goes first
            os.utime(path)
        return {key: vectors[row] for key, row in places.items()}

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Keep a block of vectors, (m, width) float16, under its (m,) keys."""
        if not self._writable:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._writable = self._make_room(vectors.nbytes + keys.nbytes + _HEADERS)
            if self._writable:
                name = hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()
                # numpy would need a pickle for the type V16.
                plain = np.frombuffer(keys.tobytes(), dtype=np.uint8).reshape(-1, 16)
                path = self.folder / f"{name}.npz"
                write_arrays(path, keys=plain, vectors=vectors)
                self._read.add(path)
        except OSError as error:
            self._writable = False
            log.warning("vectors are not kept in %s: %s", self.folder, error)

    def _make_room(self, size: int) -> bool:
        """Remove old files for a new one of ``size`` bytes; return whether it may be kept.

        Files are counted at the first call and above the limit, and then a twentieth of it is freed
        at once.
        """
        root = self.folder.parent
        if size > min(_LIMIT, shutil.disk_usage(root).free):
            log.warning("vectors are not kept: %s has no room", root)
            return False
        if self._size is None or self._size + size > _LIMIT:
            files = sorted(_files(root))
            self._size = sum(own for _, own, _ in files)
            goal = _LIMIT - _LIMIT // 20 if self._size + size > _LIMIT else _LIMIT
            for _, own, path in files:
                if self._size == 0 or self._size + size <= goal:
                    break
                path.unlink(missing_ok=True)
                self._size -= own
        self._size += size
        return True


def _files(root: Path) -> list[tuple[float, int, Path]]:
    """Return when each file was last used, its bytes and its path; remove what kills left behind.

    A file that another process is writing is younger than a day.
    """
    found = []
    for path in [*root.glob("*/*.npz"), *root.glob("*/.*.tmp")]:
        with suppress(FileNotFoundError):
            status = path.stat()
            if path.suffix == ".npz":
                found.append((status.st_mtime, status.st_size, path))
            elif status.st_mtime < time.time() - _DAY:
                path.unlink()
    return found
