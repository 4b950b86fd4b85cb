"""Texts as counts of words: tokenised once, then cut into rows for any training."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError


@dataclass(frozen=True)
class WordCounts:
    """Counts of n texts over all words that occur in any text they were read with.

    Attributes:
        counts: (n, w) float32 CSR.
        words: w words, sorted; shared by all cuts.
        masked: words that were left out.

    """

    counts: Any
    words: tuple[str, ...]
    masked: tuple[str, ...]

    def __len__(self) -> int:
        """The number of texts."""
        return int(self.counts.shape[0])

    def rows(self, positions: np.ndarray) -> WordCounts:
        """Return the texts at (m,) int positions."""
        return WordCounts(self.counts[positions], self.words, self.masked)

    def vocabulary(self, most: int) -> np.ndarray:
        """Return the sorted columns of the ``most`` most frequent words, as scikit-learn does."""
        used = np.flatnonzero(np.bincount(self.counts.indices, minlength=len(self.words)))
        if len(used) <= most:
            return used
        frequency = np.asarray(self.counts.sum(axis=0)).ravel()[used]
        return np.sort(used[(-frequency).argsort()[:most]])

    def over(self, words: Sequence[str], columns: np.ndarray | None) -> Any:
        """Return the counts of certain words, (n, len(words)) float32 CSR.

        Args:
            words: distinct words.
            columns: their columns, if the words are known to be these.

        """
        if columns is not None:
            return self.counts[:, columns]
        from scipy import sparse

        place = {word: column for column, word in enumerate(self.words)}
        pairs = [(place[word], at) for at, word in enumerate(words) if word in place]
        rows, at = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        shape = (len(self.words), len(words))
        choose = sparse.csr_matrix((np.ones(len(at), dtype=np.float32), (rows, at)), shape=shape)
        chosen = self.counts @ choose
        chosen.sort_indices()
        return chosen


def count_words(samples: Sequence[Any], masked: tuple[str, ...]) -> WordCounts:
    """Tokenise texts: words of two or more letters or digits, in lower case.

    Args:
        samples: strings, tokens, or sentences of tokens.
        masked: words to leave out, as :func:`parts_of` returns them.

    """
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [joined(sample) for sample in samples]
    counter = CountVectorizer(stop_words=list(masked) or None, dtype=np.float32)
    try:
        counts = counter.fit_transform(texts).tocsr()
    except ValueError:  # no word at all
        return WordCounts(sparse.csr_matrix((len(texts), 0), dtype=np.float32), (), masked)
    counts.sort_indices()
    return WordCounts(counts, tuple(counter.get_feature_names_out().tolist()), masked)


def parts_of(words: Collection[str]) -> tuple[str, ...]:
    """Return the words into which given words are cut, like the texts, sorted.

    >>> parts_of(["E-mail", "team"])
    ('mail', 'team')
    """
    from sklearn.feature_extraction.text import CountVectorizer

    analyze = CountVectorizer().build_analyzer()
    return tuple(sorted({part for word in words for part in analyze(word)}))


def joined(sample: Any) -> str:
    """Return a sample as one string; tokens or sentences of tokens are joined by spaces.

    >>> joined([["the", "river", "bank"], ["rose"]])
    'the river bank rose'
    """
    if isinstance(sample, str):
        return sample
    if not isinstance(sample, Iterable):
        raise LopsError(
            f"a sample is or holds {sample!r}; wanted a string, tokens, or sentences of tokens"
        )
    return " ".join(joined(part) for part in sample)
