"""Vectors of texts without an encoder: latent semantic analysis."""

from typing import Any

import numpy as np

from lops_adapters.encoders.tf_idf import TfIdf
from lops_adapters.encoders.word_counts import WordCounts
from lops_adapters.surroundings import one_blas_thread


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
            vectors[rows] = self._tf_idf(counts.rows(rows)) @ self._topics
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
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
