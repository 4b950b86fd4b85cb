"""Confidences: each watches one training of a probe and ends with one score per sample.

Notation: n samples, k classes, t checkpoints, w(x) the pseudo-label of x.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe, Snapshot
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.method import Method
from lops_adapters.selection.methods.ranked import keep_best
from lops_adapters.selection.outcome import Outcome, Predicted


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


def watch(
    probe: Probe,
    samples: Sequence[Any],
    codes: Sequence[int] | np.ndarray,
    n_classes: int,
    confidences: Sequence[Confidence],
    *,
    seed: int,
    every: int | None,
    predicted: Predicted | None = None,
) -> int:
    """Train a probe to the end, show every snapshot to all; return the number of checkpoints."""
    if any(confidence.needs_checkpoints for confidence in confidences):
        probe.check_checkpoints()
    checkpoints = 0
    for snapshot in probe.watch(samples, codes, n_classes, seed=seed, every=every):
        if np.isnan(snapshot.probabilities).any():
            raise LopsError(
                f"the probe predicts NaN at time {snapshot.time}: its training has diverged; "
                "lower its learning rate"
            )
        for confidence in confidences:
            confidence.observe(snapshot)
        if predicted is not None:
            predicted.note(snapshot.probabilities, snapshot.positions)
        checkpoints += 1
    if not checkpoints:
        raise no_checkpoint(every)
    return checkpoints


def no_checkpoint(every: int | None) -> LopsError:
    """Return the error of a training that ends before its first checkpoint."""
    return LopsError(
        f"{typed('every')} is {every}, and the probe's training has fewer updates than that; "
        "wanted a smaller number"
    )


def score(
    probe: Probe,
    samples: Sequence[Any],
    codes: Sequence[int] | np.ndarray,
    n_classes: int,
    confidences: Sequence[str],
    *,
    seed: int = 0,
    every: int | None = None,
) -> dict[str, np.ndarray]:
    """Train a probe once and score all samples by several confidences.

    Args:
        probe, samples, codes, n_classes, seed, every: as for
            :meth:`lops_adapters.probes.Probe.watch`.
        confidences: names from :data:`CONFIDENCES`.

    Returns:
        Name -> (n,) float64 scores, higher is more trusted.

    Raises:
        LopsError: an unknown name, and what :func:`watch` raises.
    """
    unknown = [name for name in confidences if name not in CONFIDENCES]
    if unknown:
        raise LopsError(f"confidence is {unknown[0]!r}; wanted some of {', '.join(CONFIDENCES)}")
    scores = {name: CONFIDENCES[name](np.asarray(codes), n_classes) for name in confidences}
    watched = list(scores.values())
    watch(probe, samples, codes, n_classes, watched, seed=seed, every=every)
    return {name: confidence.scores() for name, confidence in scores.items()}


class Watched(Method):
    """Ranks by the confidence of its name, after one watched training."""

    checkpoints = True

    @property
    def confidence(self) -> type[Confidence]:
        """What scores the samples."""
        return CONFIDENCES[self.name]

    def check_probe(self, choice: Choice) -> None:
        super().check_probe(choice)
        if self.confidence.needs_checkpoints:
            choice.classifier.check_checkpoints()

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        codes, k = labelled.codes, len(labelled.classes)
        confidence, predicted = self.confidence(codes, k), Predicted(len(codes))
        checkpoints = watch(
            choice.classifier, labelled.samples, codes, k, [confidence],
            seed=choice.seed, every=choice.every, predicted=predicted,
        )  # fmt: skip
        stopped = f"trained to the end, {checkpoints} checkpoints"
        return keep_best(
            labelled, choice, confidence.scores(), stopped,
            learnt_at=confidence.learnt_at(), predicted=predicted,
        )  # fmt: skip


class WatchedOrder(Watched):
    """Learning order as a confidence: it notes when a sample is learnt."""

    timed = True
