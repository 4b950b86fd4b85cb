"""Probability: the pseudo-label's probability at the end of training."""

from __future__ import annotations

import numpy as np

from lops_adapters.probes.base import Snapshot
from lops_adapters.selection.confidences.base import Confidence


class Probability(Confidence):
    """Probability of the pseudo-label at the last checkpoint (the paper's baseline of this name).

    >>> probability = Probability(np.array([0, 1]), 2)
    >>> probability.observe(Snapshot(1.0, np.array([[0.75, 0.25], [0.5, 0.5]]), None))
    >>> probability.scores().tolist()
    [0.75, 0.5]
    """

    def observe(self, snapshot: Snapshot) -> None:
        """Keep this checkpoint instead of the one before."""
        self._last = self.of_label(snapshot.probabilities)

    def scores(self) -> np.ndarray:
        """Return the last probability of the pseudo-label, (n,) float64."""
        return self._last
