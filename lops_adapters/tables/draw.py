"""The sample of a table: the rows with the smallest keys, of every class.

Keys are hashes of the content and the seed (:mod:`lops_adapters.selection.canonical`), so the
sample depends neither on the order of the rows nor on how they are cut into blocks. Among equal
rows, the first ones are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import tie_hash

FLOOR = 1000  # rows per class, or all of a smaller one; fewer with very many classes


class Drawn(NamedTuple):
    """Rows as they were added, by their (n,) int64 ascending positions."""

    positions: np.ndarray
    rows: list[Any]


class Limits(NamedTuple):
    """Rows up to the key ``largest``, or up to that of their label's key, may be in the sample."""

    largest: int
    of_class: dict[int, int]


_EVERYTHING = 2**64 - 1


def row_ids(keys: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return (n,) uint64 numbers by content and label, from the (n,) uint64 keys of both."""
    return tie_hash(tie_hash(keys, 1) ^ np.asarray(labels, dtype=np.uint64), 2)


def floor_of(n_classes: int, most: int) -> int:
    """Return how many rows of each class are drawn at least, if it has as many.

    >>> floor_of(20, 300_000), floor_of(400, 100_000)
    (1000, 250)
    """
    return min(FLOOR, most // max(1, n_classes))


def expected(counts: dict[int, int], most: int, slack: float = 1.0) -> Limits:
    """Return limits that the sample of ``most`` rows probably keeps, since keys are uniform.

    ``counts`` are the rows per key of a label. A larger ``slack`` is surer, with more rows below.
    """

    def limit(n_drawn: int, rows: int) -> int:
        share = (n_drawn + slack * (6 * n_drawn**0.5 + 10)) / max(1, rows)
        return min(_EVERYTHING, int(share * 2.0**64))

    floor = floor_of(len(counts), most)
    of_class = {label: limit(floor, rows) for label, rows in counts.items()}
    return Limits(limit(most, sum(counts.values())), of_class)


class Draw:
    """Collects the sample of ``most`` rows that come in blocks; two of them can be joined.

    At most about three times ``most`` rows are in memory; rows beyond the limits are dropped.
    """

    def __init__(self, most: int, limits: Limits | None = None) -> None:
        self.most = most
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._rows: list[Any] = []
        self._kept = 0  # rows after the last cut
        # Keys that may still be drawn: of any class, and by the key of the label.
        self._largest, of_class = limits or Limits(_EVERYTHING, {})
        self._of_class = dict(of_class)

    def add(
        self,
        keys: np.ndarray,
        labels: np.ndarray,
        positions: np.ndarray,
        rows: Sequence[Any],
        first: np.ndarray | bool = False,
        ids: np.ndarray | None = None,
    ) -> None:
        """Add a block of m rows; those that are drawn come back.

        Keys are (m,) uint64, by content and of the labels; positions (m,) int64 in the table,
        distinct; ``first`` (m,) bool, rows that are drawn before others, with any keys; ``ids``
        (m,) of :func:`row_ids`, if they are known.
        """
        ids = row_ids(keys, labels) if ids is None else ids
        keys = np.where(first, 0, keys)
        chosen = np.flatnonzero(self._may_belong(keys, labels))
        self._parts.append((keys[chosen], labels[chosen], positions[chosen], ids[chosen]))
        self._rows += [rows[row] for row in chosen.tolist()]
        if len(self._rows) > self._kept + max(self.most // 2, 10_000):
            self._cut()

    def join(self, other: Draw) -> None:
        """Add the rows of another draw."""
        keys, labels, positions, ids = other._columns()
        self.add(keys, labels, positions, other._rows, ids=ids)

    def _may_belong(self, keys: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return (m,) bool: whether rows can be in the sample, as far as is known."""
        distinct, index = np.unique(labels, return_inverse=True)
        limits = [self._of_class.get(int(label), _EVERYTHING) for label in distinct]
        near = keys <= np.array(limits, dtype=np.uint64)[index]
        return np.asarray(near | (keys <= np.uint64(self._largest)))

    def is_enough(self, counts: dict[int, int]) -> bool:
        """Return whether the rows hold the sample in spite of the limits.

        ``counts`` are the rows per key of a label, of the whole table.
        """
        keys, labels, _, _ = self._columns()
        floor, total = floor_of(len(counts), self.most), sum(counts.values())
        below = int((keys <= np.uint64(self._largest)).sum())
        distinct, drawn = np.unique(labels, return_counts=True)
        have = dict(zip(distinct.tolist(), drawn.tolist(), strict=True))
        return below >= min(self.most, total) and all(
            have.get(label, 0) >= min(floor, rows) for label, rows in counts.items()
        )

    def result(self) -> Drawn:
        """Return the sample: at most ``most`` rows, or all of a smaller table."""
        keys, labels, positions, ids = self._columns()
        order = np.lexsort((positions, ids, keys))
        rank, n_classes = _ranks(labels[order])
        fixed = rank < floor_of(n_classes, self.most)
        others = np.flatnonzero(~fixed)[: max(0, self.most - int(fixed.sum()))]
        chosen = np.sort(order[np.concatenate([np.flatnonzero(fixed), others])])
        chosen = chosen[np.argsort(positions[chosen], kind="stable")]
        rows = [self._rows[row] for row in chosen.tolist()]
        return Drawn(positions[chosen], rows)

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
            self._largest = min(self._largest, int(keys[order[self.most - 1]]))
            last = order[rank == floor - 1]
            for label, key in zip(labels[last].tolist(), keys[last].tolist(), strict=True):
                self._of_class[label] = min(key, self._of_class.get(label, _EVERYTHING))
        kept = np.sort(order[stay])
        self._parts = [(keys[kept], labels[kept], positions[kept], ids[kept])]
        self._rows = [self._rows[row] for row in kept.tolist()]
        self._kept = len(kept)


def _ranks(labels: np.ndarray) -> tuple[np.ndarray, int]:
    order = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - np.repeat(starts, counts)
    return rank, len(counts)
