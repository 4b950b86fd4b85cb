"""Automatic: held-out predictions decide how much of each class to keep, without a threshold."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.probes.base import Probe, cut
from lops_adapters.selection.confidences.margin import margins
from lops_adapters.selection.folds import splits
from lops_adapters.selection.ranked import Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Seen

_BELOW = 1 - 1e-6  # a class at its limit does not tie with the best other
EARLY_LOOKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # in epochs; then every epoch's end


@dataclass
class Automatic:
    """Keeps a pseudo-label if a held-out probe prefers it, class sizes aside.

    The samples are split into folds. For each fold a probe is trained on the others and predicts
    the fold at several checkpoints. A class's probability is divided by its mean over the samples
    with that pseudo-label (their mean "self-confidence", the threshold of confident learning),
    since probes favour large and easy classes. A pseudo-label whose relative probability is the
    largest is kept. The checkpoint at which most pseudo-labels are kept counts (the earlier of
    ties): before it the probe has learnt too little, after it the probe memorises wrong labels.

    Rare classes are limited: the probes hardly know them, so another class than the pseudo-label
    counts with its :func:`strength`. Classes with fewer samples than folds are kept whole and do
    not compete with others.

    The confidence is the margin of relative probabilities scaled to sum to 1, in [-1, 1]: 0 and
    above is kept. With ``stratified`` the same total is kept (small classes aside), but the same
    share of every class, largest margins first. That keeps more wrong labels if classes differ in
    noise, and it keeps the class balance, which matters to classifiers that favour large classes.

    Args:
        probe: trained from scratch once per fold.
        seed: of folds and trainings.
        quiet: no progress bar.
        folds: 3 trainings on two thirds of the samples cost about two trainings on all.
        stratified: keep the same share of every class.
        seen: receives the relative probabilities, scaled to sum to 1, of all samples at the
            checkpoint that counts.

    """

    probe: Probe
    seed: int = 0
    quiet: bool = True
    folds: int = 3
    stratified: bool = False
    seen: Seen | None = None

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Predict out of sample and select.

        Raises:
            LopsError: fewer samples than folds, and what the probe raises.

        """
        classes, codes = read_labels(samples, pseudo_labels)
        k, counts = len(classes), np.bincount(codes)
        cutting: dict[str, Any] = {"folds": self.folds, "seed": self.seed, "quiet": self.quiet}
        looks = held_out(self.probe, samples, codes, k, **cutting)
        small = counts < self.folds
        time = best_checkpoint(looks, codes, small)
        judged = relative(looks[time], codes, small)
        score = margins(judged, codes)
        mask = (score >= 0) | small[codes]
        why = "held-out probe prefers the label"
        if self.stratified:
            wanted = np.where(small, counts, shares(codes, k, int(mask.sum()), 1.0))
            mask = best(score, codes, wanted, self.seed)
            why = "highest scores of the class, total set by the held-out probe"
        if self.seen is not None:
            self.seen(judged, None)
        reasons = ["too few samples, kept whole" if few else why for few in small]
        scored = Scored(score, None, self._stopped(time))
        return selection_of(mask, scored, classes, codes, "automatic", reasons)

    def _stopped(self, time: float) -> str:
        epochs = self.probe.max_epochs
        if not self.probe.has_checkpoints:
            return f"{self.folds}-fold cross-validation"
        last = time == epochs
        when = f"{epochs} epochs" if last else f"predictions after {time:g} of {epochs} epochs"
        return f"{self.folds}-fold cross-validation, {when}"


def make(request: Request, **options: Any) -> Selector:
    """Return the selector of ``automatic``."""
    return Automatic(
        request.probe,
        request.seed,
        request.quiet,
        stratified=request.stratified,
        seen=request.seen,
        **options,
    )


def best_checkpoint(
    looks: Mapping[float, np.ndarray], codes: np.ndarray, small: np.ndarray
) -> float:
    """Return the checkpoint at which most pseudo-labels are preferred, the earlier of ties.

    Rare classes are not limited here: their limit would favour early checkpoints.

    Args:
        looks: see :func:`held_out`.
        codes, small: see :func:`relative`.

    """
    strengths = np.where(small, 0.0, 1.0)

    def preferred(time: float) -> int:
        own = self_confidence(looks[time], codes)
        judged = scaled(looks[time], codes, own, strengths)
        return int((margins(judged, codes) >= 0).sum())

    return max(looks, key=lambda time: (preferred(time), -time))


def relative(probabilities: np.ndarray, codes: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Divide probabilities by their class's mean self-confidence and scale rows to sum to 1.

    Other classes than the row's own count with their :func:`strength`.

    Args:
        probabilities: (n, k), out of sample.
        codes: (n,) int; every class occurs.
        small: (k,) bool, classes that do not compete with others.

    Returns:
        (n, k) float64.

    >>> probabilities = np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]])
    >>> relative(probabilities, np.array([0, 0, 1]), np.zeros(2, bool)).round(2).tolist()
    [[0.69, 0.31], [0.37, 0.63], [0.5, 0.5]]
    """
    own = self_confidence(probabilities, codes)
    return scaled(probabilities, codes, own, strength(probabilities, codes, small, own))


def self_confidence(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the mean probability of the own label per class, (k,) float64; every class occurs."""
    own = probabilities[np.arange(len(codes)), codes]
    return np.asarray(np.bincount(codes, weights=own) / np.bincount(codes))


