"""Word counts weighted by TF-IDF."""

from __future__ import annotations

from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.word_counts import WordCounts


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
        of_text = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        lengths = np.sqrt(np.bincount(of_text, rows.data**2, rows.shape[0]))
        rows.data = (rows.data / lengths[of_text]).astype(np.float32)
        return rows
