"""Texts as counts of words: tokenised once, then cut into rows for any training."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
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
_BLOCK = 4096  # texts whose words are held before they are counted


# Of ASCII: letters in lower case, digits, the underscore; all else parts words.
_PARTED = bytes(
    ord(letter.lower()) if letter.isalnum() or letter == "_" else ord(" ")
    for letter in map(chr, range(128))
).ljust(256)


def ascii_words(text: str) -> list[str]:
    """Return the words of a text in ASCII, of one letter or more, in lower case.

    Faster than a regular expression.

    >>> ascii_words("The bank's A_1")
    ['the', 'bank', 's', 'a_1']
    """
    return text.encode("ascii").translate(_PARTED).decode("ascii").split()


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
        return [word for word in ascii_words(text) if len(word) > 1]
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
        self._columns: dict[str, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the words alone; their columns are made again where they are used."""
        return {**self.__dict__, "_columns": {}}

    def __call__(self, samples: Sequence[Any]) -> WordCounts:
        """Count; words that are not known are ignored."""
        if not self._columns:
            self._columns = {word: column for column, word in enumerate(self._words)}
        counts = _counted(samples, self._analyzer, self._columns)
        return WordCounts(counts, self._words, self._analyzer)


def count_words(samples: Sequence[Any], analyzer: str = AUTO) -> WordCounts:
    """Tokenise strings, tokens or sentences of tokens, see :func:`pieces_of`."""
    columns: defaultdict[str, int] = defaultdict()
    columns.default_factory = columns.__len__  # a new word gets the next column
    counts = _counted(samples, analyzer, columns)
    words = tuple(sorted(columns))
    place = np.empty(len(words), dtype=counts.indices.dtype)
    place[[columns[word] for word in words]] = np.arange(len(words))
    counts.indices = place[counts.indices]
    counts.has_sorted_indices = False
    counts.sort_indices()
    return WordCounts(counts, words, analyzer)


def _counted(samples: Sequence[Any], analyzer: str, columns: dict[str, int]) -> Any:
    """Return the counts, (n, columns) float32 CSR, of words that have a column or are given one."""
    from scipy import sparse

    known = not isinstance(columns, defaultdict)
    column: Any = columns.get if known else columns.__getitem__
    blocks = []
    for start in range(0, max(1, len(samples)), _BLOCK):
        read, ends = list[np.ndarray](), [0]
        for sample in samples[start : start + _BLOCK]:
            words = pieces_of(joined(sample), analyzer)
            of_words = map(column, words, repeat(-1)) if known else map(column, words)
            places = np.fromiter(of_words, dtype=np.int32, count=len(words))
            read.append(places[places >= 0] if known else places)
            ends.append(ends[-1] + len(read[-1]))
        indices = np.concatenate([*read, np.zeros(0, dtype=np.int32)])
        cells = np.ones(len(indices), dtype=np.float32), indices, np.array(ends)
        block = sparse.csr_matrix(cells, shape=(len(read), len(columns)))
        block.sum_duplicates()
        blocks.append(block)
    for block in blocks:
        block.resize(block.shape[0], len(columns))
    return sparse.vstack(blocks, format="csr")


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
