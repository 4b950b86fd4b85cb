"""The members of a committee; :mod:`~.member_table` says which are built.

Notation: n samples, m unseen samples, k classes, codes 0..k-1 of the pseudo-labels.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.console import progress, typed
from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe, cut
from lops_adapters.probes.regression import logistic_weights, product, softmax
from lops_adapters.selection.committee.folds import (
    Folded,
    best_checkpoint,
    by_folds,
    long_enough,
    predict_held_out,
    trained_until,
)
from lops_adapters.selection.committee.member import Member, Reader

Vectors = Callable[[Any], np.ndarray]  # (n, width), rows of unit length
BLOCK = 1024  # rows compared at a time
_COMPARISONS = 10**9  # of neighbours: about a minute
_SHOWN = 5  # classes in an error


@dataclass
class Learnt(Member):
    """A probe, cross-validated, at the checkpoint that agrees with most labels.

    Linear probes train for at least ``LEAST_UPDATES`` updates, see
    :func:`~.folds.long_enough`. Unseen samples are scored by the mean of
    the folds' probes. The probe is trained from scratch once per fold.
    """

    name: str
    probe: Probe | None
    read: Any = None
    reader: Reader | None = None

    def score(self, labelled: Folded) -> np.ndarray:
        """Train on the other folds and predict; raises what the probe raises."""
        assert self.probe is not None
        n_trained = len(labelled.codes) * (labelled.folds - 1) // labelled.folds
        self.probe = long_enough(self.probe, n_trained)
        at_checkpoints = predict_held_out(self.probe, labelled, read=self.read)
        self._best = best_checkpoint(at_checkpoints, labelled.codes)
        return at_checkpoints[self._best]

    def fit(self, labelled: Folded) -> None:
        """Train again until the checkpoint that counts."""
        assert self.probe is not None
        probe, codes, k = self.probe, labelled.codes, len(labelled.classes)
        read = probe.read(labelled.samples if self.read is None else self.read)
        self._probes = [
            trained_until(probe, cut(read, train), codes[train], k, labelled.seed, self._best)
            for train, _ in labelled.splits()
        ]
        self._fold_of_group = labelled.fold_of_each_group()
        self.probe = self.read = None

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        predicted = (probe.predict_proba(samples).astype(np.float64) for probe in self._probes)
        return by_folds(predicted, groups, self._fold_of_group)


@dataclass
class VectorRegression(Member):
    """Logistic regression on vectors of unit length, cross-validated.

    Its strong regularisation keeps it from fitting wrong labels; 1 and 10 rank worse. Unseen
    samples are scored by the mean of the folds. A fold trains on its first ``most`` samples, or
    more with over a hundred classes; their order has to be random, as for :class:`Neighbours`.
    """

    name: str
    encode: Vectors
    most: int = 50_000
    read: Any = None
    reader: Reader | None = None

    def score(self, labelled: Folded) -> np.ndarray:
        codes, self._n_classes = labelled.codes, len(labelled.classes)
        vectors = self.encode(labelled.samples if self.read is None else self.read)
        probabilities = np.empty((len(codes), self._n_classes))
        self._folds: list[tuple[np.ndarray, np.ndarray]] = []
        most = max(self.most, self.most // 100 * self._n_classes)
        for every, held_out in labelled.splits():
            train = every[:most]
            present, known = np.unique(codes[train], return_inverse=True)
            strength = 0.3 * len(every) / len(train)  # as of all
            weights = logistic_weights(vectors[train], known, len(present), strength)
            self._folds.append((present, weights))
            probabilities[held_out] = self._predicted(vectors[held_out], self._folds[-1])
        return probabilities

    def fit(self, labelled: Folded) -> None:
        self._fold_of_group = labelled.fold_of_each_group()
        self.read = None

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        vectors = self.encode(samples)
        predicted = (self._predicted(vectors, fold) for fold in self._folds)
        return by_folds(predicted, groups, self._fold_of_group)

    def vectors(self, samples: Any) -> np.ndarray:
        return self.encode(samples)

    def _predicted(self, vectors: np.ndarray, fold: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return (m, k) probabilities; classes that the fold was not fitted to have 0."""
        present, weights = fold
        probabilities = np.zeros((len(vectors), self._n_classes))
        # In float64: the last bits of float32 products depend on the number of rows.
        scores = product(vectors.astype(np.float64), weights[:-1]) + weights[-1]
        probabilities[:, present] = softmax(scores).astype(np.float32)
        return probabilities


