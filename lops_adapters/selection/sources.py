"""Label sources: rules, annotators, language models, seed words, whose votes may differ.

A source votes for a class, or abstains. How far to believe each of its votes is estimated together
with the true classes, by expectation maximisation as in Dawid and Skene (1979), with three changes:

- The members of the committee, which read the samples, are further evidence for the true class.
- Votes are few: the accuracy of a vote is drawn towards its source's, and that towards the mean of
  all sources (partial pooling).
- Sources that err together, such as copies of one rule, share one vote: the more two sources agree
  beyond what the true classes explain, the less each of them counts where both vote.

Notation: n samples, m sources, k classes, codes 0..k-1, f signals. A signal is a source voting for
a class; ``votes`` are (n, m) int codes, -1 for abstentions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lops_adapters.labels.votes import Votes
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.folds import FOLDS
from lops_adapters.selection.likelihoods import SPREAD
from lops_adapters.selection.posterior import evidence, some

# Votes by which the accuracy of a signal is drawn towards its source's, and that towards the mean.
# Chosen, like the squared correlations, on comments and on simulated annotators.
POOLED = 20.0
_ROUNDS, _CLOSE = 30, 1e-4
_RECOUNTED = 4  # rounds after which the overlaps are settled
_LEAST = 1e-4  # of probabilities, before the logarithm
BLOCK = 20_000  # rows at a time


@dataclass(frozen=True)
class Signals:
    """The signals of a sample, and how votes are weighed before any member is trained.

    Attributes:
        keys: (f,) int64, ascending: source * k + class.
        worth: (f,) float64: a vote counts as much as it is rare, -log of the share of samples that
            get it, since a vote that most samples get says little.
        overlap, counts: (f, f) float64 of :func:`_overlap`, and (k,) votes per class.
        constant: (c,) int64, keys of sources that give one vote to every sample with a vote. They
            say nothing of a sample, so they are no signals: they count where no other source votes.

    """

    keys: np.ndarray
    n_classes: int
    worth: np.ndarray
    overlap: np.ndarray
    counts: np.ndarray
    constant: np.ndarray

    @staticmethod
    def of(votes: np.ndarray, n_classes: int) -> Signals:
        """Return the signals of (n, m) votes."""
        rows, sources = np.nonzero(votes >= 0)
        keys, counts = np.unique(sources * n_classes + votes[rows, sources], return_counts=True)
        always = counts == len(np.unique(rows))
        constant, keys, counts = keys[always], keys[~always], counts[~always]
        shares = np.minimum(counts / max(1, len(votes)), 0.99)
        per_class = np.bincount(keys % n_classes, weights=counts, minlength=n_classes)
        worth, none = -np.log(shares), np.eye(len(keys))
        alone = Signals(keys, n_classes, worth, none, per_class, constant)
        totals = alone._totals(votes) + 1e-3
        overlap = _overlap(alone.matrix(votes), totals / totals.sum(axis=1, keepdims=True), alone)
        return replace(alone, overlap=overlap)

    def matrix(self, votes: np.ndarray) -> Any:
        """Return which signals samples have, an (n, f) sparse matrix of ones."""
        from scipy.sparse import csr_matrix

        rows, sources = np.nonzero(votes >= 0)
        keys = sources * self.n_classes + votes[rows, sources]
        places, known = np.searchsorted(self.keys, keys), np.isin(keys, self.keys)
        ones = np.ones(int(known.sum()))
        return csr_matrix((ones, (rows[known], places[known])), (len(votes), len(self.keys)))

    def labels(self, votes: np.ndarray) -> np.ndarray:
        """Return the weighted majority of the votes, (n,) int64 codes; -1 without votes.

        Ties go to the class with fewer votes in all, then to the first class. A class with fewer
        votes in all than folds wins only where no other class has a vote: no member can check it.

        >>> votes = np.array([[0, -1], [0, 1], [0, 1], [0, -1], [0, 0], [-1, -1]])
        >>> Signals.of(votes, 2).labels(votes).tolist()
        [0, 1, 1, 0, 0, -1]
        """
        return self._best(self._totals(votes), self.counts, votes)

    def majority(self, votes: np.ndarray) -> np.ndarray:
        """Return the majority of the votes, (n,), each counting one; ties go to the larger class.

        >>> votes = np.array([[1, -1], [0, 1], [0, 1], [0, -1], [0, 0], [-1, -1]])
        >>> Signals.of(votes, 2).majority(votes).tolist()
        [1, 0, 0, 0, 0, -1]
        """
        of_class = np.eye(self.n_classes)[self.keys % self.n_classes]
        return self._best(self.matrix(votes) @ of_class, -self.counts, votes)

    def _totals(self, votes: np.ndarray) -> np.ndarray:
        of_class = np.eye(self.n_classes)[self.keys % self.n_classes] * self.worth[:, None]
        return np.asarray(weighed(self.matrix(votes), self.overlap) @ of_class)

    def _best(self, totals: np.ndarray, ties: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Return the classes with the largest totals; of equal ones, that with fewest ``ties``."""
        only = np.flatnonzero((totals <= 0).all(axis=1))
        for source, code in zip(*np.divmod(self.constant, self.n_classes), strict=True):
            totals[only, code] += votes[only, source] == code
        small = self.counts < FOLDS
        contested = totals[:, ~small].max(axis=1, initial=0) > 0
        totals[np.ix_(contested, small)] = 0
        ranked = np.lexsort((np.arange(self.n_classes), ties))
        ordered = totals[:, ranked]
        near = ordered >= ordered.max(axis=1, keepdims=True) - 1e-9
        return np.asarray(np.where(ordered.max(axis=1) > 0, ranked[near.argmax(axis=1)], -1))


