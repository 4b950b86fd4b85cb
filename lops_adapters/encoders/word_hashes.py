"""The words of texts as hashes, all at once: what counting, near-duplicates and word pieces read.

A text is bytes whose words stand between spaces: UTF-8, without other bytes below ``!``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

_BLOCK = 2**19  # bytes that are read at once: the arrays fit a processor's cache
_STEP = 8  # bytes of a hash
_FIRST = np.array([*(2 ** (8 * size) - 1 for size in range(_STEP + 1))], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Words(NamedTuple):
    """The w words of m texts, in their order.

    Attributes:
        starts: (w,) int64 places of the words' first bytes.
        sizes: (w,) int64 bytes of the words.
        bounds: (m + 1,) int64; the words of the text i are ``bounds[i]`` to ``bounds[i + 1] - 1``.
    """

    written: bytes
    starts: np.ndarray
    sizes: np.ndarray
    bounds: np.ndarray

    def longer_than(self, size: int) -> Words:
        """Return the words of more bytes."""
        longer = self.sizes > size
        before = np.concatenate([[0], np.cumsum(longer)])
        return Words(self.written, self.starts[longer], self.sizes[longer], before[self.bounds])

    def hashes(self) -> np.ndarray:
        """Return the (w,) uint64 hashes of the words."""
        return hashes_at(self.written, self.starts, self.sizes)

    def at(self, numbers: np.ndarray) -> list[str]:
        """Return the words of (m,) int numbers."""
        starts, written = self.starts[numbers], self.written
        places = zip(starts.tolist(), (starts + self.sizes[numbers]).tolist(), strict=True)
        return [written[start:end].decode("utf-8", "surrogatepass") for start, end in places]


def read_words(texts: Iterable[bytes]) -> Iterator[Words]:
    """Yield the words of texts, some texts at a time; of no text, one block without a text."""
    block, size = list[bytes](), 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield _words_of(block)
            block, size = [], 0
    if block or not size:
        yield _words_of(block)


def _words_of(texts: list[bytes]) -> Words:
    written = b" " + b" ".join([*texts, bytes(_STEP)])
    inside = np.frombuffer(written, dtype=np.uint8) > ord(" ")
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts = edges[::2].copy()
    ends = np.cumsum([1, *(len(text) + 1 for text in texts)])
    return Words(written, starts, edges[1::2] - starts, np.searchsorted(starts, ends))


def hashes_at(written: bytes, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the (m,) uint64 hashes of parts of a text that eight bytes follow.

    Up to eight bytes are their own hash; longer parts have the same one with a probability of about
    2**-64.

    >>> hashes = hashes_at(b"a ab a" + bytes(8), np.array([0, 2, 5]), np.array([1, 2, 1]))
    >>> hashes.tolist() == [0x61, 0x6261, 0x61]
    True
    """
    eight = np.ndarray(len(written) - _STEP + 1, "<u8", written, strides=(1,))
    hashes = eight[starts] & _FIRST[np.minimum(sizes, _STEP)]
    done, left = _STEP, np.flatnonzero(sizes > _STEP)
    while len(left):
        more = eight[starts[left] + done] & _FIRST[np.minimum(sizes[left] - done, _STEP)]
        one = (hashes[left] + np.uint64(done)) * _MIX
        hashes[left] = (one ^ one >> np.uint64(29)) + more
        done += _STEP
        left = left[sizes[left] > done]
    return hashes


def distinct(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a place of each distinct hash, ascending, and which one each of (w,) hashes is."""
    order = np.argsort(hashes)
    ascending = hashes[order]
    first = np.concatenate([[True], ascending[1:] != ascending[:-1]])[: len(order)]
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(first) - 1
    return order[first], which