@dataclass
class Neighbours(Member):
    """The labels of the nearest other samples, by the cosine of their vectors.

    A neighbour counts exp(5 cosine). Its own label does not count for a sample. With many samples,
    all are compared to the first ``most`` of them, above 100,000 samples to fewer, so their order
    has to be random, as :func:`lops_adapters.selection.build` makes it. ``count`` neighbours count;
    fewer if the classes have fewer than twice as many samples on average.
    """

    name: str
    encode: Vectors
    count: int = 100
    most: int = 10_000
    read: Any = None
    reader: Reader | None = None
    weight: float = 1.0

    def score(self, labelled: Folded) -> np.ndarray:
        samples = labelled.samples if self.read is None else self.read
        vectors = np.asarray(self.encode(samples), dtype=np.float32)
        n, self._n_classes = len(vectors), len(labelled.classes)
        most = min(self.most, max(1000, _COMPARISONS // max(1, n)))
        # A copy: a view would keep the vectors of all samples.
        self._others, self._labels = vectors[:most].copy(), labelled.codes[:most].copy()
        compared = len(self._others)
        self._nearest = max(1, min(self.count, compared // (2 * self._n_classes), compared - 1))
        probabilities = np.empty((n, self._n_classes))
        apart = np.arange(n) if labelled.apart is None else labelled.apart
        several = np.bincount(apart)[apart] > 1
        starts = range(0, n, BLOCK)
        for start in progress(starts, desc="neighbours", unit="block", quiet=labelled.quiet):
            rows = np.arange(start, min(start + BLOCK, n))
            near = product(vectors[rows], self._others.T)
            compared_to_itself = rows[rows < compared]
            near[compared_to_itself - start, compared_to_itself] = -np.inf
            for row in rows[several[rows]].tolist():
                near[row - start, apart[:compared] == apart[row]] = -np.inf
            probabilities[rows] = self._shares(near)
            del near  # or there are two while the next is computed
        return probabilities

    def fit(self, labelled: Folded) -> None:
        compared, groups, self.read = len(self._others), labelled.groups, None
        self._groups = None if groups is None else groups[:compared].copy()

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        # In float64, then rounded: the last bits of float32 products depend on the row's place.
        vectors = np.asarray(self.encode(samples), dtype=np.float64)
        others = self._others.astype(np.float64)
        probabilities = np.empty((len(vectors), self._n_classes))
        for start in range(0, len(vectors), BLOCK):
            near = product(vectors[start : start + BLOCK], others.T).astype(np.float32)
            if groups is not None and self._groups is not None:
                near[groups[start : start + BLOCK, None] == self._groups] = -np.inf
            probabilities[start : start + BLOCK] = self._shares(near)
        return probabilities

    def vectors(self, samples: Any) -> np.ndarray:
        return self.encode(samples)

    def _shares(self, near: np.ndarray) -> np.ndarray:
        counted = weights_by_label(near, self._labels, self._nearest, self._n_classes) + 1e-3
        return np.asarray(counted / counted.sum(axis=1, keepdims=True))


def weights_by_label(
    near: np.ndarray, labels: np.ndarray, count: int, n_classes: int
) -> np.ndarray:
    """Return the sums of exp(5 cosine) of the ``count`` largest cosines by label, (m, k) float64.

    Cosines are (m, o) float32, labels (o,) int codes. Of ties at the last place, those count that
    :func:`numpy.argpartition` of the row puts first.

    >>> near = np.array([[0.0, 0.2, 0.1]], dtype=np.float32)
    >>> weights_by_label(near, np.array([0, 1, 0]), 2, 2).round(2).tolist()
    [[1.65, 2.72]]
    """
    m, width = near.shape
    per_group = max(1, width // (2 * count))
    groups = width // per_group
    # ``count`` groups reach this bound, so the ``count`` largest do, too: few others have to be
    # compared.
    tops = near[:, : groups * per_group].reshape(m, per_group, groups).max(axis=1)
    bound = -np.partition(-tops, count - 1, axis=1)[:, count - 1 : count]
    rows, columns = np.divmod(np.flatnonzero(near >= bound), width)
    values = near[rows, columns]
    starts = np.searchsorted(rows, np.arange(m + 1))
    largest = np.full((m, int(np.diff(starts).max(initial=count))), -np.inf, dtype=np.float32)
    largest[rows, np.arange(len(rows)) - starts[rows]] = values
    least = -np.partition(-largest, count - 1, axis=1)[:, count - 1]
    counts = values >= least[rows]
    tied = np.flatnonzero(np.bincount(rows[counts], minlength=m) > count)
    if len(tied):
        first = np.argpartition(-near[tied], count - 1, axis=1)[:, :count]
        counts &= ~np.isin(rows, tied)
        rows = np.concatenate([rows[counts], np.repeat(tied, count)])
        columns = np.concatenate([columns[counts], first.ravel()])
    else:
        rows, columns = rows[counts], columns[counts]
    weights = np.exp(5 * near[rows, columns])
    cells = rows * n_classes + labels[columns]
    return np.bincount(cells, weights=weights, minlength=m * n_classes).reshape(m, n_classes)


@dataclass
class ClassWords(Member):
    """How near a text is to the words of each class, compared to the other texts.

    Similarities are standardised per class over all samples; no label is used. The words of a class
    are its name and its seed words.
    """

    name: str
    encode: Vectors
    words: Mapping[Hashable, Sequence[str]]
    reader: Reader | None = None

    def score(self, labelled: Folded) -> np.ndarray:
        """Compare; LopsError if a class has no words."""
        check_words(self.words, labelled.classes)
        texts = [", ".join(self.words[label]) for label in labelled.classes]
        self._of_classes = self.encode(texts)
        near = self._near(labelled.samples)
        self._mean, self._spread = near.mean(axis=0), np.maximum(near.std(axis=0), 1e-9)
        return self._standardised(near)

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        """Compare, with mean and spread of the samples of :meth:`score`."""
        return self._standardised(self._near(samples))

    def _near(self, samples: Any) -> np.ndarray:
        return product(self.encode(samples), self._of_classes.T).astype(np.float64)

    def _standardised(self, near: np.ndarray) -> np.ndarray:
        return np.asarray(softmax(2 * (near - self._mean) / self._spread))


@dataclass
class OwnProbabilities(Member):
    """The held-out probabilities of a classifier outside this package: the samples themselves."""

    name: str
    reader: Reader | None = None

    def score(self, labelled: Folded) -> np.ndarray:
        """Return the samples, (n, k); LopsError if they are no probabilities."""
        expected = (len(labelled.codes), len(labelled.classes))
        probabilities = np.asarray(labelled.samples, dtype=np.float64)
        if probabilities.shape != expected:
            raise LopsError(
                f"found probabilities of shape {probabilities.shape}; wanted {expected}: a row per "
                "label, and a column per class in the order of the sorted labels"
            )
        return self.score_unseen(probabilities)

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        """Return the samples, (m, k); LopsError if they are no probabilities."""
        probabilities = np.asarray(samples, dtype=np.float64)
        wrong = ~(np.isfinite(probabilities).all(axis=1) & (probabilities >= 0).all(axis=1))
        wrong |= ~np.isclose(probabilities.sum(axis=1), 1, atol=1e-3)
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            shown = str(np.round(probabilities[first], 3).tolist())
            raise LopsError(
                f"{int(wrong.sum())} of {len(wrong)} rows are no probabilities, the first at "
                f"position {first} ({shown:.80}); wanted numbers from 0 to 1 that sum to 1"
            )
        return probabilities


def check_words(words: Mapping[Hashable, Sequence[str]], classes: Sequence[Hashable] = ()) -> None:
    """Raise a LopsError unless these are lists of words, and every class has some."""
    if not isinstance(words, Mapping):
        raise LopsError(f"words are {words!r:.80}; wanted a dict, class to list of words")
    for label, of_class in words.items():
        listed = isinstance(of_class, Sequence) and not isinstance(of_class, str)
        if not listed or not all(isinstance(word, str) and word.strip() for word in of_class):
            raise LopsError(
                f"the words of the class {label!r} are {of_class!r:.80}; wanted a list of words"
            )
    without = [repr(label) for label in classes if not words.get(label)]
    if without:
        raise LopsError(
            f"{typed('words')} hold none for {', '.join(without[:_SHOWN])}; wanted words for every "
            "class"
        )
