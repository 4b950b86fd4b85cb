"""The different labels of a column or a list, counted block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block
from lops_adapters.formats.cells import is_unlabelled, whole
from lops_adapters.formats.paths import leaves
from lops_adapters.formats.places import SHOWN, Place, shown_places

MOST = 100_000  # different labels
_BITS = {"0": 0, "1": 1, "false": 0, "true": 1}
_SPELLINGS = 12  # of these, such as 1, 1.0, "1", "1.0", True
NONE = 0  # the number of "no label" in a tally


class Positions(NamedTuple):
    """The rows of a list in memory: one block, whose rows are known by their positions."""

    numbers: Sequence[int]
    path: Path = Path()
    unit: str = "position"

    def place(self, row: int) -> str:
        """Return the position of a row."""
        return f"position {self.numbers[row]}"


Where = Block | Positions  # where the rows of a block stand, for messages


class Tally:
    """The different labels of rows that come in blocks; can be pickled, and joined with another.

    A label is a number here, in the order of occurrence. Number 0 is no label. 1, 1.0 and True are
    three labels.

    Attributes:
        labels: by their numbers; None: no label.
        first: of each, where it stands first, as a label or as a vote.
        counts, votes: (d,) int64 rows of each, and votes of sources.
        places: of each, its first rows, with their positions in the table.
        with_gold: (d,) int64 rows that also have a gold label.
        gold: (number, gold label) -> rows.
        single: rows of votes with one 1 among zeros.
        words: NULL, N/A and such -> missing labels that are spelt so.
        unit: of the numbers of rows: line, row or position.
    """

    def __init__(self) -> None:
        self.labels: list[Any] = [None]
        self.first: list[Place] = [(Path(), 0)]
        self.counts = np.zeros(1, dtype=np.int64)
        self.votes = np.zeros(1, dtype=np.int64)
        self.places: list[list[tuple[int, Place]]] = [[]]
        self.with_gold = np.zeros(1, dtype=np.int64)
        self.gold: Counter[tuple[int, Hashable]] = Counter()
        self.single = 0
        self.words: Counter[str] = Counter()
        self.notes: list[str] = []
        self.unit = "row"
        self.paths: set[Path] = set()
        self._numbers: dict[tuple[type, Any], int] = {(type(None), None): NONE}

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.counts.sum())

    def numbers(self, labels: Sequence[Any], where: Where) -> np.ndarray:
        """Return the numbers of the labels of a block, (m,) int64, without counting its rows."""
        known, numbers = self._numbers, []
        for row, label in enumerate(labels):
            try:
                numbers.append(known[label.__class__, label])
            except (KeyError, TypeError):
                numbers.append(self._new(label, where, row))
        self._fill()
        return np.array(numbers, dtype=np.int64)

    def _new(self, label: Any, where: Where, row: int) -> int:
        if not _is_name(label):
            inside = next(leaves(label), None) if isinstance(label, dict) else None
            way_out = f"; a path names a value in it: .{inside[0]}" if inside else ""
            raise LopsError(
                f"{where.place(row)}: the label is {label!r:.60}, which holds several classes or "
                f"none; wanted one class name per row{way_out}"
            )
        if is_unlabelled(label):
            if isinstance(label, str):  # most cells of a rule's votes; each NaN is another object
                self._numbers[type(label), label] = NONE
            return NONE
        number = self._numbers.setdefault((type(label), label), len(self.labels))
        self.labels.append(label)
        self.first.append((where.path, where.numbers[row]))
        self.places.append([])
        if len(self.labels) > MOST + 1:
            raise LopsError(
                f"found more than {MOST:,} different labels, such as {label!r:.60}; check "
                f"{typed('label')}"
            )
        return number

    def _fill(self) -> None:
        padding = (0, len(self.labels) - len(self.counts))
        arrays = (self.counts, self.votes, self.with_gold)
        self.counts, self.votes, self.with_gold = (np.pad(array, padding) for array in arrays)

    def count(self, numbers: np.ndarray, where: Where) -> None:
        """Count the rows of a block by the numbers of their labels, and note where they stand."""
        first_row, self.unit = self.rows, where.unit
        self.paths.add(where.path)
        order = np.argsort(numbers, kind="stable")
        distinct, starts, sizes = np.unique(numbers[order], return_index=True, return_counts=True)
        for number, start, size in zip(
            *(one.tolist() for one in (distinct, starts, sizes)), strict=True
        ):
            places = self.places[number]
            for row in order[start : start + min(size, SHOWN - len(places))].tolist():
                places.append((first_row + row, (where.path, where.numbers[row])))
        self.counts += np.bincount(numbers, minlength=len(self.counts))

    def count_votes(self, votes: Sequence[Sequence[Any]], where: Where) -> None:
        """Count the votes of each source, whose labels are classes even if no row gets them."""
        numbers = [self.numbers(column, where) for column in votes]
        for one in numbers:
            self.votes += np.bincount(one, minlength=len(self.votes))
        if self.is_binary:
            read = np.array([_BITS.get(whole(str(label).lower()), 2) for label in self.labels])
            self.single += int((read[np.stack(numbers)].sum(axis=0) == 1).sum())

    @property
    def is_binary(self) -> bool:
        """Whether all labels are 0 or 1, in any spelling."""
        known = self.labels[1:]
        return len(known) <= _SPELLINGS and all(whole(str(one).lower()) in _BITS for one in known)

    def count_gold(self, numbers: np.ndarray, gold: Sequence[Any], where: Where) -> None:
        """Count the gold labels of a block; LopsError: one is a list or an object."""
        if not {list, dict}.isdisjoint(map(type, gold)):
            row = next(i for i, label in enumerate(gold) if isinstance(label, list | dict))
            raise LopsError(
                f"{where.place(row)}: the gold label is {gold[row]!r:.60}; wanted one class name "
                f"per row; check {typed('gold')}"
            )
        gone = set(filter(is_unlabelled, set(gold)))
        there = np.fromiter((label not in gone for label in gold), bool, len(gold))
        self.with_gold += np.bincount(numbers[there], minlength=len(self.with_gold))
        if len(self.gold) < MOST:
            pairs = zip(numbers.tolist(), gold, strict=True)
            self.gold.update(pair for pair in pairs if pair[1] not in gone)

    def join(self, later: Tally) -> None:
        """Add the counts of rows that follow."""
        first_row = self.rows
        moved = [
            self._numbers.get((type(label), label), -1) if label is not None else NONE
            for label in later.labels
        ]
        for number, label in enumerate(later.labels):
            if moved[number] < 0:
                moved[number] = len(self.labels)
                self._numbers[type(label), label] = moved[number]
                self.labels.append(label)
                self.first.append(later.first[number])
                self.places.append([])
        self._fill()
        places = np.array(moved)
        self.counts[places] += later.counts
        self.votes[places] += later.votes
        self.with_gold[places] += later.with_gold
        for number, shown in zip(moved, later.places, strict=True):
            room = SHOWN - len(self.places[number])
            self.places[number] += [(first_row + row, place) for row, place in shown[:room]]
        for (number, gold), count in later.gold.items():
            self.gold[moved[number], gold] += count
        self.single += later.single
        self.words.update(later.words)
        self.paths |= later.paths
        self.unit = later.unit if later.paths else self.unit
        self.notes = self.notes or later.notes

    def shown(self, numbers: Sequence[int]) -> str:
        """Return the places of the rows with some labels for a message, the first of them."""
        first = [place for _, place in sorted(one for i in numbers for one in self.places[i])]
        if not first:  # votes that are the label of no row
            first = [self.first[number] for number in numbers[:SHOWN]]
        return self.shown_places(first, int(self.counts[list(numbers)].sum()))

    def shown_places(self, places: Sequence[Place], count: int) -> str:
        """Return the places of ``count`` rows for a message, the first of them."""
        return shown_places(places, self.unit, count, len(self.paths) > 1)


def _is_name(label: object) -> bool:
    """Return whether a label can be looked up and compared."""
    if isinstance(label, str | int | float | None):
        return True
    try:
        hash(label)
        bool(label == label)  # noqa: PLR0124
    except Exception:  # a list, a dict, or an object with a comparison of its own
        return type(label).__name__ == "NAType"  # of pandas: a missing label
    return True
