"""What a confidence is: it watches one training of a probe and returns one score per sample.

Notation: n samples, k classes, t checkpoints, w(x) the pseudo-label of x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from lops_adapters.probes.base import Snapshot


class Confidence(ABC):
    """Scores samples from the snapshots of one training.

    Args:
        codes: (n,) int class codes 0..n_classes-1, the pseudo-labels.
        n_classes: their number, k.

    """

    needs_checkpoints: ClassVar[bool] = False  # several of them, to be compared

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        self.codes, self.n_classes = codes, n_classes

    @abstractmethod
    def observe(self, snapshot: Snapshot) -> None:
        """Record predictions for all n samples, in order; ``snapshot.positions`` is ignored."""

    @abstractmethod
    def scores(self) -> np.ndarray:
        """Return the scores so far, (n,) float64, all finite, higher is more trusted."""

    def learnt_at(self) -> np.ndarray:
        """Return times of learning, (n,) float64 in epochs; inf: never, or not recorded."""
        return np.full(len(self.codes), np.inf)

    def of_label(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the probability of the pseudo-label, (n,) float64."""
        return np.asarray(probabilities[np.arange(len(self.codes)), self.codes], dtype=np.float64)
