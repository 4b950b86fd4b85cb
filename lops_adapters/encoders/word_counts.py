"""Texts as counts of words: tokenised once, then cut into rows for any training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count, repeat
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.word_hashes import distinct, read_words
from lops_adapters.scripts import UNSPACED, is_unspaced

# How texts are cut: words; n-grams of characters; or both, each script as it is written.
ANALYZERS = (AUTO, WORD, CHAR) = ("auto", "word", "char")


@dataclass(frozen=True)
class WordCounts:
    """Counts of n texts over all words that occur in any text they were read with.

    Attributes:
        counts: (n, w) float32 CSR.
        words: w words, sorted; shared by all cuts.
        analyzer: one of ``ANALYZERS``, how the texts were cut.
    """

    counts: Any
    words: tuple[str, ...]
    analyzer: str = AUTO

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def rows(self, positions: np.ndarray) -> WordCounts:
        """Return the texts at (m,) int positions."""
        return WordCounts(self.counts[positions], self.words, self.analyzer)

    def vocabulary(self, most: int) -> np.ndarray:
        """Return the sorted columns of the ``most`` most frequent words, as scikit-learn does."""
        used = np.flatnonzero(np.bincount(self.counts.indices, minlength=len(self.words)))
        if len(used) <= most:
            return used
        frequency = np.asarray(self.counts.sum(axis=0)).ravel()[used]
        return np.sort(used[(-frequency).argsort()[:most]])

    def over(self, words: Sequence[str], columns: np.ndarray | None) -> Any:
        """Return the counts of distinct words, (n, len(words)) CSR; at ``columns``, if known."""
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


_WORD = re.compile(r"\w\w+")
_RUN = re.compile(r"\w+")  # of other scripts
LONGEST = 3  # characters of an n-gram


# Of ASCII: letters in lower case, digits, the underscore; all else parts words.
_PARTED = bytes(
    ord(letter.lower()) if letter.isalnum() or letter == "_" else ord(" ")
    for letter in map(chr, range(128))
).ljust(256)


def ascii_words(text: str) -> bytes:
    """Return the words of a text in ASCII, of one letter or more, in lower case, between spaces.

    >>> ascii_words("The bank's A_1")
    b'the bank s a_1'
    """
    return text.encode("ascii").translate(_PARTED)


def pieces_of(text: str, analyzer: str = AUTO) -> list[str]:
    """Return the words and n-grams of a text, in lower case.

    Words have two or more letters or digits. N-grams have one to three characters, and do not cross
    spaces. The analyzer is ``word``: words alone; ``char``: n-grams alone; ``auto``: n-grams of
    scripts without spaces, words of the others.

    >>> pieces_of("The Bank of 東京")
    ['the', 'bank', 'of', '東', '京', '東京']
    >>> pieces_of("of 東京", "word"), pieces_of("of 東京", "char")
    (['of', '東京'], ['o', 'f', 'of', '東', '京', '東京'])
    """
    if analyzer != CHAR and text.isascii():
        return [word for word in ascii_words(text).decode().split() if len(word) > 1]
    lowered = text.lower()
    if analyzer == WORD or (analyzer == AUTO and not is_unspaced(lowered)):
        return _WORD.findall(lowered)
    spaced = UNSPACED.sub(" ", lowered)
    pieces = _WORD.findall(spaced) if analyzer == AUTO else _n_grams(_RUN.findall(spaced))
    return pieces + _n_grams(UNSPACED.findall(lowered))


def _n_grams(runs: Iterable[str]) -> list[str]:
    return [
        run[i : i + size]
        for run in runs
        for size in range(1, LONGEST + 1)
        for i in range(len(run) - size + 1)
    ]


class KnownWords:
    """Counts the words of further texts, over the words of texts that were counted before.

    >>> reader = KnownWords(count_words(["river bank", "stock"]))
    >>> reader(["the bank of the river bank"]).counts.toarray().tolist()
    [[2.0, 1.0, 0.0]]
    """

    def __init__(self, counts: WordCounts) -> None:
        self._words, self._analyzer = counts.words, counts.analyzer
        self._columns: dict[int, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the words alone; their columns are made again where they are used."""
        return {**self.__dict__, "_columns": {}}

    def __call__(self, samples: Sequence[Any]) -> WordCounts:
        """Count; words that are not known are ignored."""
        if not self._columns:
            written = (word.encode("utf-8", "surrogatepass") for word in self._words)
            hashes = (words.hashes().tolist() for words in read_words(written))
            self._columns = dict(zip(chain.from_iterable(hashes), count()))
        counts = _counted(samples, self._analyzer, self._columns)
        return WordCounts(_in_order(counts), self._words, self._analyzer)


def count_words(samples: Sequence[Any], analyzer: str = AUTO) -> WordCounts:
    """Tokenise strings, tokens or sentences of tokens, see :func:`pieces_of`."""
    found = list[str]()
    counts = _counted(samples, analyzer, {}, found)
    order = sorted(range(len(found)), key=found.__getitem__)
    places = np.empty(len(found), dtype=counts.indices.dtype)
    places[order] = np.arange(len(found))
    counts.indices = places[counts.indices]
    return WordCounts(_in_order(counts), tuple(map(found.__getitem__, order)), analyzer)


def _in_order(counts: Any) -> Any:
    """Return counts with ascending columns in every row, faster than by sorting."""
    return counts.tocsc().tocsr()


def _counted(
    samples: Sequence[Any], analyzer: str, columns: dict[int, int], found: list[str] | None = None
) -> Any:
    """Return the counts, (n, columns) float32 CSR, of words by the columns of their hashes.

    Words without a column are given the next one and added to ``found``; None: they do not count.
    """
    from scipy import sparse

    rows, cells, counted = [np.zeros(1, dtype=np.int64)], list[np.ndarray](), list[np.ndarray]()
    shortest = 1 if analyzer == CHAR else 2  # in bytes
    for every in read_words(_written(joined(sample), analyzer) for sample in samples):
        words = every.longer_than(shortest - 1)
        hashes, m = words.hashes(), len(words.bounds) - 1
        first, which = distinct(hashes)
        names = hashes[first].tolist()
        of_names = np.fromiter(map(columns.get, names, repeat(-1)), np.int32, len(names))
        new = np.flatnonzero(of_names < 0)
        if found is not None and len(new):
            of_names[new] = np.arange(len(columns), len(columns) + len(new))
            columns.update(zip((names[i] for i in new), of_names[new].tolist(), strict=True))
            found += words.at(first[new])
        of_text = np.repeat(np.arange(m), np.diff(words.bounds))
        places, times = np.unique(of_text * len(names) + which, return_counts=True)
        text, name = np.divmod(places, max(1, len(names)))
        known = of_names[name] >= 0
        rows.append(rows[-1][-1] + np.cumsum(np.bincount(text[known], minlength=m)))
        cells.append(of_names[name[known]])
        counted.append(times[known].astype(np.float32))
    data, indices, starts = map(np.concatenate, (counted, cells, rows))
    shape = (len(samples), len(columns))
    return sparse.csr_matrix((data, indices, starts), shape=shape)


def _written(text: str, analyzer: str) -> bytes:
    """Return the pieces of a text between spaces, and, of ASCII, words of one letter."""
    if analyzer != CHAR and text.isascii():
        return ascii_words(text)
    return " ".join(pieces_of(text, analyzer)).encode("utf-8", "surrogatepass")


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
