"""Stability: how often the probe predicts the pseudo-label during training."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lops_adapters.probes.base import Snapshot
from lops_adapters.selection.confidences.base import Confidence


class Stability(Confidence):
    """Share of checkpoints that predict the pseudo-label (the paper's "Learning Stability").

    With t checkpoints there are t + 1 different scores, so most choices are among ties, which the
    hash breaks.

    >>> stability = Stability(np.array([0, 1]), 2)
    >>> for row in ([0.75, 0.25], [0.25, 0.75]):
    ...     stability.observe(Snapshot(1.0, np.array([row, [0.25, 0.75]]), None))
    >>> stability.scores().tolist()
    [0.5, 1.0]
    """

    needs_checkpoints: ClassVar[bool] = True

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        super().__init__(codes, n_classes)
        self._right, self._checkpoints = np.zeros(len(codes)), 0

    def observe(self, snapshot: Snapshot) -> None:
        """Count the samples predicted as their pseudo-label."""
        self._right += snapshot.probabilities.argmax(axis=1) == self.codes
        self._checkpoints += 1

    def scores(self) -> np.ndarray:
        """Return the share of checkpoints at which the pseudo-label is predicted, (n,) float64."""
        return self._right / self._checkpoints
