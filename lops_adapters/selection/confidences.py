"""Confidences: each watches one training of a probe and ends with one score per sample.

Notation: n samples, k classes, t checkpoints, w(x) the pseudo-label of x.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from lops_adapters.probes.base import Snapshot


class Confidence(ABC):
    """Scores samples from the snapshots of one training; codes are (n,) int pseudo-labels."""

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
        self._checkpoints += 1
        self._last = self.of_label(snapshot.probabilities)
        new = np.isinf(self._learnt_at) & (snapshot.probabilities.argmax(axis=1) == self.codes)
        self._learnt_at[new] = snapshot.time
        self._scores[new] = self._last[new] / 2 - self._checkpoints

    def learnt_at(self) -> np.ndarray:
        return np.array(self._learnt_at)

    def scores(self) -> np.ndarray:
        """Return the scores, (n,) float64, from -t - 1 (never learnt, probability 0) to -0.5."""
        never = self._last / 2 - self._checkpoints - 1
        return np.where(np.isinf(self._learnt_at), never, self._scores)


class Probability(Confidence):
    """Probability of the pseudo-label at the last checkpoint (the paper's baseline of this name).

    >>> probability = Probability(np.array([0, 1]), 2)
    >>> probability.observe(Snapshot(1.0, np.array([[0.75, 0.25], [0.5, 0.5]]), None))
    >>> probability.scores().tolist()
    [0.75, 0.5]
    """

    def observe(self, snapshot: Snapshot) -> None:
        self._last = self.of_label(snapshot.probabilities)

    def scores(self) -> np.ndarray:
        return self._last


class _Mean(Confidence):
    """The mean of a number per sample over the checkpoints."""

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        super().__init__(codes, n_classes)
        self._total, self._checkpoints = np.zeros(len(codes)), 0

    @abstractmethod
    def of(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the (n,) numbers of a checkpoint, from (n, k) probabilities."""

    def observe(self, snapshot: Snapshot) -> None:
        self._total += self.of(snapshot.probabilities)
        self._checkpoints += 1

    def scores(self) -> np.ndarray:
        return self._total / self._checkpoints


class Stability(_Mean):
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

    def of(self, probabilities: np.ndarray) -> np.ndarray:
        return np.asarray(probabilities.argmax(axis=1) == self.codes)


class Margin(_Mean):
    """Mean over checkpoints of the pseudo-label's probability minus the largest other, in [-1, 1].

    Source: Pleiss, Zhang, Elenberg and Weinberger, NeurIPS 2020 (area under the margin). They use
    logits whenever a sample is trained on; this uses probabilities at the checkpoints.

    >>> margin = Margin(np.array([0, 1]), 2)
    >>> margin.observe(Snapshot(1.0, np.array([[0.75, 0.25], [0.5, 0.5]]), None))
    >>> margin.scores().tolist()
    [0.5, 0.0]
    """

    def of(self, probabilities: np.ndarray) -> np.ndarray:
        others = probabilities.astype(np.float64)
        others[np.arange(len(self.codes)), self.codes] = -np.inf
        return np.asarray(self.of_label(probabilities) - others.max(axis=1))


CONFIDENCES: Mapping[str, type[Confidence]] = {
    "learning-order": LearningOrderScore,
    "probability": Probability,
    "stability": Stability,
    "margin": Margin,
}
"""By the method that ranks by it."""
