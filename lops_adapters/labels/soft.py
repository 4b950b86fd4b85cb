"""Soft labels: a probability or a number of votes per class, as label models give them."""

import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError

_NOT_A_NUMBER = (TypeError, ValueError, OverflowError)
_TIE = 1e-9  # relative difference of the two largest numbers of a row


def hard_labels(soft_labels: Any) -> list[Hashable | None]:
    """Return the most probable class of n rows; None for a row without one.

    A row has none if its largest number is not the only one: all zero, uniform, or a tie. A row of
    NaN has none either. Soft labels are (n, k) probabilities or votes, not negative; a matrix,
    whose classes are the codes 0..k-1, or a pandas DataFrame, whose classes are its columns. Others
    are a LopsError.

    >>> hard_labels([[0.2, 0.8], [0.5, 0.5], [3, 1], [0, 0]])
    [1, None, 0, None]
    """
    names = list(getattr(soft_labels, "columns", ()))
    try:
        matrix = np.asarray(soft_labels, dtype=np.float64)
    except (ValueError, TypeError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise LopsError(
            f"soft_labels are a {type(soft_labels).__name__} of shape {np.shape(matrix)}; wanted a "
            "matrix of numbers, a row per text and a column per class"
        )
    bad = (matrix < 0) | np.isinf(matrix)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise LopsError(
            f"soft_labels hold {matrix[row, column]:g} in row {row}; wanted probabilities or "
            "votes, 0 or more"
        )
    known = np.nan_to_num(matrix)
    best = known.argmax(axis=1)
    first, second = np.partition(known, -2, axis=1)[:, [-1, -2]].T
    clear = first - second > _TIE * first
    classes: list[Hashable] = names or list(range(matrix.shape[1]))
    return [classes[code] if sure else None for code, sure in zip(best, clear, strict=True)]


def numbers(value: Any) -> Any:
    """Return a cell as a list or dict of numbers: itself, or the JSON of a text.

    >>> numbers("[0.5, 1]"), numbers([1]), numbers(""), numbers("0.5")
    ([0.5, 1], [1], None, 0.5)
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else None
    except (ValueError, RecursionError):
        return value


class SoftLabels:
    """Labels from soft labels, block by block: a column per class, or one of lists or objects.

    ``classes`` so far are names of columns or keys, or numbers from 0 for lists.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self._kind: type | None = None  # of the cells of a single column
        self.classes: list[Any] = list(columns) if len(columns) > 1 else []

    def labels(self, rows: Sequence[Sequence[Any]], name_row: Callable[[int], str]) -> list[Any]:
        """Return the largest class of each row of cells; None: a tie, zeros or nothing.

        ``name_row`` names a position in the LopsError about a cell that is no number, list or
        object of numbers, or a number below 0.
        """
        if len(self._columns) == 1:
            rows = self._spread([numbers(row[0]) for row in rows], name_row)
        made = np.zeros((len(rows), max(2, len(self.classes))))
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                if cell is None or (isinstance(cell, str) and not cell.strip()):
                    continue
                try:
                    made[i, j] = float(cell)
                except _NOT_A_NUMBER:
                    made[i, j] = -1
                if made[i, j] < 0 or np.isinf(made[i, j]):
                    raise LopsError(
                        f"--soft-labels, {name_row(i)}: found {cell!r:.60} for the class "
                        f"{self.classes[j]!r}; wanted a number, 0 or more"
                    )
        codes: list[Any] = hard_labels(made)
        return [None if code is None else self.classes[code] for code in codes]

    def _spread(self, cells: list[Any], name_row: Callable[[int], str]) -> list[list[Any]]:
        """Return lists or objects of numbers as rows in the order of the classes."""
        for i, cell in enumerate(cells):
            if cell is None:
                continue
            self._kind = self._kind or type(cell)
            if self._kind is dict and isinstance(cell, dict):
                self.classes += [name for name in cell if name not in self.classes]
                continue
            if self._kind is not list or not isinstance(cell, list):
                self._refuse(cell, name_row(i))
            self.classes = self.classes or list(range(len(cell)))
            if len(cell) != len(self.classes):
                self._refuse(cell, name_row(i))
        empty = [None] * len(self.classes)
        if self._kind is dict:
            return [[(cell or {}).get(name) for name in self.classes] for cell in cells]
        return [cell or empty for cell in cells]

    def _refuse(self, cell: Any, name_row: str) -> None:
        expected = "a list or an object of numbers"
        if self.classes:
            expected = (
                f"{len(self.classes)} numbers" if self._kind is list else "an object of numbers"
            )
        raise LopsError(
            f"--soft-labels {self._columns[0]}, {name_row}: found {cell!r:.60}; wanted {expected}"
        )
