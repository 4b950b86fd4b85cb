"""Texts as counts of words: tokenised once, then cut into rows for any training."""

from __future__ import annotations

import re
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


# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"(?u)\b\w\w+\b")
_LONGEST = 3  # characters of an n-gram


def pieces_of(text: str) -> list[str]:
    """Return the words of a text, in lower case, and the n-grams of scripts without spaces.

    Words have two or more letters or digits; n-grams have one to three characters.

    >>> pieces_of("The Bank of 東京")
    ['the', 'bank', 'of', '東', '京', '東京']
    """
    lowered = text.lower()
    found = _WORD.findall(_UNSPACED.sub(" ", lowered))
    for run in _UNSPACED.findall(lowered):
        for size in range(1, _LONGEST + 1):
            found += [run[i : i + size] for i in range(len(run) - size + 1)]
    return found


class KnownWords:
    """Counts the words of further texts, over the words of texts that were counted before.

    Args:
        counts: of the earlier texts; their words and masked words are kept.

    >>> reader = KnownWords(count_words(["river bank", "stock"], ()))
    >>> reader(["the bank of the river bank"]).counts.toarray().tolist()
    [[2.0, 1.0, 0.0]]

    """

    def __init__(self, counts: WordCounts) -> None:
        self._words, self._masked = counts.words, counts.masked
        self._counters: dict[bool, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the words alone; the counters are made again where they are used."""
        return {**self.__dict__, "_counters": {}}

    def __call__(self, samples: Sequence[Any]) -> WordCounts:
        """Count; words that are not known are ignored."""
        texts = [joined(sample) for sample in samples]
        unspaced = any(_UNSPACED.search(text) for text in texts)
        if not self._words:
            return _without_words(texts, self._masked)
        if unspaced not in self._counters:
            self._counters[unspaced] = _counter(self._masked, unspaced, self._words)
        counts = self._counters[unspaced].transform(texts).tocsr()
        counts.sort_indices()
        return WordCounts(counts, self._words, self._masked)


def count_words(samples: Sequence[Any], masked: tuple[str, ...]) -> WordCounts:
    """Tokenise texts, see :func:`pieces_of`.

    Args:
        samples: strings, tokens, or sentences of tokens.
        masked: words to leave out, as :func:`parts_of` returns them.

    """
    texts = [joined(sample) for sample in samples]
    counter = _counter(masked, any(_UNSPACED.search(text) for text in texts))
    try:
        counts = counter.fit_transform(texts).tocsr()
    except ValueError:  # no word at all
        return _without_words(texts, masked)
    counts.sort_indices()
    return WordCounts(counts, tuple(counter.get_feature_names_out().tolist()), masked)


def _counter(masked: tuple[str, ...], unspaced: bool, words: tuple[str, ...] | None = None) -> Any:
    """Return scikit-learn's counter of all words, or of certain ones."""
    from sklearn.feature_extraction.text import CountVectorizer

    settings: dict[str, Any] = {"stop_words": list(masked) or None}
    if unspaced:  # slower, and equal for other texts
        left_out = set(masked)
        settings = {"analyzer": lambda text: [p for p in pieces_of(text) if p not in left_out]}
    if words is not None:
        settings["vocabulary"] = {word: column for column, word in enumerate(words)}
    return CountVectorizer(**settings, dtype=np.float32)


def _without_words(texts: Sequence[str], masked: tuple[str, ...]) -> WordCounts:
    from scipy import sparse

    return WordCounts(sparse.csr_matrix((len(texts), 0), dtype=np.float32), (), masked)


def parts_of(words: Collection[str]) -> tuple[str, ...]:
    """Return the words into which given words are cut, like the texts, sorted.

    >>> parts_of(["E-mail", "team"])
    ('mail', 'team')
    """
    return tuple(sorted({part for word in words for part in pieces_of(word)}))


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
