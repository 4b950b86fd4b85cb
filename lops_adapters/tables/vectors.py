"""Numbers beside the texts of a table: embeddings and soft labels, from columns or an .npy file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.tables.columns import require
from lops_adapters.tables.files import reading
from lops_adapters.tables.readers import Table

NPY = ".npy"


def is_file(name: str | None) -> bool:
    """Return whether ``--embeddings`` names an .npy file, not a column."""
    return name is not None and name.lower().endswith(NPY)


def check_embeddings(table: Table, name: str) -> None:
    """Raise a LopsError if ``--embeddings`` names neither a column nor an .npy file."""
    if name in table.columns:
        return
    if not is_file(name):
        require(table, name, "--embeddings")
    if not Path(name).is_file():
        raise LopsError(f"--embeddings {name}: no such file; wanted an .npy file or a column")


def read_npy(path: Path, n: int) -> np.ndarray:
    """Return a matrix of numbers with n rows from an .npy file, not read before it is used.

    Raises:
        LopsError: no .npy file, a pickled one, another shape, or another number of rows.

    """
    with reading(path):
        try:
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise LopsError(
                f"--embeddings {path} cannot be read ({error!s:.100}); wanted a matrix of numbers, "
                "as numpy.save writes it"
            ) from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        shape, kind = getattr(found, "shape", "?"), getattr(found, "dtype", type(found).__name__)
        raise LopsError(
            f"--embeddings {path} holds {kind} of shape {shape}; wanted a matrix of numbers, a row "
            "per row of the table"
        )
    if len(found) != n:
        raise LopsError(
            f"--embeddings {path} has {len(found):,} rows, and the table {n:,}; wanted one per row"
        )
    return found


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


def matrix(rows: Sequence[Any], option: str, place: Any) -> np.ndarray:
    """Return lists of numbers of equal length as a matrix, (n, width) float32.

    Args:
        rows: cells.
        option: that names their column, for messages.
        place: from positions to a text that names them.

    Raises:
        LopsError: a cell of another kind or length.

    """
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    made = np.empty((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        fine = isinstance(row, list) and len(row) == width > 0
        try:
            made[i] = row if fine else np.nan
        except (TypeError, ValueError):
            fine = False
        if not fine:
            wanted = f"{width} numbers, as in {place([0])}" if width and i else "a list of numbers"
            raise LopsError(f"{option}, {place([i])}: found {row!r:.60}; wanted {wanted}")
    return made


class SoftColumns:
    """Soft labels of a table: a column per class, or one column of lists or objects.

    Args:
        columns: names, at least one.

    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)

    def read(self, cells: Sequence[Sequence[Any]], place: Any) -> tuple[list[Any], np.ndarray]:
        """Return the classes and the (n, k) float64 numbers; a row of NaN: none given.

        Raises:
            LopsError: a cell that is no number, list or object of numbers.

        """
        if len(self._columns) > 1:
            return self._columns, self._matrix(cells, self._columns, place)
        found = [numbers(row[0]) for row in cells]
        given = [row for row in found if row is not None]
        if given and all(isinstance(row, dict) for row in given):
            classes: list[Any] = list(dict.fromkeys(name for row in given for name in row))
            cells = [[(row or {}).get(name) for name in classes] for row in found]
            return classes, self._matrix(cells, classes, place)
        width = next((len(row) for row in given if isinstance(row, list)), 0)
        for i, row in enumerate(found):
            if row is not None and not (isinstance(row, list) and len(row) == width):
                raise LopsError(
                    f"--soft-labels {self._columns[0]}, {place([i])}: found {row!r:.60}; wanted "
                    + (f"{width} numbers" if width else "a list or an object of numbers")
                )
        classes = list(range(width))
        return classes, self._matrix([row or [None] * width for row in found], classes, place)

    def _matrix(self, cells: Sequence[Sequence[Any]], classes: list[Any], place: Any) -> Any:
        made = np.full((len(cells), len(classes)), np.nan)
        for i, row in enumerate(cells):
            for j, cell in enumerate(row):
                if cell is None or (isinstance(cell, str) and not cell.strip()):
                    continue
                try:
                    made[i, j] = float(cell)
                except (TypeError, ValueError):
                    raise LopsError(
                        f"--soft-labels, {place([i])}: found {cell!r:.60} for the class "
                        f"{classes[j]!r}; wanted a number"
                    ) from None
        return made
