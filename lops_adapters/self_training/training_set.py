"""Which documents have a pseudo-label at the moment, and which are in the pool.

A class is known by its name, or by its place among *all* classes of the corpus, whichever of them
have pseudo-labels at the moment. The original numbers the classes that are present anew in each
iteration and then mixes both numberings, which is right only where none is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lops_adapters.pseudo_labels import PseudoLabels

POOL, DROPPED = -1, -2


@dataclass
class TrainingSet:
    """The set that Algorithm 2 selects from and adds to.

    Attributes:
        classes: all classes of the corpus.
        since: (n,) int64, what each document is: 0 initially pseudo-labelled, i bootstrapped by
            iteration i - 1, or POOL or DROPPED.
        codes: (n,) int64, place of its pseudo-label among the classes; -1 where it has none.
        scores: (n,) float64, what the pseudo-label was given by: an initial one's score, a
            bootstrapped one's probability.

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
        """Return the pseudo-labels as they stand."""
        return self._labels(np.flatnonzero(self.since >= 0))

    def reject(self, positions: np.ndarray, *, drop: bool = False) -> None:
        """Send documents back to the pool, or out of it for good."""
        self.since[positions] = DROPPED if drop else POOL
        self.codes[positions] = -1

    def bootstrap(
        self, probabilities: np.ndarray, delta: float, iteration: int, *, inclusive: bool = False
    ) -> PseudoLabels:
        """Move what the classifier is sure of from the pool into the set, under the predicted
        class; returns what was moved.

        Args:
            probabilities: (n, k), of all documents.
            delta: the probability must be above it, or at least it where ``inclusive``.
            iteration: of this prediction.

        """
        best = probabilities.max(axis=1)
        sure = (best >= delta) if inclusive else (best > delta)
        moved = np.flatnonzero((self.since == POOL) & sure)
        self._add(moved, probabilities[moved].argmax(axis=1), best[moved], iteration + 1)
        return self._labels(moved)

    def _add(
        self, positions: np.ndarray, codes: np.ndarray, scores: np.ndarray, since: int
    ) -> None:
        self.since[positions], self.codes[positions], self.scores[positions] = since, codes, scores

    def _labels(self, positions: np.ndarray) -> PseudoLabels:
        names = np.array(self.classes, dtype=object)[self.codes[positions]]
        return PseudoLabels(positions, names, self.scores[positions], len(self.since), self.classes)


def codes_of(labels: PseudoLabels) -> np.ndarray:
    """Return the (m,) int64 places of pseudo-labels among all classes."""
    place = {name: code for code, name in enumerate(labels.classes)}
    return np.array([place[name] for name in labels.labels], dtype=np.int64)


def fading_classes(initial: PseudoLabels, trained: np.ndarray) -> list[tuple[str, float, float]]:
    """Return the classes whose share of the training set is less than half of what it was among the
    initial pseudo-labels.

    A classifier that is rarely sure of a class bootstraps little of it and trains on ever less of
    it.

    Args:
        initial: before any selection.
        trained: (m,) names, the pseudo-labels that a classifier is trained on.

    Returns:
        (class, share among the initial, share now), in the order of the classes.

    """
    shares = [
        (name, count / len(initial), float((trained == name).mean()))
        for name, count in initial.counts.items()
    ]
    return [(name, before, now) for name, before, now in shares if now < before / 2]