def first_codes(votes: Votes) -> np.ndarray:
    """Return the weighted majority per sample, see :meth:`Signals.labels`, (n,); -1: no vote."""
    return Signals.of(votes.codes, len(votes.classes)).labels(votes.codes)


@dataclass(frozen=True)
class Sources:
    """Sources with what their votes are worth; can be pickled.

    Attributes:
        signals, overlap: of the sample that they were fitted to.
        ratios: (f, k) float64: log of the probability of each true class given the signal, over
            its frequency.
        prior: (k,) float64: log of these frequencies.
        tells: whether the members can tell right from wrong votes; if not, the majority counts.

    """

    signals: Signals
    overlap: np.ndarray
    ratios: np.ndarray
    prior: np.ndarray
    tells: bool = True

    def scores(self, votes: np.ndarray) -> np.ndarray:
        """Return the logarithm of what votes say of each class, (n, k), up to a constant."""
        return np.asarray(weighed(self.signals.matrix(votes), self.overlap) @ self.ratios)

    def posterior(self, votes: np.ndarray, likely: np.ndarray) -> np.ndarray:
        """Return the probability of each true class, (n, k), from votes and likelihoods."""
        if not self.tells:
            return np.asarray(np.eye(likely.shape[1])[self.signals.majority(votes)])
        true = np.empty(likely.shape)
        for start in range(0, len(votes), BLOCK):
            rows = slice(start, start + BLOCK)
            true[rows] = softmax(evidence(likely[rows]) + self.prior + self.scores(votes[rows]))
        return true


