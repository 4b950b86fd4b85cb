"""The pseudo-labelled documents and the pool of the others.

A class code is the index among *all* classes of the corpus, also if some have no pseudo-labels. The
original renumbers the present classes in each iteration and mixes both numberings, which is right
only if no class is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.selection.by_rank import best_by_rank

POOL, DROPPED = -1, -2


@dataclass
class TrainingSet:
    """The set that Algorithm 2 selects from and adds to.

    Attributes:
        classes: all classes of the corpus.
        since: (n,) int64, state of each document: 0 initially pseudo-labelled, i bootstrapped by
            iteration i - 1, POOL, or DROPPED.
        codes: (n,) int64, class code of its pseudo-label; -1: none.
        scores: (n,) float64, score of an initial pseudo-label, probability of a bootstrapped one.
    """

    classes: tuple[str, ...]
    since: np.ndarray
    codes: np.ndarray
    scores: np.ndarray

    @classmethod
    def start(cls, initial: PseudoLabels) -> TrainingSet:
        """Return the set of the initial pseudo-labels; all other documents are in the pool."""
        n = initial.n_documents
        new = cls(initial.classes, np.full(n, POOL), np.full(n, -1), np.zeros(n))
        new._add(initial.positions, initial.codes, initial.scores, 0)
        return new

    def pseudo_labels(self, without: Sequence[int] | np.ndarray = ()) -> PseudoLabels:
        """Return the current pseudo-labels, except the labels of the documents ``without``."""
        return self._labels(np.setdiff1d(np.flatnonzero(self.since >= 0), without))

    def reject(self, positions: np.ndarray, *, drop: bool = False) -> None:
        """Return documents to the pool, or drop them for good."""
        self.since[positions] = DROPPED if drop else POOL
        self.codes[positions] = -1

    def bootstrap(
        self, probabilities: np.ndarray, delta: float, iteration: int, *, inclusive: bool = False
    ) -> PseudoLabels:
        """Move predictions above ``delta`` from the pool into the set and return them.

        The probabilities are (n, k), of all documents; ``inclusive``: at least ``delta``.
        """
        best = probabilities.max(axis=1)
        sure = (best >= delta) if inclusive else (best > delta)
        moved = np.flatnonzero((self.since == POOL) & sure)
        return self._move(moved, probabilities, iteration)

    def bootstrap_by_rank(
        self, probabilities: np.ndarray, share: float, iteration: int
    ) -> PseudoLabels:
        """Move the best share of each class from the pool into the set and return it.

        Classes get the mean of three shares: theirs of the first training set, theirs of the
        predictions, and an even one. Predictions alone drift to frequent classes from round to
        round; even shares alone are wrong where classes are unequal. A class without pseudo-labels
        stays without. The probabilities are (n, k), of all documents; for the share see
        :func:`~lops_adapters.selection.by_rank.best_by_rank`.
        """
        k, pool = len(self.classes), np.flatnonzero(self.since == POOL)
        present = np.unique(self.codes[self.since >= 0])
        first = np.bincount(self.codes[self.since == 0], minlength=k)[present]
        of_present = probabilities[:, present]
        predicted = np.bincount(of_present.argmax(axis=1), minlength=len(present))
        shares = np.zeros(k)
        shares[present] = (first / first.sum() + predicted / len(of_present) + 1 / len(present)) / 3
        best, fitted = best_by_rank(probabilities, pool, shares, share)
        return self._move(best, fitted, iteration)

    def _move(self, positions: np.ndarray, scores: np.ndarray, iteration: int) -> PseudoLabels:
        moved = scores[positions]
        self._add(positions, moved.argmax(axis=1), moved.max(axis=1), iteration + 1)
        return self._labels(positions)

    def _add(
        self, positions: np.ndarray, codes: np.ndarray, scores: np.ndarray, since: int
    ) -> None:
        self.since[positions] = since
        self.codes[positions] = codes
        self.scores[positions] = scores

    def _labels(self, positions: np.ndarray) -> PseudoLabels:
        codes, scores = self.codes[positions], self.scores[positions]
        return PseudoLabels(positions, codes, scores, len(self.since), self.classes)


def fading_classes(initial: PseudoLabels, trained: np.ndarray) -> list[tuple[str, float, float]]:
    """Return (class, initial share, share now) of classes whose share fell by more than half.

    A classifier that is rarely sure of a class bootstraps little of it and trains on less and less.
    ``initial`` is before any selection; ``trained`` are the (m,) codes that it is trained on now.
    """
    shares = [
        (name, count / len(initial), float((trained == code).mean()))
        for code, (name, count) in enumerate(initial.counts.items())
    ]
    return [(name, before, now) for name, before, now in shares if now < before / 2]
