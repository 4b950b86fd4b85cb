"""Checks of what a probe is trained on."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError


def check_counts(seed: int, every: int | None = None) -> None:
    """Raise a LopsError if a seed or a number of updates between checkpoints is out of range."""
    if not isinstance(seed, Integral) or seed < 0:
        raise LopsError(f"{typed('seed')} is {seed!r:.80}; wanted a whole number, at least 0")
    if every is not None and (not isinstance(every, Integral) or every < 1):
        raise LopsError(
            f"{typed('every')} is {every!r:.80}; wanted a number of updates, at least 1"
        )


def check_codes(
    samples: Sequence[Any], codes: Sequence[int] | np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the codes as an (n,) int64 array; raise a LopsError if they do not fit the samples."""
    array = np.asarray(codes)
    if array.ndim != 1 or len(array) != len(samples):
        raise LopsError(
            f"found {len(samples)} samples and codes of shape {array.shape}; "
            "wanted one class code per sample"
        )
    if not len(array):
        raise LopsError("found no samples; wanted at least one")
    if array.dtype.kind not in "iu":
        raise LopsError(
            f"class codes have type {array.dtype}; wanted integers 0 to {n_classes - 1}"
        )
    if n_classes < 2:
        raise LopsError(f"found {n_classes} class; a probe needs at least 2")
    if array.min() < 0 or array.max() >= n_classes:
        raise LopsError(
            f"class codes run from {array.min()} to {array.max()}; wanted 0 to {n_classes - 1}"
        )
    return array.astype(np.int64)
