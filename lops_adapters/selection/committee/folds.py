"""Folds of cross-validation; what a probe says held out, and at which checkpoint it is believed."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe, Steady, Update, check_codes, check_counts, cut
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods, preferred

FOLDS = 3  # of cross-validation, unless others are asked for
EARLY_LOOKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # in epochs; then 1, 2, 4, ... and the last one
LEAST_UPDATES = 1000  # 500 rank worse where one label is applied to most samples


def fold_of(codes: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each sample, (n,) int64: stratified, in the order of :func:`tie_hash`.

    It depends on the partition by class, not on the names or codes of the classes.
    """
    order = np.lexsort((tie_hash(np.arange(len(codes)), seed), unnamed(codes)))
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(codes)) % folds
    return fold


def unnamed(codes: np.ndarray, keys: np.ndarray | None = None) -> np.ndarray:
    """Return (n,) int64 codes that tell the same samples apart, in an order without names.

    The order of the new codes is by a hash of the samples of each code. ``keys`` are (n,) uint64
    of the samples; default: their positions.

    >>> unnamed(np.array([0, 0, 1, 2])).tolist() == unnamed(np.array([2, 2, 0, 1])).tolist()
    True
    """
    distinct, index = np.unique(codes, return_inverse=True)
    marks = np.zeros(len(distinct), dtype=np.uint64)
    hashes = tie_hash(np.arange(len(codes)) if keys is None else keys, 4)
    np.add.at(marks, index, hashes)  # modulo 2**64
    return np.asarray(np.argsort(np.argsort(marks, kind="stable"))[index], dtype=np.int64)


def fold_of_groups(groups: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each sample, (n,) int64: all samples of a group in one fold.

    Groups come in the order of :func:`tie_hash`, and folds have about equal sizes. They depend on
    which samples share a group, not on codes. Raises a LopsError of fewer groups than folds.

    >>> fold_of_groups(np.array([0, 0, 1, 1, 2, 2]), 3, seed=0).tolist()
    [2, 2, 1, 1, 0, 0]
    """
    groups = unnamed(groups)
    sizes = np.bincount(groups)
    if len(sizes) < folds:
        raise LopsError(
            f"found {len(sizes)} groups; wanted at least {folds}, one per fold of cross-validation"
        )
    order = np.argsort(tie_hash(np.arange(len(sizes)), seed), kind="stable")
    middles = np.cumsum(sizes[order]) - sizes[order] / 2
    fold = np.empty(len(sizes), dtype=np.int64)
    fold[order] = middles * folds // len(groups)
    return np.asarray(fold[groups])


@dataclass(frozen=True)
class Folded:
    """Samples with labels, and how they are cut into folds.

    Attributes:
        codes: (n,) int class codes; every class occurs.
        classes: k pseudo-labels, in the order of the codes.
        groups: (n,) int codes; samples of a group do not score each other: they are in one fold.
            None: folds are stratified.
        copies: (n,) int codes of the texts; copies share one, a fold and a score. None: no copies.
    """

    samples: Sequence[Any]
    codes: np.ndarray
    classes: Sequence[Hashable]
    folds: int
    seed: int = 0
    quiet: bool = True
    groups: np.ndarray | None = None
    copies: np.ndarray | None = None

    @classmethod
    def of(cls, labelled: Labelled, folds: int, seed: int, quiet: bool = True) -> Folded:
        """Return labelled samples, cut into folds."""
        samples, codes, classes = labelled.samples, labelled.codes, labelled.classes
        apart = labelled.groups, labelled.copies
        return cls(samples, codes, classes, folds, seed, quiet, *apart)

    @property
    def apart(self) -> np.ndarray | None:
        """The (n,) codes of samples that do not score each other: groups, or copies."""
        return self.texts if self.groups is None else self.groups

    @cached_property
    def texts(self) -> np.ndarray | None:
        """:attr:`copies`; None if there are fewer texts than one per class and fold.

        Then a few texts are all there is to learn from, as in a toy, and copies teach each other.
        """
        if self.copies is None or len(np.unique(self.copies)) < self.folds * len(self.classes):
            return None
        return self.copies

    @property
    def shares(self) -> np.ndarray:
        """:func:`.class_shares`, (k,); inf for classes that folds cannot learn: of fewer
        samples than folds, or of copies of one text.
        """
        k, texts = len(self.classes), self.texts
        shares = class_shares(self.codes, k, self.folds)
        if texts is not None:
            classes_of_texts = np.unique(texts * k + self.codes) % k
            shares[np.bincount(classes_of_texts, minlength=k) < 2] = np.inf
        return shares

    def shared(self, scores: np.ndarray) -> np.ndarray:
        """Return scores, (n, k), with the mean of its copies for each sample."""
        if self.copies is None:
            return scores
        sums = np.zeros((int(self.copies.max()) + 1, scores.shape[1]))
        np.add.at(sums, self.copies, scores)
        return np.asarray((sums / np.bincount(self.copies)[:, None])[self.copies])

    def check(self) -> None:
        """Raise a LopsError of codes that do not fit the samples, and too few or many folds."""
        check_codes(self.samples, self.codes, len(self.classes))
        check_counts(self.seed)
        if not isinstance(self.folds, Integral) or not 2 <= self.folds <= len(self.samples):
            raise LopsError(
                f"folds is {self.folds!r:.80}; wanted 2 to {len(self.samples)} (number of samples)"
            )

    def fold(self) -> np.ndarray:
        """Return the fold of each sample, (n,) int64; raises as :meth:`splits`."""
        self.check()
        if self.groups is not None:
            return fold_of_groups(self.groups, self.folds, self.seed)
        if self.texts is not None:
            _, first, text = np.unique(self.texts, return_index=True, return_inverse=True)
            return np.asarray(fold_of(self.codes[first], self.folds, self.seed)[text])
        return fold_of(self.codes, self.folds, self.seed)

    def fold_of_each_group(self) -> np.ndarray:
        """Return the fold of each group, by its code, int64; empty without groups."""
        if self.groups is None:
            return np.zeros(0, dtype=np.int64)
        folds = np.empty(int(self.groups.max()) + 1, dtype=np.int64)
        folds[self.groups] = self.fold()
        return folds

    def splits(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, per fold, the sorted positions of the other folds and of the fold itself."""
        fold, folds = self.fold(), range(self.folds)
        for left_out in progress(folds, desc="folds", unit="training", quiet=self.quiet):
            yield np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)


