"""Labels as arrays that can be compared with each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lops_adapters.core import LopsError

Label = str | int
Labels = Sequence[Label] | NDArray[Any]


def comparable(**named: Labels) -> list[NDArray[Any]]:
    """Return label sequences as 1-d arrays, all of str (dtype object) or all of int64.

    Their lengths may differ.

    A mixture of the two is an error: all labels would compare unequal. An empty sequence goes with
    either.
    """
    arrays = {name: _as_objects(name, values) for name, values in named.items()}
    kinds = {name: _kind(name, array) for name, array in arrays.items() if len(array)}
    if len(set(kinds.values())) > 1:
        described = ", ".join(f"{name} holds {kind}" for name, kind in kinds.items())
        raise LopsError(f"{described}; pass all as class names or all as class numbers")
    dtype = np.int64 if "integers" in kinds.values() else object
    return [array.astype(dtype) for array in arrays.values()]


def check_aligned(**named: NDArray[Any]) -> None:
    """Raise a LopsError if arrays have different lengths."""
    lengths = {name: len(array) for name, array in named.items()}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise LopsError(f"{described}; pass one entry per sample, in the same order")


def _as_objects(name: str, values: Labels) -> NDArray[Any]:
    if isinstance(values, str):
        raise LopsError(f"{name} is the string {values!r}; pass a sequence of labels")
    array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise LopsError(
            f"{name} has shape {array.shape}; pass a flat sequence with one label per sample"
        )
    return array


def _kind(name: str, array: NDArray[Any]) -> str:
    types = {type(value) for value in array.tolist()}
    if all(issubclass(kind, str) for kind in types):
        return "strings"
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in types):
        return "integers"
    raise LopsError(
        f"{name} holds labels of type {', '.join(sorted(kind.__name__ for kind in types))}; "
        "pass only strings or only integers, and leave out samples without a label"
    )
