"""Vectors of the texts of a part, in a Parquet file: a row per text with a label, in their order.

A file is named after its texts, so that renamed input finds it again. Its folder is named after the
encoder and its settings.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import extras, storage
from lops_adapters.core import LopsError
from lops_adapters.encoders.vector_cache import text_keys
from lops_adapters.probes.embedding import EmbeddingProbe

ROWS = 8192  # of a row group
CHUNK = 16_384  # texts encoded together: more of one length, fewer paddings
_DAY = 86_400  # seconds

Source = Callable[[Sequence[str]], np.ndarray]  # n texts to (n, width) float32


@dataclass
class Stored(EmbeddingProbe):
    """An encoder that computes nothing: another object has the vectors.

    A pickle holds no vectors, so ``source`` is set again where the work is done.
    """

    source: Source | None = None

    def vectors(self, samples: Sequence[Any]) -> np.ndarray:
        """Return the vectors of texts, (n, width) float32."""
        if self.source is None or not len(samples):
            return np.zeros((0, 0), dtype=np.float32)
        return self.source(samples)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "source": None}


class Held:
    """Vectors in memory.

    Args:
        texts: n texts.
        vectors: (n, width) float16.

    """

    def __init__(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        self._row = {key: row for row, key in enumerate(text_keys(texts).tolist())}
        self._vectors = vectors

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of some of the texts, (m, width) float32."""
        rows = [self._row[key] for key in text_keys(texts).tolist()]
        return np.asarray(self._vectors[rows].astype(np.float32))


class Forward:
    """Vectors from the file of a part, for texts that are asked for in the order of its rows.

    Only the row groups of the last question are in memory.
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._blocks = Path(path), blocks(Path(path))
        self._held: list[dict[bytes, np.ndarray]] = []  # by row group, in their order

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, (m, width) float32.

        Raises:
            LopsError: the file cannot be read, or has no vector of a text.

        """
        keys = text_keys(texts).tolist()
        wanted, found = set(keys), dict[bytes, np.ndarray]()
        first = len(self._held)
        for place in reversed(range(len(self._held))):
            if self._take(place, wanted, found):
                first = place
        while wanted:
            rows = next(self._blocks, None)
            if rows is None:
                raise LopsError(
                    f"{self._path} has no vectors of {len(wanted)} texts; remove it, and run again"
                )
            self._held.append(dict(zip(*rows, strict=True)))
            self._take(-1, wanted, found)
        self._held = self._held[min(first, len(self._held) - 1) :]
        return np.stack([found[key] for key in keys]).astype(np.float32)

    def _take(self, place: int, wanted: set[bytes], found: dict[bytes, np.ndarray]) -> bool:
        """Take the wanted vectors of a row group; return whether there are any."""
        held = self._held[place]
        there = wanted & held.keys()
        found |= {key: held[key] for key in there}
        wanted -= there
        return bool(there)


def name_of(texts: Iterable[str]) -> tuple[str, int]:
    """Return the name of the file of texts, which depends on them and their order only.

    The number of texts comes with it.

    >>> name_of(["a", "b"]) == name_of(iter(["a", "b"])), name_of(["a"]) == name_of(["b"])
    (True, False)
    """
    digest, count = hashlib.blake2b(digest_size=16), 0
    for some in _chunks(texts):
        digest.update(text_keys(some).tobytes())
        count += len(some)
    return f"{digest.hexdigest()}.parquet", count


def write(path: Path, texts: Iterable[str], encode: Source, width: int) -> None:
    """Encode texts and write a file, whole or not at all.

    Raises:
        LopsError: it cannot be written, and what ``encode`` raises.

    """
    pa = extras.load("pyarrow", "--engine ray with an encoder")
    parquet = extras.load("pyarrow.parquet", "--engine ray with an encoder")
    kind = pa.list_(pa.float16(), width)
    schema = pa.schema([("key", pa.binary(16)), ("vector", kind)])

    def fill(temporary: Path) -> None:
        # Vectors hardly compress, and are no dictionary.
        plain: dict[str, Any] = {"compression": "none", "use_dictionary": False}
        with parquet.ParquetWriter(temporary, schema, **plain) as file:
            for some in _chunks(texts):
                numbers = pa.array(encode(some).astype(np.float16).ravel())
                vectors = pa.FixedSizeListArray.from_arrays(numbers, type=kind)
                keys = pa.array(text_keys(some).tolist(), type=pa.binary(16))
                table = pa.table([keys, vectors], schema=schema)
                file.write_table(table, row_group_size=ROWS)

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.replace_with(path, fill)
    except OSError as error:
        raise LopsError(
            f"vectors cannot be written to {path.parent} on {socket.gethostname()} "
            f"({error.strerror or error}); give another --vectors"
        ) from None


def is_whole(path: Path, count: int, width: int) -> bool:
    """Return whether a file has so many vectors of so many numbers; one that has not is removed."""
    pa = extras.load("pyarrow", "--engine ray with an encoder")
    parquet = extras.load("pyarrow.parquet", "--engine ray with an encoder")
    try:
        with parquet.ParquetFile(path) as file:
            fine = file.metadata.num_rows == count
            fine &= file.schema_arrow.field("vector").type == pa.list_(pa.float16(), width)
    except FileNotFoundError:
        return False
    except (pa.ArrowException, KeyError):
        fine = False
    if not fine:
        path.unlink(missing_ok=True)
    return fine


def blocks(path: Path) -> Iterator[tuple[list[bytes], np.ndarray]]:
    """Yield the m keys and the (m, width) float16 vectors of each row group.

    Raises:
        LopsError: the file cannot be read.

    """
    pa = extras.load("pyarrow", "--engine ray with an encoder")
    parquet = extras.load("pyarrow.parquet", "--engine ray with an encoder")
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(ROWS):
                keys, vectors = batch.columns
                numbers = vectors.flatten().to_numpy(zero_copy_only=False)
                yield keys.to_pylist(), numbers.reshape(len(batch), -1)
    except (OSError, pa.ArrowException) as error:
        raise LopsError(
            f"{path} cannot be read on {socket.gethostname()} ({error!s:.200}); wanted a folder "
            "that all machines see: give another --vectors"
        ) from None


def picked(path: Path, places: np.ndarray, width: int) -> np.ndarray:
    """Return the vectors at (m,) ascending places of a file, (m, width) float16."""
    found, start = [np.zeros((0, width), dtype=np.float16)], 0
    if len(places):
        for keys, vectors in blocks(path):
            at = places[(places >= start) & (places < start + len(keys))] - start
            found.append(vectors[at])
            start += len(keys)
    return np.concatenate(found)


def tidy(folder: Path) -> None:
    """Remove what killed workers left behind; files that are being written are younger."""
    for path in folder.glob(".*.tmp"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _DAY:
                path.unlink()


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    rows = iter(texts)
    while some := list(islice(rows, CHUNK)):
        yield some
