"""What a confidence is: it watches one training of a probe and ends with one score a sample.

Notation: n samples, k classes, t checkpoints, w(x) the pseudo-label of x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from lops_adapters.probes.base import Snapshot


class Confidence(ABC):
    """Scores samples from the snapshots of one training.

    Args:
        codes: (n,) int class codes 0..n_classes-1, the pseudo-labels.
        n_classes: their number, k.

    """

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        self.codes, self.n_classes = codes, n_classes

    @abstractmethod
    def observe(self, snapshot: Snapshot) -> None:
        """Take in what the probe predicts for all n samples, in order (``snapshot.positions`` is
        not looked at).
        """

    @abstractmethod
    def scores(self) -> np.ndarray:
        """Score the samples after the snapshots observed so far: (n,) float64, higher is more
        trusted, all finite.
        """

    def learnt_at(self) -> np.ndarray:
        """Time of learning, (n,) float64 in epochs; inf where never, and everywhere for a
        confidence that does not look at it.
        """
        return np.full(len(self.codes), np.inf)

    def of_label(self, probabilities: np.ndarray) -> np.ndarray:
        """Probability of the pseudo-label, (n,) float64."""
        return np.asarray(probabilities[np.arange(len(self.codes)), self.codes], dtype=np.float64)
