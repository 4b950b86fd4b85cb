"""The pseudo-labelled documents and the pool of the others.

A class code is the index among *all* classes of the corpus, also if some have no pseudo-labels. The
original renumbers the present classes in each iteration and mixes both numberings, which is right
only if no class is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from lops_adapters.probes.regression import softmax
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.selection.selectors import encode

POOL, DROPPED = -1, -2
# Mean of the largest probability of sharpened ones. Chosen on seed 0 next to 0.9 and to a fixed
# sharpness of 5, see docs/reproducibility.md, note 35.
_SURE = 0.8
_LEAST = 1e-9
_ROUNDS, _CLOSE, _HALVINGS = 300, 1e-4, 40


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
        new._add(initial.positions, codes_of(initial), initial.scores, 0)
        return new

    def pseudo_labels(self) -> PseudoLabels:
        """Return the current pseudo-labels."""
        return self._labels(np.flatnonzero(self.since >= 0))

    def relabel(self, positions: np.ndarray, names: np.ndarray) -> None:
        """Give documents these pseudo-labels, (m,) names."""
        self.codes[positions] = encode(names, self.classes)

    def reject(self, positions: np.ndarray, *, drop: bool = False) -> None:
        """Return documents to the pool, or drop them for good."""
        self.since[positions] = DROPPED if drop else POOL
        self.codes[positions] = -1

    def bootstrap(
        self, probabilities: np.ndarray, delta: float, iteration: int, *, inclusive: bool = False
    ) -> PseudoLabels:
        """Move confident predictions from the pool into the set and return them.

        Probabilities are (n, k), of all documents; those of confident ones are above ``delta``;
        with ``inclusive``, at least it.
        """
        best = probabilities.max(axis=1)
        sure = (best >= delta) if inclusive else (best > delta)
        moved = np.flatnonzero((self.since == POOL) & sure)
        return self._move(moved, probabilities, iteration)

    def bootstrap_by_rank(
        self, probabilities: np.ndarray, share: float, iteration: int
    ) -> PseudoLabels:
        """Move the best share of each class from the pool into the set and return it.

        No threshold, so that a class also grows if the classifier is rarely sure of it. Classes get
        the mean of three shares: theirs of the first training set, theirs of the predictions, and
        an even one. Predictions alone drift to frequent classes from round to round; even shares
        alone are wrong where classes are unequal. A class without pseudo-labels stays without. The
        share is of the pool documents of each class, see :func:`best_per_class`.
        """
        k, pool = len(self.classes), np.flatnonzero(self.since == POOL)
        present = np.unique(self.codes[self.since >= 0])
        own = probabilities[:, present]
        first = np.bincount(self.codes[self.since == 0], minlength=k)[present]
        predicted = np.bincount(own.argmax(axis=1), minlength=len(present))
        shares = (first / first.sum() + predicted / len(own) + 1 / len(present)) / 3
        fitted = np.zeros((len(own), k))
        fitted[:, present] = fitted_to_shares(own, shares)
        return self._move(pool[best_per_class(fitted[pool], share)], fitted, iteration)

    def _move(self, positions: np.ndarray, scores: np.ndarray, iteration: int) -> PseudoLabels:
        """Add documents with their class of the largest score, (n, k), and return them."""
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
        names = np.array(self.classes, dtype=object)[self.codes[positions]]
        return PseudoLabels(positions, names, self.scores[positions], len(self.since), self.classes)


def fitted_to_shares(probabilities: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return (n, k) probabilities times one factor per class, float64; rows sum to 1.

    With these factors, classes have their (k,) shares of the sharpened probabilities: a classifier
    of few documents is less sure than it is right, so that plain means are too even. The sharpness
    follows how sure it is, so that a classifier of many documents is hardly moved.

    >>> fitted_to_shares(np.array([[0.6, 0.4], [0.5, 0.5]]), np.array([0.5, 0.5])).round(2).tolist()
    [[0.55, 0.45], [0.45, 0.55]]
    """
    logs = np.log(np.maximum(probabilities.astype(np.float64), _LEAST))
    sharpness = _sharpness(logs)
    factors = np.zeros(logs.shape[1])
    for _ in range(_ROUNDS):
        mean = softmax(sharpness * (logs + factors)).mean(axis=0)
        if np.abs(mean - shares).max() < _CLOSE:
            break
        factors += np.log(shares / np.maximum(mean, _LEAST)) / sharpness
    return softmax(logs + factors)


def _sharpness(logs: np.ndarray) -> float:
    """Return the power of probabilities, given as (n, k) logarithms, that makes them sure enough.

    At least 1; at most 10, since no power makes even probabilities sure.
    """
    low, high = 1.0, 10.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if softmax(middle * logs).max(axis=1).mean() < _SURE:
            low = middle
        else:
            high = middle
    return high


def best_per_class(scores: np.ndarray, share: float) -> np.ndarray:
    """Return the (m,) int64 rows with the highest scores among the rows of each class.

    A row belongs to the class of its largest score, the first of these. A class keeps ``share`` of
    its rows, rounded up. Ties: rows that tie with the last of them are kept too.

    >>> best_per_class(np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.3, 0.7]]), 0.5).tolist()
    [0, 2, 3]
    """
    best, codes = scores.max(axis=1), scores.argmax(axis=1)
    kept = np.zeros(len(scores), dtype=bool)
    for code in np.unique(codes):
        own = codes == code
        ranked = np.sort(best[own])[::-1]
        kept |= own & (best >= ranked[ceil(round(share * len(ranked), 6)) - 1])
    return np.flatnonzero(kept)


def codes_of(labels: PseudoLabels) -> np.ndarray:
    """Return the (m,) int64 class codes of pseudo-labels, among all classes."""
    return encode(labels.labels, labels.classes)


def fading_classes(initial: PseudoLabels, trained: np.ndarray) -> list[tuple[str, float, float]]:
    """Return (class, initial share, share) of classes that fell below half of their initial share.

    A classifier that is rarely sure of a class bootstraps little of it and trains on less and less.
    ``initial`` are the labels before any selection, ``trained`` those that a classifier is trained
    on.
    """
    shares = [
        (name, count / len(initial), float((trained == name).mean()))
        for name, count in initial.counts.items()
    ]
    return [(name, before, now) for name, before, now in shares if now < before / 2]
