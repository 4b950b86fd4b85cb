"""Vectors of texts without an encoder: latent semantic analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from lops_adapters.encoders.tf_idf import TfIdf
from lops_adapters.encoders.word_counts import WordCounts


class Topics:
    """TF-IDF by a truncated SVD, rows of unit length.

    Source: Deerwester et al., 1990 (latent semantic analysis).

    Args:
        counts: of the words of the texts to learn from.
        seed: of the decomposition.
        width: numbers per vector, at most; default: 300, above 100,000 texts 100 to save memory.
        most: words, and texts that the decomposition is learnt from: the first ones.

    Raises:
        LopsError: no text holds a word.

    """

    def __init__(
        self, counts: WordCounts, seed: int, width: int | None = None, most: int = 50_000
    ) -> None:
        from sklearn.decomposition import TruncatedSVD

        self._most = most
        self._reduce: Any = None
        first = counts.rows(np.arange(min(most, len(counts))))
        self._tf_idf = TfIdf.learnt(first, most)
        learnt = self._tf_idf(first)
        usual = 300 if len(counts) <= 100_000 else 100
        width = min(width or usual, min(learnt.shape) - 1)
        if width < 1:
            return
        self._reduce = TruncatedSVD(width, random_state=seed % 2**32)
        with np.errstate(invalid="ignore"):  # equal texts have no variance, which is not used
            self._reduce.fit(learnt)

    def __call__(self, counts: WordCounts) -> np.ndarray:
        """Return vectors, (n, at most width) float32; a text without a word is a row of zeros."""
        if self._reduce is None:
            return np.ones((len(counts), 1), dtype=np.float32)
        found = np.empty((len(counts), len(self._reduce.components_)), dtype=np.float32)
        for start in range(0, len(counts), self._most):
            rows = np.arange(start, min(start + self._most, len(counts)))
            found[rows] = self._reduce.transform(self._tf_idf(counts.rows(rows)))
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return found
