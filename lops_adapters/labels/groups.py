"""Groups of rows, such as customers or threads, whose rows do not score each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.formats.cells import is_unlabelled


class Groups:
    """Codes of the groups of n rows; can be pickled.

    Args:
        names: n names or values that name a group; a missing one is a group of its own.

    Attributes:
        codes: (n,) int64.

    >>> groups = Groups(["b", None, "a", "b", float("nan")])
    >>> groups.codes.tolist(), groups.of(["a", "c", None, "b"]).tolist()
    ([1, 2, 0, 1, 3], [0, -1, -1, 1])
    """

    def __init__(self, names: Sequence[Any]) -> None:
        known = sorted({str(name) for name in names if not is_unlabelled(name)})
        self._code_of = {name: code for code, name in enumerate(known)}
        self.codes = self.of(names)
        missing = np.flatnonzero(self.codes < 0)
        self.codes[missing] = np.arange(len(missing)) + len(known)

    def of(self, names: Sequence[Any]) -> np.ndarray:
        """Return the codes of further rows, (m,) int64; -1: a missing or another name."""
        codes = (-1 if is_unlabelled(one) else self._code_of.get(str(one), -1) for one in names)
        return np.fromiter(codes, dtype=np.int64, count=len(names))
