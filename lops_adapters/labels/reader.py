"""Reads labels block by block: a column, soft labels or votes. A list in memory is one block."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.labels.columns import Columns
from lops_adapters.labels.soft import SoftLabels
from lops_adapters.labels.tally import Tally, Where
from lops_adapters.labels.votes import majority


class LabelReader:
    """Reads one label per row and counts it.

    Args:
        columns: that hold the labels.

    Attributes:
        tally: of the labels so far.
    """

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
        """Return a label per row: its own, of soft labels the largest, of votes most of them."""
        columns = self.columns
        if columns.votes:
            votes = [cells[name] for name in columns.votes]
            for column in votes:
                self.tally.count_votes(column, where)
            return majority(votes, columns.is_named)
        if self._soft is not None:
            rows = list(zip(*(cells[name] for name in columns.soft_labels), strict=True))
            return self._soft.labels(rows, lambda row: f"{where.unit} {where.numbers[row]}")
        return cells[str(columns.label)]
