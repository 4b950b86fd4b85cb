"""Folds of cross-validation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import check_codes, check_counts

FOLDS = 3  # of cross-validation, unless others are asked for


def fold_of(codes: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each sample, (n,) int64: stratified, in the order of :func:`tie_hash`.

    It depends on the partition by class, not on the names or codes of the classes.

    >>> sorted(fold_of(np.array([0, 0, 0, 1, 1, 1]), 3, seed=0)[:3].tolist())
    [0, 1, 2]
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
        samples: n samples.
        codes: (n,) int class codes; every class occurs.
        classes: k pseudo-labels, in the order of the codes.
        folds: of cross-validation.
        seed: of folds and trainings.
        quiet: no progress bar.
        groups: (n,) int codes; samples of a group do not score each other: they are in one fold.
            None: folds are stratified.
    """

    samples: Sequence[Any]
    codes: np.ndarray
    classes: Sequence[Hashable]
    folds: int
    seed: int = 0
    quiet: bool = True
    groups: np.ndarray | None = None

    @classmethod
    def of(cls, labelled: Labelled, folds: int, seed: int, quiet: bool = True) -> Folded:
        """Return labelled samples, cut into folds."""
        samples, codes, classes = labelled.samples, labelled.codes, labelled.classes
        return cls(samples, codes, classes, folds, seed, quiet, labelled.groups)

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
        if self.groups is None:
            return fold_of(self.codes, self.folds, self.seed)
        return fold_of_groups(self.groups, self.folds, self.seed)

    def fold_of_each_group(self) -> np.ndarray:
        """Return the fold of each group, by its code, int64; empty without groups."""
        if self.groups is None:
            return np.zeros(0, dtype=np.int64)
        folds = np.empty(int(self.groups.max()) + 1, dtype=np.int64)
        folds[self.groups] = self.fold()
        return folds

    def splits(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, per fold, the sorted positions of the other folds and of the fold itself.

        Raises a LopsError as :meth:`check`, and of fewer groups than folds.
        """
        fold, folds = self.fold(), range(self.folds)
        for left_out in progress(folds, desc="folds", unit="training", quiet=self.quiet):
            yield np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)


def by_folds(
    predicted: Iterable[np.ndarray], groups: np.ndarray | None, folds: np.ndarray
) -> np.ndarray:
    """Return the predictions for further samples, (m, k): the mean of all folds' models.

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
