"""Numbers for the texts of a table: embeddings and soft labels, from columns or an .npy file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.files import reading
from lops_adapters.texts.soft import hard_labels

_NOT_A_NUMBER = (TypeError, ValueError, OverflowError)


def read_npy(path: Path, n: int) -> np.ndarray:
    """Return a matrix of numbers with n rows from an .npy file, not read before it is used.

    Raises:
        LopsError: no .npy file, a damaged or pickled one, another shape, or another number of rows.

    """
    with reading(path):
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError:
            raise
        except Exception as error:  # of numpy, zipfile or Python's own parser
            raise LopsError(
                f"--embeddings {path} cannot be read ({error!s:.100}); wanted a matrix of numbers, "
                "as numpy.save writes it"
            ) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        shape, kind = getattr(array, "shape", "?"), getattr(array, "dtype", type(array).__name__)
        raise LopsError(
            f"--embeddings {path} holds {kind} of shape {shape}; wanted a matrix of numbers, a row "
            "per row of the table"
        )
    if len(array) != n:
        raise LopsError(
            f"--embeddings {path} has {len(array):,} rows, and the table {n:,}; wanted one per row"
        )
    return array


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


def matrix(rows: Sequence[Any], option: str, place: Callable[[Sequence[int]], str]) -> np.ndarray:
    """Return lists of numbers of equal length as a matrix, (n, width) float32.

    Args:
        rows: cells.
        option: that names their column, for messages.
        place: from positions to a text that names them.

    Raises:
        LopsError: a cell of another kind or length, or a number too large for a float.

    """
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    made = np.empty((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        fine = isinstance(row, list) and len(row) == width > 0
        try:
            made[i] = row if fine else np.nan
        except _NOT_A_NUMBER:
            fine = False
        if not fine:
            wanted = f"{width} numbers, as in {place([0])}" if width and i else "a list of numbers"
            raise LopsError(f"{option}, {place([i])}: found {row!r:.60}; wanted {wanted}")
    return made


class SoftLabels:
    """Labels from soft labels, block by block: a column per class, or one of lists or objects.

    Args:
        columns: names, at least one.

    Attributes:
        classes: so far: names of columns or keys, or numbers from 0 for lists.

    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self._kind: type | None = None  # of the cells of a single column
        self.classes: list[Any] = list(columns) if len(columns) > 1 else []

    def labels(self, rows: Sequence[Sequence[Any]], place: Callable[[int], str]) -> list[Any]:
        """Return the largest class of each row; None: a tie, zeros or nothing.

        Args:
            rows: cells of the columns.
            place: from a position to a text that names it.

        Raises:
            LopsError: a cell that is no number, list or object of numbers, or a number below 0.

        """
        if len(self._columns) == 1:
            rows = self._spread([numbers(row[0]) for row in rows], place)
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
                        f"--soft-labels, {place(i)}: found {cell!r:.60} for the class "
                        f"{self.classes[j]!r}; wanted a number, 0 or more"
                    )
        codes: list[Any] = hard_labels(made)
        return [None if code is None else self.classes[code] for code in codes]

    def _spread(self, cells: list[Any], place: Callable[[int], str]) -> list[list[Any]]:
        """Return lists or objects of numbers as rows in the order of the classes."""
        for i, cell in enumerate(cells):
            if cell is None:
                continue
            self._kind = self._kind or type(cell)
            if self._kind is dict and isinstance(cell, dict):
                self.classes += [name for name in cell if name not in self.classes]
                continue
            if self._kind is not list or not isinstance(cell, list):
                self._refuse(cell, place(i))
            self.classes = self.classes or list(range(len(cell)))
            if len(cell) != len(self.classes):
                self._refuse(cell, place(i))
        empty = [None] * len(self.classes)
        if self._kind is dict:
            return [[(cell or {}).get(name) for name in self.classes] for cell in cells]
        return [cell or empty for cell in cells]

    def _refuse(self, cell: Any, place: str) -> None:
        wanted = "a list or an object of numbers"
        if self.classes:
            wanted = (
                f"{len(self.classes)} numbers" if self._kind is list else "an object of numbers"
            )
        raise LopsError(
            f"--soft-labels {self._columns[0]}, {place}: found {cell!r:.60}; wanted {wanted}"
        )
