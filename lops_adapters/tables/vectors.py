"""Embeddings for the texts of a table, from a column or an .npy file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.files import reading

_NOT_A_NUMBER = (TypeError, ValueError, OverflowError)


def read_npy(path: Path, n: int) -> np.ndarray:
    """Return a matrix of numbers with n rows from an .npy file, not read before it is used.

    Raises a LopsError about another file, a damaged or pickled one, another shape or number of
    rows.
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


def matrix(rows: Sequence[Any], option: str, where: Callable[[Sequence[int]], str]) -> np.ndarray:
    """Return lists of numbers of equal length as a matrix, (n, width) float32.

    ``option`` names their column and ``where`` positions, in the LopsError about a cell of another
    kind or length, or a number too large for a float.
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
            needed = f"{width} numbers, as in {where([0])}" if width and i else "a list of numbers"
            raise LopsError(f"{option}, {where([i])}: found {row!r:.60}; wanted {needed}")
    return made
