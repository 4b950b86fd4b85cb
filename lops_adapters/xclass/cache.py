"""Keeps the vectors of a corpus between runs: they do not depend on the class names."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from pathlib import Path

import numpy as np

from lops_adapters import storage
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.vectors import contextual_vectors
from lops_adapters.xclass.words import WordCorpus

log = logging.getLogger(__name__)
_LIMIT = 8 * 2**30  # bytes of all kept files


def cached_vectors(
    words: WordCorpus,
    wanted: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    cache: Path,
    *,
    quiet: bool = True,
) -> np.ndarray:
    """Return :func:`contextual_vectors`, from an earlier run on the same words and encoder if kept.

    Args:
        words: of the corpus.
        wanted: (m,) int64 positions of the tokens whose vectors are used.
        encoder: the encoder.
        folder: for the vectors while they are computed; a killed run resumes from there.
        cache: folder of kept vectors, a file per corpus and encoder. The least recently used files
            are removed above 8 GiB. If it cannot be read or written, nothing is kept.
        quiet: no progress bar.

    """
    kept = cache / f"{_fingerprint(words, wanted, encoder)}.npy"
    found = _read(kept, (len(wanted), encoder.width))
    if found is not None:
        return found
    vectors = contextual_vectors(words, wanted, encoder, folder, quiet=quiet)
    try:
        if _make_room(cache, vectors.nbytes):
            _move(folder / "vectors.npy", kept)
            log.info("vectors of the words (%.1f GiB) kept in %s", vectors.nbytes / 2**30, kept)
    except OSError as error:
        log.warning("vectors of the words are not kept: %s", error)
    return vectors  # still mapped after the move


def _read(kept: Path, shape: tuple[int, int]) -> np.ndarray | None:
    """Return the vectors in a kept file; None if it is missing or damaged."""
    try:
        vectors: np.ndarray = np.load(kept, mmap_mode="r")
        if vectors.shape != shape or vectors.dtype != np.float16:
            raise ValueError(f"found {vectors.dtype} {vectors.shape}, wanted float16 {shape}")
        os.utime(kept)  # the least recently used goes first
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as error:
        log.warning("vectors in %s cannot be read (%s); encoding again", kept, error)
        return None
    log.info("vectors of the words from %s", kept)
    return vectors


def _make_room(cache: Path, size: int) -> bool:
    """Remove old files for a new one of ``size`` bytes; return whether it may be kept."""
    cache.mkdir(parents=True, exist_ok=True)
    if size > min(_LIMIT, shutil.disk_usage(cache).free):
        log.info("vectors of the words are not kept: they need %.1f GiB", size / 2**30)
        return False
    files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in cache.iterdir())
    total = sum(own for _, own, _ in files)
    for _, own, path in files:
        if total + size <= _LIMIT:
            break
        path.unlink(missing_ok=True)
        total -= own
    return True


def _move(source: Path, kept: Path) -> None:
    try:
        source.replace(kept)
    except OSError:  # another file system
        storage.replace_with(kept, lambda temporary: shutil.copyfile(source, temporary))


def _fingerprint(words: WordCorpus, wanted: np.ndarray, encoder: ContextEncoder) -> str:
    digest = hashlib.sha256(encoder.fingerprint().encode())
    digest.update(json.dumps(words.vocabulary).encode())
    for numbers in (words.word_id, words.document_start, wanted):
        digest.update(np.ascontiguousarray(numbers, dtype=np.int64).tobytes())
    return digest.hexdigest()[:32]
