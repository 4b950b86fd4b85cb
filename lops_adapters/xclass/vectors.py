"""Contextual vectors of all words, and static ones: the mean over a word's occurrences."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lops_adapters.encoders.context_encoder import ContextEncoder, Window, encode_windows
from lops_adapters.xclass.words import WordCorpus

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
    words: WordCorpus,
    wanted: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    *,
    quiet: bool = True,
) -> np.ndarray:
    """Encode the corpus once and return the vectors of the wanted words, memory-mapped.

    They are the means of each word's pieces, (wanted tokens, width) float16.
    """
    pieces = encoder.pieces(words.vocabulary)
    lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)[words.word_id]
    spans = list(windows(words.document_start, lengths, encoder.max_pieces - 2))
    return encode_windows(spans, words.word_id, pieces, wanted, encoder, folder, quiet=quiet)


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
