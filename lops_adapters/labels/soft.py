"""Soft labels: a probability or a number of votes per class, as label models give them."""

import json
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from lops_adapters.console import typed
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

    The classes are names of columns or keys, or numbers from 0 for lists.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self._kind: type | None = None  # of the cells of a single column
        self._length: int | None = None  # of lists

    def labels(self, rows: Sequence[Sequence[Any]], name_row: Callable[[int], str]) -> list[Any]:
        """Return the largest class of each row of cells; None: a tie, zeros or nothing.

        ``name_row`` names a position in the LopsError about a cell that is no number, list or
        object of numbers, or a number below 0.
        """
        labels = []
        for i, row in enumerate(rows):
            pairs: Iterable[tuple[Any, Any]] = zip(self._columns, row, strict=True)
            if len(self._columns) == 1:
                pairs = self._pairs(numbers(row[0]), i, name_row)
            found = [(name, self._number(name, cell, i, name_row)) for name, cell in pairs]
            labels.append(_largest(found))
        return labels

    def _number(self, name: Any, cell: Any, row: int, name_row: Callable[[int], str]) -> float:
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return 0.0
        try:
            number = float(cell)
        except _NOT_A_NUMBER:
            number = -1.0
        if number < 0 or math.isinf(number):
            raise LopsError(
                f"{typed('soft_labels')}, {name_row(row)}: found {cell!r:.60} for the class "
                f"{name!r}; wanted a number, 0 or more"
            )
        return 0.0 if math.isnan(number) else number

    def _pairs(
        self, cell: Any, row: int, name_row: Callable[[int], str]
    ) -> Iterable[tuple[Any, Any]]:
        if cell is None:
            return ()
        self._kind = self._kind or type(cell)
        if self._kind is dict and isinstance(cell, dict):
            return cell.items()
        expected = (
            "an object of numbers" if self._kind is dict else "a list or an object of numbers"
        )
        if self._kind is list and isinstance(cell, list):
            self._length = len(cell) if self._length is None else self._length
            if len(cell) == self._length:
                return enumerate(cell)
        if self._length is not None:
            expected = f"{self._length} numbers"
        raise LopsError(
            f"{typed('soft_labels')} {self._columns[0]}, {name_row(row)}: found {cell!r:.60}; "
            f"wanted {expected}"
        )


def _largest(pairs: Sequence[tuple[Any, float]]) -> Any:
    """Return the class of the largest number; None of a tie, or without one above 0."""
    second, first = sorted([0.0, 0.0, *(number for _, number in pairs)])[-2:]
    if not first - second > _TIE * first:
        return None
    return next(name for name, number in pairs if number == first)
