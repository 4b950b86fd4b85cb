"""The sample that stands for a table: the rows with the smallest keys, of every class.

Keys are hashes of the content and the seed (:mod:`lops_adapters.selection.canonical`), so the
sample depends neither on the order of the rows nor on how they are cut into blocks. Among equal
rows, the first ones are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import tie_hash

FLOOR = 1000  # rows per class, or all of a smaller one, or fewer where there are very many classes


class Drawn(NamedTuple):
    """Rows in the order of their positions.

    Attributes:
        keys: (n,) uint64, by content.
        ids: (n,) uint64, by content and label.
        positions: (n,) int64 in the table, ascending.
        rows: n rows, as they were added.

    """

    keys: np.ndarray
    ids: np.ndarray
    positions: np.ndarray
    rows: list[Any]


def row_ids(keys: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return (n,) uint64 numbers by content and label, from the (n,) uint64 keys of both.

    >>> one, two, three = row_ids(np.array([1, 1, 2]), np.array([5, 6, 5]))
    >>> len({int(one), int(two), int(three)})
    3
    """
    return tie_hash(tie_hash(keys, 1) ^ np.asarray(labels, dtype=np.uint64), 2)


def floor_of(n_classes: int, most: int) -> int:
    """Return how many rows of each class are drawn at least, if it has as many.

    >>> floor_of(20, 300_000), floor_of(400, 100_000)
    (1000, 250)
    """
    return min(FLOOR, most // max(1, n_classes))


class Draw:
    """Collects the sample of rows that come in blocks; two of them can be joined.

    At most about three times ``most`` rows are in memory.

    Args:
        most: rows of the sample.

    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._rows: list[Any] = []
        self._kept = 0  # rows after the last cut
        self._largest = np.uint64(2**64 - 1)  # key that may still be drawn, of any class
        self._of_class: dict[int, int] = {}  # key of the label -> likewise, of the class

    def add(
        self, keys: np.ndarray, labels: np.ndarray, positions: np.ndarray, rows: Sequence[Any]
    ) -> None:
        """Add a block.

        Args:
            keys: (m,) uint64, by content.
            labels: (m,) uint64 keys of the labels.
            positions: (m,) int64 in the table, distinct.
            rows: m rows; those that are drawn come back.

        """
        at = np.flatnonzero(self.may_belong(keys, labels))
        ids = row_ids(keys[at], labels[at])
        self._parts.append((keys[at], labels[at], positions[at], ids))
        self._rows += [rows[place] for place in at.tolist()]
        if len(self._rows) > self._kept + max(self.most // 2, 10_000):
            self._cut()

    def join(self, other: Draw) -> None:
        """Add the rows of another draw."""
        keys, labels, positions, _ = other._columns()
        self.add(keys, labels, positions, other._rows)

    def may_belong(self, keys: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return (m,) bool: whether rows can be in the sample, as far as is known."""
        if not self._of_class:
            return np.ones(len(keys), dtype=bool)
        distinct, place = np.unique(labels, return_inverse=True)
        everything = 2**64 - 1
        limits = [self._of_class.get(int(label), everything) for label in distinct]
        return (keys <= self._largest) | (keys <= np.array(limits, dtype=np.uint64)[place])

    def result(self) -> Drawn:
        """Return the sample: at most ``most`` rows, or all of a smaller table."""
        keys, labels, positions, ids = self._columns()
        order = np.lexsort((positions, ids, keys))
        rank, n_classes = _ranks(labels[order])
        fixed = rank < floor_of(n_classes, self.most)
        others = np.flatnonzero(~fixed)[: max(0, self.most - int(fixed.sum()))]
        chosen = np.sort(order[np.concatenate([np.flatnonzero(fixed), others])])
        chosen = chosen[np.argsort(positions[chosen], kind="stable")]
        rows = [self._rows[place] for place in chosen.tolist()]
        return Drawn(keys[chosen], ids[chosen], positions[chosen], rows)

    def _columns(self) -> tuple[np.ndarray, ...]:
        if not self._parts:
            none = np.zeros(0, dtype=np.uint64)
            return none, none, none.astype(np.int64), none
        return tuple(np.concatenate(part) for part in zip(*self._parts, strict=True))

    def _cut(self) -> None:
        """Drop rows that cannot be in the sample any more.

        New classes only lower the floor, so what is kept holds every later sample.
        """
        keys, labels, positions, ids = self._columns()
        order = np.lexsort((positions, ids, keys))
        rank, n_classes = _ranks(labels[order])
        floor = floor_of(n_classes, self.most)
        stay = rank < floor
        stay[: self.most] = True
        if len(order) >= self.most:
            self._largest = keys[order[self.most - 1]]
            last = order[rank == floor - 1]
            self._of_class = dict(zip(labels[last].tolist(), keys[last].tolist(), strict=True))
        at = np.sort(order[stay])
        self._parts = [(keys[at], labels[at], positions[at], ids[at])]
        self._rows = [self._rows[place] for place in at.tolist()]
        self._kept = len(at)


def _ranks(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the (n,) rank of each row within its class, and the number of classes."""
    order = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - np.repeat(starts, counts)
    return rank, len(counts)
