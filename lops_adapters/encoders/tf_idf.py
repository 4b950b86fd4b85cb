"""Word counts weighted by TF-IDF, and latent semantic analysis of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.word_counts import WordCounts
from lops_adapters.surroundings import one_blas_thread

_BLOCK = 16384  # vectors scaled at a time


class TfIdf:
    """TF-IDF rows of unit length: (1 + log count) times the inverse document frequency.

    The vocabulary is w distinct words, sorted; ``idf`` is (w,) float32.
    """

    def __init__(self, words: tuple[str, ...], idf: np.ndarray) -> None:
        self.words, self.idf = words, idf
        self._columns: tuple[tuple[str, ...], np.ndarray] | None = None

    @classmethod
    def learnt(cls, counts: WordCounts, most: int) -> TfIdf:
        """Learn the ``most`` most frequent words and their document frequencies."""
        columns = counts.vocabulary(most)
        if not len(columns):
            raise LopsError(
                f"the {len(counts)} texts hold no word the linear probe can use; "
                "wanted words of two or more letters"
            )
        texts_with = np.bincount(counts.counts.indices, minlength=len(counts.words))[columns]
        # Smoothed: as if one more text held every word.
        idf = np.log((1 + len(counts)) / (1 + texts_with)).astype(np.float32) + np.float32(1)
        made = cls(tuple(counts.words[column] for column in columns), idf)
        made._columns = counts.words, columns
        return made

    def __call__(self, counts: WordCounts) -> Any:
        """Return an (n, w) float32 CSR matrix; a text without a known word is an empty row."""
        known, columns = self._columns or ((), None)
        rows = counts.over(self.words, columns if known is counts.words else None)
        rows.data = (np.log(rows.data) + np.float32(1)) * self.idf[rows.indices]
        of_text = np.repeat(np.arange(rows.shape[0], dtype=np.int32), np.diff(rows.indptr))
        lengths = np.sqrt(np.bincount(of_text, rows.data**2, rows.shape[0]))
        np.divide(rows.data, lengths[of_text], out=rows.data, casting="same_kind")
        return rows


class Topics:
    """TF-IDF by a truncated SVD, rows of unit length.

    Learnt from the words of the first ``most`` texts, and as many words. The width is at most 300,
    above 100,000 texts 100 to save memory. LopsError if no text holds a word. Source: Deerwester et
    al., 1990 (latent semantic analysis).
    """

    def __init__(
        self, counts: WordCounts, seed: int, width: int | None = None, most: int = 50_000
    ) -> None:
        self._most = most
        self._topics: np.ndarray | None = None  # (words, width)
        first = counts.rows(np.arange(min(most, len(counts))))
        self._tf_idf = TfIdf.learnt(first, most)
        learnt = self._tf_idf(first)
        usual = 300 if len(counts) <= 100_000 else 100
        width = min(width or usual, min(learnt.shape) - 1)
        if width < 1:
            return
        self._topics = leading(learnt, width, seed)

    def __call__(self, counts: WordCounts) -> np.ndarray:
        """Return vectors, (n, at most width) float32; a text without a word is a row of zeros."""
        if self._topics is None:
            return np.ones((len(counts), 1), dtype=np.float32)
        vectors = np.empty((len(counts), self._topics.shape[1]), dtype=np.float32)
        for start in range(0, len(counts), self._most):
            rows = np.arange(start, min(start + self._most, len(counts)))
            vectors[rows] = of_unit_length(self._tf_idf(counts.rows(rows)) @ self._topics)
        return vectors


def of_unit_length(vectors: np.ndarray) -> np.ndarray:
    """Scale rows, (n, width), to length 1 in place; rows of zeros stay.

    >>> of_unit_length(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    for start in range(0, len(vectors), _BLOCK):  # squares take as much memory as their rows
        rows = vectors[start : start + _BLOCK]
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return vectors


@one_blas_thread
def leading(matrix: Any, width: int, seed: int) -> np.ndarray:
    """Return the leading right singular vectors of a sparse matrix, (columns, width), as columns.

    Randomised, with ten more columns and five power iterations: Halko, Martinsson and Tropp, 2011,
    as in scikit-learn's ``TruncatedSVD``, whose import takes about as long as the decomposition.
    """
    from scipy import linalg

    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    rng = np.random.RandomState(seed % 2**32)
    basis = rng.normal(size=(tall.shape[1], width + 10)).astype(matrix.dtype)
    for _ in range(5):
        for side in (tall, tall.T):
            basis, _ = linalg.lu(side @ basis, permute_l=True, check_finite=False)
    basis, _ = linalg.qr(tall @ basis, mode="economic", check_finite=False)
    left, _, right = linalg.svd(basis.T @ tall, full_matrices=False, check_finite=False)
    vectors = right.T if tall is matrix else basis @ left
    return np.asarray(vectors[:, :width])
