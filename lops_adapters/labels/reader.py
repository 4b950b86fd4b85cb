"""Reads labels block by block: a column, soft labels or votes. A list in memory is one block."""

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import single
from lops_adapters.labels.classes import read_classes
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.soft import SoftLabels, hard_labels
from lops_adapters.labels.tally import Positions, Tally, Where
from lops_adapters.labels.votes import (
    VoteReader,
    Votes,
    check_sources,
    is_votes,
    majority,
    vote_cells,
)


class LabelReader:
    """Reads one label per row, and counts it in ``tally``."""

    def __init__(self, columns: Columns) -> None:
        self.columns, self.tally = columns, Tally()
        self._soft = SoftLabels(columns.soft_labels) if columns.soft_labels else None

    def take(
        self, cells: Mapping[str, Sequence[Any]], where: Where
    ) -> tuple[Sequence[Any], np.ndarray]:
        """Return the labels of a block, and their (m,) int64 numbers in the tally.

        ``cells`` are of the columns, by name; ``where`` the rows stand, for the LopsError about
        labels that are no class names or no numbers.
        """
        labels, columns = self._labels(cells, where), self.columns
        numbers = self.tally.numbers(labels, where)
        self.tally.count(numbers, where)
        if columns.gold is not None:
            self.tally.count_gold(numbers, cells[columns.gold], where)
        return labels, numbers

    def _labels(self, cells: Mapping[str, Sequence[Any]], where: Where) -> Sequence[Any]:
        columns = self.columns
        if columns.votes:
            votes = [cells[name] for name in columns.votes]
            self.tally.count_votes(votes, where)
            return majority(votes, columns.is_named)
        if self._soft is not None:
            rows = list(zip(*(cells[name] for name in columns.soft_labels), strict=True))
            return self._soft.labels(rows, lambda row: f"{where.unit} {where.numbers[row]}")
        return cells[str(columns.label)]


@dataclass(frozen=True)
class ReadLabels:
    """Labels in memory, as read.

    Attributes:
        shown: n labels as they were given; of near names and of votes, the class or None.
        codes: (n,) int64; -1: no label. Of votes, most of them, which are not weighed yet.
        problems, read_as: of :class:`~lops_adapters.labels.classes.Classes`.
    """

    shown: list[Any]
    codes: np.ndarray
    classes: list[Hashable]
    votes: Votes | None = None
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    read_as: list[str] = field(default_factory=list)


def read_labels(
    labels: Any,
    soft_labels: Any = None,
    *,
    abstain: Any = None,
    source: Any = None,
    classes: Any = None,
) -> ReadLabels:
    """Read labels in memory; arguments are as for :func:`lops_adapters.select`.

    >>> read = read_labels(["b", None, "a", "a"])
    >>> read.codes.tolist(), read.classes, read.shown
    ([1, -1, 0, 0], ['a', 'b'], ['b', None, 'a', 'a'])
    >>> read_labels([["a", None], ["b", "a"], ["b", "b"]]).votes.codes.tolist()
    [[0, -1], [1, 0], [1, 1]]
    """
    names = None if classes is None else flat_list(classes, "classes", "class names")
    cells: dict[str, list[Any]] = {}
    votes: tuple[str, ...] = ()
    if soft_labels is not None and labels is None:
        labels = hard_labels(soft_labels)
    if source is not None:
        cells["labels"] = flat_list(labels, "labels", "class names, one per source")
        cells["source"] = flat_list(source, "source", "names, one per label")
        if len(cells["labels"]) != len(cells["source"]):
            raise LopsError(
                f"found {len(cells['labels'])} labels and {len(cells['source'])} sources; wanted "
                "the source of every label"
            )
    elif is_votes(labels):
        cells = {name: [*map(plain_value, column)] for name, column in vote_cells(labels).items()}
        votes = tuple(cells)
    else:
        cells["labels"] = flat_list(labels, "labels", "class names, one per text")
    cells = {name: list(map(single, column)) for name, column in cells.items()}
    columns = Columns(
        "texts",
        None if votes else "labels",
        abstain=abstain,
        votes=votes,
        source=None if source is None else "source",
        classes=names,
        in_memory=True,
    )
    if soft_labels is not None and abstain is None:
        columns = replace(columns, abstain=())  # the classes are named
    return _read(cells, columns)


def _read(cells: Mapping[str, Sequence[Any]], columns: Columns) -> ReadLabels:
    n = len(next(iter(cells.values())))
    reader = LabelReader(columns)
    labels, _ = reader.take(cells, Positions(range(n)))
    read = read_classes(reader.tally, columns)
    codes = read.codes(labels)
    values = [read.values[name] for name in read.names]
    shown = read.given(codes)
    if columns.classes is None:  # a missing label as it was given
        pairs = zip(shown, labels, strict=True)
        shown = [label if one is None else one for one, label in pairs]
    if not columns.has_votes:
        return ReadLabels(shown, codes, values, None, read.notes, read.problems, read.read_as)
    voting = VoteReader(columns, read, cells.get("source", ()))
    votes = voting.votes([cells[name] for name in voting.columns])
    votes = votes._replace(classes=values)
    notes = [*read.notes, *check_sources(votes)]
    return ReadLabels(read.given(codes), codes, values, votes, notes, read.problems, read.read_as)


def flat_list(values: Any, name: str, expected: str) -> list[Any]:
    """Return the values of a list, array or column as plain ones of Python; LopsError: no such.

    >>> flat_list(np.array([1, 2]), "labels", "codes")
    [1, 2]
    """
    if not is_flat(values):
        raise LopsError(
            f"{name} are one {type(values).__name__}; wanted a flat sequence of {expected}"
        )
    return [plain_value(one) for one in (values.tolist() if hasattr(values, "tolist") else values)]


def plain_value(value: Any) -> Any:
    """Return a number or text of numpy or pyarrow as one of Python; others as they are."""
    if isinstance(value, np.generic):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value


def is_flat(values: object) -> bool:
    """Return whether values are a sequence of one dimension, in an order."""
    if isinstance(values, str | bytes | Set | Mapping | type) or not hasattr(values, "__iter__"):
        return False
    return bool(getattr(values, "ndim", 1) == 1)
