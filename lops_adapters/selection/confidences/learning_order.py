"""Learning order as a score: earlier learnt is higher, ties are broken by probability."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lops_adapters.probes.base import Snapshot
from lops_adapters.selection.confidences.base import Confidence


class LearningOrderScore(Confidence):
    """Half the pseudo-label's probability when learnt, minus the number of that checkpoint.

    Checkpoints count 1, 2, ... Half a probability is at most 0.5, so the checkpoint decides first
    and the probability only among samples learnt at the same checkpoint. A sample never learnt
    counts as learnt after the last checkpoint, with the last probability of its pseudo-label.

    >>> order = LearningOrderScore(np.array([0, 0, 0]), 2)
    >>> order.observe(Snapshot(1.0, np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]), None))
    >>> order.observe(Snapshot(2.0, np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]), None))
    >>> order.scores().tolist(), order.learnt_at().tolist()
    ([-0.625, -1.5, -1.75], [1.0, 2.0, 2.0])
    """

    needs_checkpoints: ClassVar[bool] = True

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        super().__init__(codes, n_classes)
        self._learnt_at = np.full(len(codes), np.inf)
        self._scores = np.zeros(len(codes))
        self._last = np.zeros(len(codes))
        self._checkpoints = 0

    def observe(self, snapshot: Snapshot) -> None:
        """Record which samples are learnt now."""
        self._checkpoints += 1
        self._last = self.of_label(snapshot.probabilities)
        new = np.isinf(self._learnt_at) & (snapshot.probabilities.argmax(axis=1) == self.codes)
        self._learnt_at[new] = snapshot.time
        self._scores[new] = self._last[new] / 2 - self._checkpoints

    def learnt_at(self) -> np.ndarray:
        """Return when the pseudo-label was first predicted, (n,) float64 in epochs; inf: never."""
        return np.array(self._learnt_at)

    def scores(self) -> np.ndarray:
        """Return the scores, (n,) float64, from -t - 1 (never learnt, probability 0) to -0.5."""
        never = self._last / 2 - self._checkpoints - 1
        return np.where(np.isinf(self._learnt_at), never, self._scores)
