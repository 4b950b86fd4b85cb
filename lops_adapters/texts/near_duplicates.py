"""Groups of texts that are nearly the same: copies with small changes, filled-in templates.

Notation: n texts; the similarity of two is the Jaccard similarity of their shingles.
"""

import hashlib
import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.encoders.word_counts import ascii_words
from lops_adapters.encoders.word_hashes import Words, read_words

ALIKE = 0.8  # similarity from which two texts are near-duplicates
MOST = 100_000  # texts that are compared by shingles; of more, only equal ones are found
_WORDS = 3  # of a shingle
_LONG = 20  # characters of a word; longer ones are of a script without spaces
_BANDS, _ROWS = 12, 4  # of the signature: texts of similarity 0.8 meet with a probability of 0.998
_SKETCH = 256  # hashes of a set that its signature is of
_PART = 512  # sets at a time
_WORD = re.compile(r"\w+")


def near_duplicates(texts: Sequence[str]) -> list[np.ndarray]:
    """Return groups of near-duplicates: sorted positions, int64, two or more, by the first of them.

    Case, punctuation and the values of numbers do not count. Texts are compared within buckets of
    equal MinHash bands (Broder, 1997), each with the first and the last one before it; groups that
    share a text are joined.

    >>> texts = ["Order 17 has not arrived, where is it?", "Refund!", "order 4 has not arrived!"]
    >>> [group.tolist() for group in near_duplicates([*texts, "order 8 has not arrived"])]
    [[2, 3]]
    """
    equal: dict[bytes, list[int]] = {}
    shingles = list[np.ndarray]()  # of the first text of each group
    position = -1
    for words in read_words(map(_written, texts)):
        hashes, new = _hashes(words), list[int]()
        for place, (start, end) in enumerate(pairwise(words.bounds.tolist())):
            position += 1
            if start == end:
                continue
            # A digest: of many texts, the words themselves would fill the memory.
            digest = hashlib.blake2b(hashes[start:end].tobytes(), digest_size=16).digest()
            positions = equal.setdefault(digest, [])
            positions.append(position)
            if len(positions) == 1:
                new.append(place)
        if len(equal) <= MOST:
            of_texts = _shingles(hashes, np.diff(words.bounds))
            shingles += [of_texts[place].copy() for place in new]
        else:
            shingles.clear()
    groups = list(equal.values())
    above = list(range(len(groups)))  # disjoint sets of groups; the smallest one leads

    def leader(group: int) -> int:
        while above[group] != group:
            above[group] = group = above[above[group]]
        return group

    for a, b in _candidates(shingles) if shingles else ():
        low, high = sorted((leader(a), leader(b)))
        if low == high:
            continue
        one, other = shingles[a], shingles[b]
        common = len(np.intersect1d(one, other, assume_unique=True))
        if common >= ALIKE * (len(one) + len(other) - common):
            above[high] = low
    joined: dict[int, list[int]] = {}
    for group, positions in enumerate(groups):
        joined.setdefault(leader(group), []).extend(positions)
    return [np.array(sorted(positions)) for positions in joined.values() if len(positions) > 1]


def sentences(groups: Sequence[np.ndarray], labels: Sequence[Hashable]) -> list[str]:
    """Return a sentence about groups of near-duplicates; none without any."""
    if not groups:
        return []
    rows = sum(map(len, groups))
    torn = conflicting(groups, labels)
    many = "1 group" if len(groups) == 1 else f"{len(groups):,} groups"
    return [f"Near-duplicates: {many} of {rows:,} rows, {torn:,} with several labels."]


def conflicting(groups: Sequence[np.ndarray], labels: Sequence[Hashable]) -> int:
    """Return the number of groups with several labels."""
    return sum(len({labels[i] for i in group.tolist()}) > 1 for group in groups)


def _written(text: str) -> bytes:
    """Return the words of a text without case, between spaces; of unspaced scripts, characters.

    >>> _written("Order 17: NOT!").split()
    [b'order', b'17', b'not']
    """
    if text.isascii():
        return ascii_words(text)
    words = ("0" if word.isdecimal() else word for word in _WORD.findall(text.casefold()))
    cut = (word if len(word) > _LONG else [word] for word in words)
    return " ".join(chain.from_iterable(cut)).encode()


def _hashes(words: Words) -> np.ndarray:
    """Return the (w,) uint32 hashes of words; all numbers have one."""
    letters = np.frombuffer(words.written, dtype=np.uint8)
    others = np.append(0, np.cumsum((letters < ord("0")) | (letters > ord("9"))))
    hashes = words.hashes()
    hashes[others[words.starts] == others[words.starts + words.sizes]] = ord("0")
    return (tie_hash(hashes, 0) >> np.uint64(32)).astype(np.uint32)


def _shingles(words: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """Return the hashes of each text's runs of words, sorted and distinct, uint32.

    ``words`` are the (w,) uint32 hashes of the texts' words, ``counts`` (m,) how many each has.
    """
    left = np.repeat(np.cumsum(counts), counts) - np.arange(len(words))  # words to the end
    runs = np.zeros(len(words), dtype=np.uint64)
    for word in range(_WORDS):  # a run ends with its text
        grown = np.flatnonzero(left > word)
        runs[grown] = tie_hash(runs[grown] ^ words[grown + word], word)
    counted = (left >= _WORDS) | (left == np.repeat(counts, counts))
    of_text = np.repeat(np.arange(len(counts), dtype=np.uint64) << np.uint64(32), counts)
    keys = np.sort(of_text[counted] | runs[counted] >> np.uint64(32))  # faster than np.unique
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    bounds = np.searchsorted(keys, np.arange(1, len(counts), dtype=np.uint64) << np.uint64(32))
    return np.split(keys.astype(np.uint32), bounds)


def _candidates(shingles: Sequence[np.ndarray]) -> Iterator[tuple[int, int]]:
    """Yield pairs of places whose signatures agree in a band.

    Each comes with the first of its bucket and with the one before it.
    """
    signatures = _signatures(shingles)
    for start in range(0, signatures.shape[1], _ROWS):
        band = signatures[:, start : start + _ROWS]
        bucket = np.zeros(len(band), dtype=np.uint64)
        for number, column in enumerate(band.T):
            bucket = tie_hash(bucket ^ column, number)
        order = np.argsort(bucket, kind="stable")
        inside = bucket[order]
        opens = np.flatnonzero(np.concatenate([[True], inside[1:] != inside[:-1]]))
        leader = np.repeat(order[opens], np.diff(np.append(opens, len(order))))
        later = np.setdiff1d(np.arange(len(order)), opens)
        for neighbours in (leader[later], order[later - 1]):
            yield from zip(neighbours.tolist(), order[later].tolist(), strict=True)


def _signatures(shingles: Sequence[np.ndarray]) -> np.ndarray:
    """Return the MinHash signatures of sets, (m, bands times rows) uint32.

    Of large sets, the smallest hashes count: a random sample that near-duplicates have in common.
    """
    pairs = np.random.default_rng(0).integers(1 << 32, size=(_BANDS * _ROWS, 2), dtype=np.uint32)
    signatures = np.empty((len(shingles), len(pairs)), dtype=np.uint32)
    for start in range(0, len(shingles), _PART):
        part = [hashes[:_SKETCH] for hashes in shingles[start : start + _PART]]
        every = np.concatenate(part)
        starts = np.cumsum([0, *map(len, part[:-1])])
        for column, (a, b) in enumerate(pairs):  # a permutation of the hashes, and its least value
            hashed = every * (a | np.uint32(1)) + b
            signatures[start : start + len(part), column] = np.minimum.reduceat(hashed, starts)
    return signatures