def strength(
    probabilities: np.ndarray, codes: np.ndarray, small: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Return the factor with which each class competes for samples with other labels.

    A probe hardly knows a class of a few samples: its mean self-confidence is close to 0. Division
    by it would make the class the most probable one of many samples. So each class has a limit: a
    class of n samples is the most probable one of at most n samples with other labels. Common
    classes seldom reach it.

    Args:
        probabilities, codes, small: see :func:`relative`.
        own: (k,) mean self-confidences.

    Returns:
        (k,) float64 in [0, 1]; 0 for ``small`` classes, 1 for classes that the limit does not meet.

    >>> probabilities = np.array([[0.93, 0.07], [0.92, 0.08], [0.9, 0.1], [0.94, 0.06]])
    >>> codes, small = np.array([0, 0, 0, 1]), np.zeros(2, bool)
    >>> own = self_confidence(probabilities, codes)
    >>> strength(probabilities, codes, small, own).round(2).tolist()
    [1.0, 0.75]
    >>> margins(relative(probabilities, codes, small), codes).round(2).tolist()
    [0.07, 0.0, -0.12, -0.01]
    """
    k, counts = len(own), np.bincount(codes)
    divided = probabilities / np.maximum(own, 1e-12)
    label = divided[np.arange(len(codes)), codes]
    found, limited = np.where(small, 0.0, 1.0), np.zeros(k, dtype=bool)
    for _ in range(k):
        rivals = divided * found
        first = rivals.argmax(axis=1)[rivals.max(axis=1) > label]
        above = np.bincount(first, minlength=k) > counts
        if not above.any():
            break
        limited |= above
        # Against classes without a limit, so that limited ones do not shield each other.
        rivals[:, limited] = 0.0
        best = np.maximum(np.maximum(rivals.max(axis=1), label), 1e-12)
        for code in np.flatnonzero(limited):
            lead = np.sort(divided[:, code] / best)[-1 - counts[code]]
            found[code] = min(1.0, _BELOW / lead)
    return found


def scaled(
    probabilities: np.ndarray, codes: np.ndarray, own: np.ndarray, strengths: np.ndarray
) -> np.ndarray:
    """Return :func:`relative` probabilities for given self-confidences and strengths, both (k,)."""
    rows = np.arange(len(codes))
    divided = probabilities / np.maximum(own, 1e-12)
    rivals = divided * strengths
    rivals[rows, codes] = divided[rows, codes]
    return np.asarray(rivals / np.maximum(rivals.sum(axis=1, keepdims=True), 1e-12))


def held_out(
    probe: Probe,
    samples: Sequence[Any],
    codes: np.ndarray,
    n_classes: int,
    *,
    folds: int,
    seed: int,
    quiet: bool,
) -> dict[float, np.ndarray]:
    """Predict every sample by a probe that trains on the other folds, at several checkpoints.

    If the probe stops early, its last predictions serve for the later times.

    Returns:
        Time in epochs -> (n, k) float32 probabilities.

    Raises:
        LopsError: what :func:`lops_adapters.selection.folds.splits` and the probe raise.

    """
    early = EARLY_LOOKS if probe.has_checkpoints else ()
    times = [*early, *(float(epoch) for epoch in range(1, probe.max_epochs + 1))]
    looks = {time: np.zeros((len(codes), n_classes), dtype=np.float32) for time in times}
    read = probe.read(samples)
    for rest, here in splits(samples, codes, n_classes, folds=folds, seed=seed, quiet=quiet):
        texts = cut(read, rest), cut(read, here)
        predicted = _looks(probe, *texts, codes[rest], n_classes, seed, times)
        for time, probabilities in zip(times, predicted, strict=True):
            looks[time][here] = probabilities
    return looks


def trained_until(
    probe: Probe, read: Any, codes: np.ndarray, n_classes: int, seed: int, time: float
) -> Probe:
    """Return a copy of a probe as it was at a time of :func:`held_out`, in epochs.

    Training again takes less memory than a copy per checkpoint.

    Args:
        probe: trained from scratch.
        read: what :meth:`~lops_adapters.probes.Probe.read` returns for the training samples.
        codes, n_classes, seed: as for the training.
        time: the checkpoint.

    """
    prepared = probe.prepare(read, fit=True)
    for update in probe.updates(prepared, codes, n_classes, seed):
        if update.done >= max(1, round(time * update.per_epoch)):
            break
    return copy.deepcopy(probe)


def _looks(
    probe: Probe,
    rest: Any,
    here: Any,
    codes: np.ndarray,
    n_classes: int,
    seed: int,
    times: Sequence[float],
) -> Iterator[np.ndarray]:
    """Train on ``rest`` and yield the predictions for ``here`` at each of the times, ascending."""
    prepared = probe.prepare(rest, fit=True)
    asked, waiting = probe.prepare(here), list(times)
    for update in probe.updates(prepared, codes, n_classes, seed):
        while waiting and update.done >= max(1, round(waiting[0] * update.per_epoch)):
            yield probe.predict_prepared(asked)
            waiting.pop(0)
    for _ in waiting:
        yield probe.predict_prepared(asked)