def fit(
    votes: np.ndarray,
    likely: np.ndarray,
    rows: np.ndarray | None = None,
    true: np.ndarray | None = None,
) -> Sources:
    """Estimate what the votes of each source are worth.

    Votes are (n, m) int; ``likely`` (n, k) mean likelihoods of the members; ``rows`` (c,) int
    positions of checked rows, whose true class is certain, and ``true`` (c,) int their classes.

    >>> votes = np.array([[0, 0, 1]] * 10 + [[1, 1, 0]] * 10)  # the third is always wrong
    >>> likely = np.array([[0.8, 0.2]] * 10 + [[0.2, 0.8]] * 10)
    >>> sources = fit(votes, likely)
    >>> sources.posterior(votes[[0, 10]], likely[[0, 10]]).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    k, chosen = likely.shape[1], some(likely)
    signals = Signals.of(votes, k)
    certain = np.full(len(votes), -1)
    if rows is not None:
        certain[rows] = true
    votes, certain, base = votes[chosen], certain[chosen], evidence(likely[chosen])
    matrix = signals.matrix(votes)
    voted = (votes >= 0).any(axis=1)
    votes, certain, base, matrix = votes[voted], certain[voted], base[voted], matrix[voted]
    sure = np.flatnonzero(certain >= 0)
    base[sure] = np.log(_LEAST**5) * (1 - np.eye(k)[certain[sure]])
    overlap, ratios = signals.overlap, np.zeros((len(signals.keys), k))
    estimates, before, prior = softmax(base.copy()), ratios, np.zeros(k)
    for step in range(_ROUNDS):
        if step < _RECOUNTED:
            overlap = _overlap(matrix, estimates, signals)
        shared = weighed(matrix, overlap)
        counts = np.asarray(matrix.T @ estimates)
        prior = _frequencies(estimates)
        ratios = np.log(np.maximum(_pooled(counts, signals, prior), _LEAST)) - prior
        estimates = softmax(base + prior + shared @ ratios)
        if step >= _RECOUNTED and np.abs(ratios - before).max(initial=0) < _CLOSE:
            break
        before = ratios
    return Sources(signals, overlap, ratios, prior)


def weighed(matrix: Any, overlap: np.ndarray) -> Any:
    """Return the (n, f) signals with weights: 1, shared with the others that overlap.

    >>> from scipy.sparse import csr_matrix
    >>> copies = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> weighed(csr_matrix([[1.0, 1, 1], [1, 0, 0]]), copies).toarray().tolist()
    [[0.5, 0.5, 1.0], [1.0, 0.0, 0.0]]
    """
    shared = matrix.copy()
    for start in range(0, matrix.shape[0], BLOCK):
        part = matrix[start : start + BLOCK]
        rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        sums = np.asarray(part @ overlap)[rows, part.indices]
        first = matrix.indptr[start]
        shared.data[first : first + len(sums)] = 1 / np.maximum(sums, 1)
    return shared


def _overlap(matrix: Any, true: np.ndarray, signals: Signals) -> np.ndarray:
    """Return how far signals for the same class repeat each other, (f, f) in [0, 1].

    The squared correlation of two signals over the samples, beyond what the true classes, (n, k)
    probabilities, explain; 0 if it is negative, of one source, or of different classes.
    """
    totals = np.maximum(true.sum(axis=0), 1e-9)
    of_classes = np.asarray(matrix.T @ true).T  # (k, f)
    rates = of_classes / totals[:, None]
    explained = of_classes.T @ rates
    covariance = (matrix.T @ matrix).toarray() - explained - explained.T
    covariance += rates.T @ (true.T @ true) @ rates
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-9))
    overlap = np.clip(covariance / spread[:, None] / spread, 0, 1) ** 2
    owners, classes = np.divmod(signals.keys, signals.n_classes)
    overlap[(owners[:, None] == owners) | (classes[:, None] != classes)] = 0
    np.fill_diagonal(overlap, 1)
    return np.asarray(overlap)


def accuracies(
    counts: np.ndarray, classes: np.ndarray, owners: np.ndarray, n_sources: int
) -> np.ndarray:
    """Return the accuracies of the sources, (m,), drawn towards their mean."""
    right, votes = counts[np.arange(len(classes)), classes], counts.sum(axis=1)
    mean = (right.sum() + 1) / (votes.sum() + 2)
    of_sources = np.bincount(owners, right, n_sources) + POOLED * mean
    return np.asarray(of_sources / (np.bincount(owners, votes, n_sources) + POOLED))


def _frequencies(true: np.ndarray) -> np.ndarray:
    """Return the logarithm of the classes' frequencies, (k,), by (n, k) probabilities."""
    k = true.shape[1]
    return np.asarray(np.log((true.mean(axis=0) + SPREAD / k) / (1 + SPREAD)))


def _pooled(counts: np.ndarray, signals: Signals, frequencies: np.ndarray) -> np.ndarray:
    """Return the probability of each true class given each signal, (f, k), after pooling.

    Accuracies are drawn towards the source's; errors towards the errors of all sources that vote
    for the same class, and these towards the frequencies of the classes.
    """
    k, (owners, classes) = signals.n_classes, np.divmod(signals.keys, signals.n_classes)
    each = np.arange(len(classes))
    of_sources = accuracies(counts, classes, owners, int(owners.max(initial=0)) + 1)
    votes = counts.sum(axis=1)
    accuracy = (counts[each, classes] + POOLED * of_sources[owners]) / (votes + POOLED)
    wrong = counts.copy()
    wrong[each, classes] = 0
    together = np.zeros((k, k))
    np.add.at(together, classes, wrong)
    together += POOLED * np.exp(frequencies)
    np.fill_diagonal(together, 0)
    together /= np.maximum(together.sum(axis=1, keepdims=True), 1e-12)
    wrong += POOLED * together[classes]
    pooled = wrong / wrong.sum(axis=1, keepdims=True) * (1 - accuracy)[:, None]
    pooled[each, classes] = accuracy
    return np.asarray(pooled)
