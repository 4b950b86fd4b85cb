"""What the probe itself would say of each sample, noted while a method watches it: no training and
no prediction more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Told class probabilities, (m, k), and the (m,) positions of their samples, or None for all samples
# in order.
Seen = Callable[[np.ndarray, "np.ndarray | None"], None]


class Suggestions:
    """The class that a probe found most probable when it was last asked about a sample, and that
    probability.

    Args:
        n: number of samples.

    Attributes:
        codes: (n,) int64 class codes; -1 for a sample that was never asked about.
        probability: (n,) float64 in [0, 1]; nan for a sample that was never asked about.

    >>> suggestions = Suggestions(3)
    >>> suggestions(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]))
    >>> suggestions(np.array([[0.125, 0.875]]), np.array([1]))
    >>> suggestions.codes.tolist(), suggestions.probability.tolist()
    ([0, 1, 1], [0.75, 0.875, 0.75])

    """

    def __init__(self, n: int) -> None:
        self.codes, self.probability = np.full(n, -1, dtype=np.int64), np.full(n, np.nan)

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Note probabilities; later ones replace earlier ones."""
        where = slice(None) if positions is None else positions
        self.codes[where] = probabilities.argmax(axis=1)
        self.probability[where] = probabilities.max(axis=1)
