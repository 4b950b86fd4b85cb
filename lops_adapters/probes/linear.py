"""The linear probe: TF-IDF and a softmax trained by mini-batch gradient descent.

It needs no torch and trains in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.encoders.tf_idf import TfIdf
from lops_adapters.encoders.word_counts import ANALYZERS, AUTO, WordCounts, count_words
from lops_adapters.probes.regression import Batch, Regression

MOST_WORDS = 100_000  # of the vocabulary, the most frequent ones
_BATCHES = 64  # cut from the sparse matrix at once: cutting costs more than computing with them


@dataclass
class LinearProbe(Regression):
    """Multinomial logistic regression on TF-IDF vectors, trained by Adagrad on cross-entropy.

    Args:
        epochs: passes over the training samples, at least 1.
        batch_size: samples per update.
        learning_rate: of Adagrad, which divides it by the root of the summed squared gradients of
            each weight. Much above the default, the first epoch memorises a small corpus with its
            wrong labels.
        analyzer: ``word``; ``char``: n-grams of one to three characters; ``auto``: n-grams in
            scripts without spaces between words, words elsewhere.

    Samples are strings, or sequences of tokens or of sentences of tokens, joined by spaces.
    """

    kind: ClassVar[str] = "linear"
    epochs: int = 4
    batch_size: int = 32
    learning_rate: float = 0.03
    analyzer: str = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        check_analyzer(self.analyzer)
        self._tf_idf: TfIdf | None = None

    def read(self, samples: Sequence[Any]) -> WordCounts:
        """Return the counts of all words; :meth:`prepare` takes them, or rows of them."""
        if isinstance(samples, WordCounts):
            return samples
        return count_words(samples, self.analyzer)

    def prepare(self, samples: Any, *, fit: bool = False) -> Any:
        """Return an (n, words) float32 CSR matrix of TF-IDF rows of unit length.

        An empty text is an empty row.

        Args:
            samples: texts, or what :meth:`read` returns for them.
            fit: learn vocabulary and document frequencies.
        """
        counts = samples if isinstance(samples, WordCounts) else self.read(samples)
        if counts.analyzer != self.analyzer:
            raise LopsError(
                f"the texts were read by the analyzer {counts.analyzer!r}, and the probe has "
                f"{self.analyzer!r}; read them with this probe"
            )
        if fit:
            self._tf_idf = TfIdf.learnt(counts, MOST_WORDS)
        return self.tf_idf(counts)

    @property
    def tf_idf(self) -> TfIdf:
        """What the probe has learnt of words."""
        if self._tf_idf is None:
            raise self._untrained()
        return self._tf_idf

    def _batches(self, prepared: Any, rng: np.random.Generator, size: int) -> Iterator[Batch]:
        index_of = np.empty(prepared.shape[1], dtype=np.int32)
        order = rng.permutation(prepared.shape[0])
        for start in range(0, len(order), size * _BATCHES):
            block = order[start : start + size * _BATCHES]
            rows = prepared[block]
            numbers = np.arange(rows.nnz, dtype=np.int32)
            for first in range(0, len(block), size):
                last = min(first + size, len(block))
                bounds = rows.indptr[first : last + 1]
                where = slice(bounds[0], bounds[-1])
                columns = rows.indices[where].astype(np.intp)
                index_of[columns] = numbers[: len(columns)]
                # Each word once, where it stands last.
                words = columns.compress(index_of.take(columns) == numbers[: len(columns)])
                index_of[words] = numbers[: len(words)]
                cells = (rows.data[where], index_of.take(columns), bounds - bounds[0])
                matrix = type(rows)(cells, shape=(last - first, len(words)))
                yield Batch(block[first:last], words, matrix)

    def save(self, folder: Path) -> None:
        """Write ``linear.npz`` (weights, bias, idf) and ``linear.json`` (settings, vocabulary)."""
        words = {word: code for code, word in enumerate(self.tf_idf.words)}
        stored = json.dumps({"settings": self.settings(), "vocabulary": words})
        (folder / "linear.json").write_text(stored, encoding="utf-8")
        np.savez(folder / "linear.npz", weights=self._weights, bias=self._bias, idf=self.tf_idf.idf)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> LinearProbe:
        stored = json.loads((folder / "linear.json").read_text(encoding="utf-8"))
        probe = cls(**stored["settings"])
        with (folder / "linear.npz").open("rb") as file, np.load(file) as arrays:
            probe._weights, probe._bias = arrays["weights"], arrays["bias"]
            words = tuple(sorted(stored["vocabulary"], key=stored["vocabulary"].get))
            probe._tf_idf = TfIdf(words, arrays["idf"])
        return probe


def check_analyzer(analyzer: Any) -> None:
    """Raise a LopsError if there is no such analyzer."""
    if not isinstance(analyzer, str) or analyzer not in ANALYZERS:
        raise LopsError(
            f"{typed('analyzer')} is {analyzer!r:.80}; wanted one of {', '.join(ANALYZERS)}"
        )
