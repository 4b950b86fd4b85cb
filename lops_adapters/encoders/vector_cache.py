"""Vectors of texts on disk, by encoder and text."""

import hashlib
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from lops_adapters.encoders.kept_files import KeptFiles
from lops_adapters.storage import write_arrays

log = logging.getLogger(__name__)
_HEADERS = 1024  # bytes of a file besides keys and vectors, at most


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

    Files with vectors of another width or type count as damaged. If the folder cannot be written,
    nothing is kept. See :class:`~lops_adapters.encoders.kept_files.KeptFiles`, of which it is one
    folder.

    Args:
        folder: of one encoder and its settings.
        width: numbers per vector.

    """

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._writable = True
        self._files = KeptFiles(folder.parent)

    def read(self, keys: np.ndarray, into: np.ndarray) -> np.ndarray:
        """Fill the rows of ``into``, (n, width) float16, that are kept under ``keys``.

        Returns:
            (n,) bool, the rows that were found.

        """
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
        if not self._writable:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._writable = self._files.make_room(vectors.nbytes + keys.nbytes + _HEADERS)
            if self._writable:
                name = hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()
                # numpy would need a pickle for the type V16.
                plain = np.frombuffer(keys.tobytes(), dtype=np.uint8).reshape(-1, 16)
                write_arrays(self.folder / f"{name}.npz", keys=plain, vectors=vectors)
        except OSError as error:
            self._writable = False
            log.warning("vectors are not kept in %s: %s", self.folder, error)
