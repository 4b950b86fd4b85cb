"""The probe's own prediction for each sample, noted during selection at no extra cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Receives (m, k) class probabilities and the (m,) positions of their samples; None: all, in order.
Seen = Callable[[np.ndarray, "np.ndarray | None"], None]


class Suggestions:
    """Remembers, per sample, the class of a probe's last prediction and its probability.

    Args:
        n: number of samples.

    Attributes:
        codes: (n,) int64 class codes; -1: never predicted.
        probability: (n,) float64 in [0, 1]; NaN: never predicted.

    >>> suggestions = Suggestions(3)
    >>> suggestions(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]))
    >>> suggestions(np.array([[0.125, 0.875]]), np.array([1]))
    >>> suggestions.codes.tolist(), suggestions.probability.tolist()
    ([0, 1, 1], [0.75, 0.875, 0.75])

    """

    def __init__(self, n: int) -> None:
        self.codes = np.full(n, -1, dtype=np.int64)
        self.probability = np.full(n, np.nan)

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Note probabilities; later predictions replace earlier ones."""
        where = slice(None) if positions is None else positions
        self.codes[where] = probabilities.argmax(axis=1)
        self.probability[where] = probabilities.max(axis=1)


class Moved:
    """A listener to samples sorted by ``order``."""

    def __init__(self, seen: Seen, order: np.ndarray) -> None:
        self._seen, self._order = seen, order

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Hand on the caller's positions."""
        self._seen(probabilities, self._order if positions is None else self._order[positions])

    def settle(self, *parts: np.ndarray, **of_all: Any) -> None:
        """Hand on arrays with a row per sample, and what is of all; some listeners want them."""
        if hasattr(self._seen, "settle"):
            self._seen.settle(*(part[np.argsort(self._order)] for part in parts), **of_all)
