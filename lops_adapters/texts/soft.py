"""Soft labels: a probability or a number of votes per class, as label models give them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from lops_adapters.core import LopsError

_TIE = 1e-9  # relative difference of the two largest numbers of a row


def hard_labels(soft_labels: Any) -> list[Hashable | None]:
    """Return the most probable class of n rows; None for a row without one.

    A row has none if its largest number is not the only one: all zero, uniform, or a tie. A row of
    NaN has none either.

    Args:
        soft_labels: (n, k) probabilities or votes, not negative; a matrix, whose classes are the
            codes 0..k-1, or a pandas DataFrame, whose classes are its columns.

    Raises:
        LopsError: no matrix of numbers with two columns or more, or a number below 0 or infinite.

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
