"""Vectors of texts on disk, by encoder and text."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from lops_adapters.storage import write_arrays

log = logging.getLogger(__name__)
_LIMIT = 8 * 2**30  # bytes of all files of all encoders
_UNREADABLE = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile)


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

    Files that cannot be read or hold vectors of another width are ignored. If the folder cannot be
    written, nothing is kept. Above 8 GiB in all folders beside this one, the least recently used
    files are removed.

    Args:
        folder: of one encoder and its settings.
        width: numbers per vector.

    """

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._writable = True

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
            block = self._block(path)
            if block is None:
                continue
            theirs, vectors = block
            used = False
            for key, vector in zip(theirs.tolist(), vectors, strict=True):
                for row in rows.pop(key, ()):
                    into[row], found[row], used = vector, True, True
            if used:
                with suppress(OSError):  # the least recently used goes first
                    os.utime(path)
            if not rows:
                break
        return found

    def _block(self, path: Path) -> tuple[np.ndarray, np.ndarray] | None:
        try:
            with np.load(path) as arrays:
                keys, vectors = arrays["keys"].view("V16").ravel(), arrays["vectors"]
            if vectors.dtype != np.float16 or vectors.shape != (len(keys), self.width):
                raise ValueError(f"{vectors.dtype} {vectors.shape}")
        except _UNREADABLE as error:
            log.warning("%s cannot be read (%s); encoding its texts again", path, error)
            return None
        return keys, vectors

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Keep a block of vectors, (m, width) float16, under its (m,) keys."""
        if not self._writable:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._writable = _make_room(self.folder.parent, vectors.nbytes)
            if self._writable:
                name = hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()
                # numpy would need a pickle for the type V16.
                plain = np.frombuffer(keys.tobytes(), dtype=np.uint8).reshape(-1, 16)
                write_arrays(self.folder / f"{name}.npz", keys=plain, vectors=vectors)
        except OSError as error:
            self._writable = False
            log.warning("vectors are not kept in %s: %s", self.folder, error)


def _make_room(root: Path, size: int) -> bool:
    """Remove old files for a new one of ``size`` bytes; return whether it may be kept."""
    if size > min(_LIMIT, shutil.disk_usage(root).free):
        log.warning("vectors are not kept: %s has no room", root)
        return False
    files = sorted(
        (path.stat().st_mtime, path.stat().st_size, path) for path in root.glob("*/*.npz")
    )
    total = sum(own for _, own, _ in files)
    for _, own, path in files:
        if total + size <= _LIMIT:
            break
        path.unlink(missing_ok=True)
        total -= own
    return True
