"""Contextual vectors of all words, and static ones: the mean over a word's occurrences.

Contextual ones are kept between runs: they do not depend on the class names.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lops_adapters import storage
from lops_adapters.encoders.context_encoder import ContextEncoder, Window, encode_windows
from lops_adapters.encoders.vector_cache import KeptFiles
from lops_adapters.xclass.words import WordCorpus

log = logging.getLogger(__name__)
_BLOCK = 16384  # vectors summed at a time


def windows(document_start: np.ndarray, lengths: np.ndarray, room: int) -> Iterator[Window]:
    """Cut documents into windows of at most ``room`` word pieces.

    A word is encoded in the first window it fits into. Every window of a document but the first
    also holds the words before it as context, up to half the room. ``document_start`` is (n + 1,),
    ``lengths`` (tokens,) the word pieces of each word, at most ``room``.
    """
    total = np.concatenate([[0], np.cumsum(lengths)])
    for first, last in zip(document_start[:-1].tolist(), document_start[1:].tolist(), strict=True):
        context = begin = first
        while begin < last:
            end = min(last, int(np.searchsorted(total, total[context] + room, side="right")) - 1)
            if end <= begin:  # the context leaves no room for a long word
                context = begin
                continue
            yield Window(context, begin, end)
            context, begin = int(np.searchsorted(total, total[end] - room // 2)), end
            context = max(context, first)


def contextual_vectors(
    words: WordCorpus, encoder: ContextEncoder, folder: Path, *, quiet: bool = True
) -> np.ndarray:
    """Encode the corpus once and return the vectors of its words, memory-mapped.

    They are the means of each word's pieces, (m, width) float16.
    """
    pieces = encoder.pieces(words.vocabulary)
    lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)[words.word_id]
    spans = list(windows(words.document_start, lengths, encoder.max_pieces - 2))
    return encode_windows(
        spans, words.word_id, pieces, words.positions, encoder, folder, quiet=quiet
    )


def cached_vectors(
    words: WordCorpus, encoder: ContextEncoder, folder: Path, cache: Path, *, quiet: bool = True
) -> np.ndarray:
    """Return :func:`contextual_vectors`, from an earlier run on the same words and encoder if kept.

    While they are computed they are in ``folder``, from where a killed run resumes. ``cache`` is
    the root of :class:`~lops_adapters.encoders.vector_cache.KeptFiles`; its folder ``xclass`` has a
    file per corpus and encoder. If it cannot be written, nothing is kept.
    """
    kept = cache / "xclass" / f"{_fingerprint(words, encoder)}.npy"
    files, shape = KeptFiles(cache), (len(words.positions), encoder.width)

    def load(path: Path) -> np.ndarray:
        vectors: np.ndarray = np.load(path, mmap_mode="r")
        if vectors.shape != shape or vectors.dtype != np.float16:
            raise ValueError(f"found {vectors.dtype} {vectors.shape}, wanted float16 {shape}")
        return vectors

    vectors = files.read(kept, load)
    if vectors is not None:
        log.info("vectors of the words from %s", kept)
        return vectors
    vectors = contextual_vectors(words, encoder, folder, quiet=quiet)
    if files.keep(kept, vectors.nbytes, partial(_move, folder / "vectors.npy")):
        log.info("vectors of the words (%.1f GiB) kept in %s", vectors.nbytes / 2**30, kept)
    return vectors  # still mapped after the move


def _move(source: Path, kept: Path) -> None:
    with storage.replacing(kept) as temporary:
        shutil.move(source, temporary)  # perhaps to another file system


def _fingerprint(words: WordCorpus, encoder: ContextEncoder) -> str:
    digest = hashlib.sha256(encoder.fingerprint().encode())
    digest.update(json.dumps(words.vocabulary).encode())
    for numbers in (words.word_id, words.document_start, words.positions):
        digest.update(np.ascontiguousarray(numbers, dtype=np.int64).tobytes())
    return digest.hexdigest()[:32]


def static_vectors(word_id: np.ndarray, vectors: np.ndarray, size: int) -> np.ndarray:
    """Return the mean vector of every word, (V, width) float32; zeros for words without one.

    ``word_id`` (m,) is the word of each (m, width) vector, ``size`` V. The sums are float64.
    """
    from scipy import sparse

    sums = np.zeros((size, vectors.shape[1]))
    for begin in range(0, len(word_id), _BLOCK):
        part = word_id[begin : begin + _BLOCK]
        present, row = np.unique(part, return_inverse=True)
        chooser = sparse.csr_matrix(
            (np.ones(len(part)), (row, np.arange(len(part)))), shape=(len(present), len(part))
        )
        sums[present] += chooser @ vectors[begin : begin + _BLOCK].astype(np.float64)
    counts = np.bincount(word_id, minlength=size)
    return np.asarray(sums / np.maximum(counts, 1)[:, None], dtype=np.float32)
