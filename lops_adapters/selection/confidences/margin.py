"""Margin: by how much the pseudo-label leads, on average over the training."""

from __future__ import annotations

import numpy as np

from lops_adapters.probes.base import Snapshot
from lops_adapters.selection.confidences.base import Confidence


class Margin(Confidence):
    """Mean over checkpoints of the pseudo-label's probability minus the largest other, in [-1, 1].

    Source: Pleiss, Zhang, Elenberg and Weinberger, NeurIPS 2020 (area under the margin). They use
    logits whenever a sample is trained on; this uses probabilities at the checkpoints.

    >>> margin = Margin(np.array([0, 1]), 2)
    >>> margin.observe(Snapshot(1.0, np.array([[0.75, 0.25], [0.5, 0.5]]), None))
    >>> margin.scores().tolist()
    [0.5, 0.0]
    """

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        super().__init__(codes, n_classes)
        self._total, self._checkpoints = np.zeros(len(codes)), 0

    def observe(self, snapshot: Snapshot) -> None:
        """Add this checkpoint's margins."""
        self._total += margins(snapshot.probabilities, self.codes)
        self._checkpoints += 1

    def scores(self) -> np.ndarray:
        """Return the mean margins, (n,) float64."""
        return self._total / self._checkpoints


def margins(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the pseudo-label's probability minus the largest other, (n,) float64.

    Args:
        probabilities: (n, k).
        codes: (n,) int, the pseudo-labels.

    """
    rows = np.arange(len(codes))
    others = probabilities.astype(np.float64)
    label = others[rows, codes]
    others[rows, codes] = -np.inf
    return np.asarray(label - others.max(axis=1))
