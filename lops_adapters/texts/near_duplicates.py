"""Groups of texts that are nearly the same: copies with small changes, filled-in templates.

Notation: n texts; the similarity of two is the Jaccard similarity of their shingles.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

ALIKE = 0.8  # similarity from which two texts are near-duplicates
MOST = 100_000  # texts that are compared by shingles; of more, only equal ones are found
_WORDS = 3  # of a shingle
_LONG = 20  # characters of a word; longer ones are of a script without spaces
_BANDS, _ROWS = 12, 4  # of the signature: texts of similarity 0.8 meet with a probability of 0.998
_PRIME = (1 << 31) - 1
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\b\d+\b")


def near_duplicates(texts: Sequence[str]) -> list[np.ndarray]:
    """Return groups of near-duplicates: sorted positions, int64, two or more, by the first of them.

    Case, punctuation and the values of numbers do not count. Texts are compared within buckets of
    equal MinHash bands (Broder, 1997), each with the first and the last one before it; groups that
    share a text are joined.

    Args:
        texts: n strings; those without a word are in no group.

    >>> texts = ["Order 17 has not arrived, where is it?", "Refund!", "order 4 has not arrived!"]
    >>> [group.tolist() for group in near_duplicates([*texts, "order 8 has not arrived"])]
    [[2, 3]]
    """
    words = [_words(text) for text in texts]
    leaders = _Joined(len(texts))
    first: dict[tuple[str, ...], int] = {}
    for position, own in enumerate(words):
        if own:
            leaders.join(first.setdefault(tuple(own), position), position)
    distinct = list(first.values())
    if len(distinct) <= MOST:
        shingles = [_shingles(words[position]) for position in distinct]
        for a, b in _candidates(shingles):
            if leaders.same(distinct[a], distinct[b]):
                continue
            one, other = shingles[a], shingles[b]
            common = len(np.intersect1d(one, other, assume_unique=True))
            if common >= ALIKE * (len(one) + len(other) - common):
                leaders.join(distinct[a], distinct[b])
    return leaders.groups()


def _words(text: str) -> list[str]:
    """Return the words of a text without case, numbers as 0; of unspaced scripts, the characters.

    >>> _words("Order 17: NOT arrived")
    ['order', '0', 'not', 'arrived']
    """
    found = _WORD.findall(_NUMBER.sub("0", text.casefold()))
    return [part for word in found for part in (word if len(word) > _LONG else [word])]


def _shingles(words: list[str]) -> np.ndarray:
    """Return the hashes of a text's runs of words, sorted and distinct, int64 below 2**31."""
    runs = range(max(1, len(words) - _WORDS + 1))
    found = {zlib.crc32(" ".join(words[i : i + _WORDS]).encode("utf-8", "replace")) for i in runs}
    return np.array(sorted(found), dtype=np.int64) & 0x7FFFFFFF


def _candidates(shingles: Sequence[np.ndarray]) -> Iterator[tuple[int, int]]:
    """Yield pairs of places whose signatures agree in a band.

    Each comes with the first of its bucket and with the one before it.
    """
    if not shingles:
        return
    every = np.concatenate(shingles).astype(np.uint64)
    starts = np.concatenate([[0], np.cumsum([len(own) for own in shingles])[:-1]])
    rng = np.random.default_rng(0)
    for _ in range(_BANDS):
        band = [
            np.minimum.reduceat(_permuted(every, *rng.integers(1, _PRIME, 2)), starts)
            for _ in range(_ROWS)
        ]
        _, bucket = np.unique(np.column_stack(band), axis=0, return_inverse=True)
        order = np.argsort(bucket.ravel(), kind="stable")
        inside = bucket.ravel()[order]
        opens = np.flatnonzero(np.concatenate([[True], inside[1:] != inside[:-1]]))
        leader = np.repeat(order[opens], np.diff(np.append(opens, len(order))))
        later = np.setdiff1d(np.arange(len(order)), opens)
        for before in (leader[later], order[later - 1]):
            yield from zip(before.tolist(), order[later].tolist(), strict=True)


def _permuted(values: np.ndarray, a: int, b: int) -> np.ndarray:
    """Return numbers below 2**31 in another order, as uint64: a linear hash modulo a prime."""
    return (values * np.uint64(a) + np.uint64(b)) % np.uint64(_PRIME)


class _Joined:
    """Disjoint sets of positions."""

    def __init__(self, n: int) -> None:
        self._above = list(range(n))

    def _top(self, position: int) -> int:
        while self._above[position] != position:
            self._above[position] = self._above[self._above[position]]
            position = self._above[position]
        return position

    def same(self, one: int, other: int) -> bool:
        """Return whether two positions are in one set."""
        return self._top(one) == self._top(other)

    def join(self, one: int, other: int) -> None:
        """Put two positions into one set; the smaller top leads."""
        low, high = sorted((self._top(one), self._top(other)))
        self._above[high] = low

    def groups(self) -> list[np.ndarray]:
        """Return the sets of two positions or more."""
        tops = np.array([self._top(position) for position in range(len(self._above))], dtype=int)
        order = np.argsort(tops, kind="stable")
        cuts = np.flatnonzero(np.diff(tops[order])) + 1
        return [group for group in np.split(order, cuts) if len(group) > 1]