def by_folds(
    predicted: Iterable[np.ndarray], groups: np.ndarray | None, folds: np.ndarray
) -> np.ndarray:
    """Return the predictions for unseen samples, (m, k): the mean of all folds' models.

    A sample of a group (int code, -1: none that was there) is predicted only by the model that has
    not seen the group; ``folds`` are of each group, see :meth:`Folded.fold_of_each_group`.

    >>> predicted = [np.array([[0.2], [0.2]]), np.array([[0.6], [0.6]])]
    >>> by_folds(predicted, np.array([-1, 0]), np.array([1])).tolist()
    [[0.4], [0.6]]
    """
    total, held_out, count = np.zeros(()), np.zeros(()), 0
    fold = None if groups is None else np.where(groups >= 0, folds[groups], -1)
    for count, of_fold in enumerate(predicted, 1):
        total = total + of_fold
        if fold is not None:
            held_out = np.where((fold == count - 1)[:, None], of_fold, held_out)
    mean = total / count
    return mean if fold is None else np.where((fold >= 0)[:, None], held_out, mean)


def best_checkpoint(looks: Mapping[float, np.ndarray], codes: np.ndarray) -> float:
    """Return the checkpoint at which most pseudo-labels are preferred, the later of ties.

    Before it the probe has learnt too little, after it the probe memorises wrong labels. Small
    tables have ties, and early probabilities are nearly even. ``looks`` are of
    :func:`predict_held_out`.
    """

    def agreed(time: float) -> int:
        likely = likelihoods(looks[time], class_shares(codes, looks[time].shape[1]))
        return int(preferred(likely, codes).sum())

    return max(looks, key=lambda time: (agreed(time), time))


def long_enough(probe: Probe, n: int) -> Probe:
    """Return a probe that makes at least ``LEAST_UPDATES`` updates on n samples.

    With the default four epochs, a linear classifier of a small data set predicts little more than
    how often each label occurs. Other probes are returned as they are.
    """
    if not isinstance(probe, Steady):
        return probe
    longer = copy.copy(probe)  # shares the encoder and its vectors
    longer.epochs = max(probe.epochs, math.ceil(LEAST_UPDATES / -(-n // probe.batch_size)))
    return longer


def predict_held_out(
    probe: Probe, labelled: Folded, times: Sequence[float] = (), read: Any = None
) -> dict[float, np.ndarray]:
    """Predict every sample by a probe that trains on the other folds, at several checkpoints.

    If the probe stops early, its last predictions serve for the later times. ``times`` of the
    checkpoints are in epochs, ascending; default: 1, 2, 4, ... and the last one, and some within
    the first epoch if the probe has them. ``read`` are the samples as another member reads them, if
    the probe takes that. Returned are time -> (n, k) float32 probabilities.
    """
    early, last = EARLY_LOOKS if probe.has_checkpoints else (), probe.max_epochs
    times = times or [*early, *(2.0**i for i in range((last - 1).bit_length())), float(last)]
    codes, k, seed = labelled.codes, len(labelled.classes), labelled.seed
    looks = {time: np.zeros((len(codes), k), dtype=np.float32) for time in times}
    read = probe.read(labelled.samples if read is None else read)
    for train, held_out in labelled.splits():
        prepared = probe.prepare(cut(read, train), fit=True)
        asked = probe.prepare(cut(read, held_out))
        waiting = list(times)
        for update in probe.updates(prepared, codes[train], k, seed):
            while waiting and reaches(update, waiting[0]):
                looks[waiting.pop(0)][held_out] = probe.predict_prepared(asked)
        for time in waiting:
            looks[time][held_out] = probe.predict_prepared(asked)
    return looks


def trained_until(
    probe: Probe, read: Any, codes: np.ndarray, n_classes: int, seed: int, time: float
) -> Probe:
    """Return a copy of a probe as it was at a time of :func:`predict_held_out`, in epochs.

    It is trained again on the samples as it reads them, which takes less memory than a copy per
    checkpoint.
    """
    for update in probe.updates(probe.prepare(read, fit=True), codes, n_classes, seed):
        if reaches(update, time):
            break
    return copy.deepcopy(probe)


def reaches(update: Update, time: float) -> bool:
    """Return whether a training has reached a time, in epochs, with an update."""
    return update.done >= max(1, round(time * update.per_epoch))
