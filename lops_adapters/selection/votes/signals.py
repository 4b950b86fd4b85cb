"""Signals of label sources: which votes a row has, how far they repeat each other, what they say.

Notation: n samples, m sources, k classes, codes 0..k-1, f signals. A signal is a source voting for
a class; ``votes`` are (n, m) int codes, -1 for abstentions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lops_adapters.selection.committee.folds import FOLDS

# Kappas of copies and of sources that vote nearly alike, and rows on which both vote. Who votes
# alike may be right alike, so what is no copy counts in full: two people who err independently in
# 5 % of the rows have a kappa of 0.81 with two classes, and of 0.87 with four.
_COPY, _ALIKE, _LEAST_SHARED = 0.95, 0.8, 20
_SHRUNK = 10.0  # rows without overlap that are added to those that two sources share
BLOCK = 20_000  # rows at a time
_PAIRS = 1 << 22  # pairs of votes of a row, at a time


@dataclass(frozen=True)
class Signals:
    """The signals of a sample, and how votes are weighed before any member is trained.

    Attributes:
        keys: (f,) int64, ascending: source * k + class.
        worth: (f,) float64: a vote counts as much as it is rare, -log of the share of samples that
            get it, since a vote that most samples get says little.
        overlap, counts: (f, f) float64 of :func:`overlapping`, and (k,) votes per class.
        constant: (c,) int64, keys of sources that give one vote to every sample with a vote. They
            say nothing of a sample, so they are no signals: they count where no other source votes.
        alike: how many sources are in the largest group that votes nearly alike; only sources that
            vote for several classes count; 1: none do.
    """

    keys: np.ndarray
    n_classes: int
    worth: np.ndarray
    overlap: np.ndarray
    counts: np.ndarray
    constant: np.ndarray
    alike: int = 1

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
        true = totals / totals.sum(axis=1, keepdims=True)
        matrix = alone.matrix(votes)
        both = together(matrix)
        kappas = _kappas(both, alone)
        overlap = overlapping(matrix, true, alone, both, kappas)
        near = kappas[np.ix_(alone.several, alone.several)] >= _ALIKE
        return replace(alone, overlap=overlap, alike=_largest_group(near))

    @property
    def several(self) -> np.ndarray:
        """The sources that vote for several classes, int positions."""
        owners = self.keys // self.n_classes
        return np.flatnonzero(np.bincount(owners, minlength=1) > 1)

    @property
    def evenness(self) -> float:
        """How far sources disagree on how frequent the classes are, in [0, 1].

        The variance of their shares of votes per class, next to how far the mean shares are from
        equal ones. If language models prefer different classes, or each rule has its own, votes
        do not say that one is more frequent.
        """
        owners, classes = np.divmod(self.keys, self.n_classes)
        votes = np.zeros((int(owners.max(initial=0)) + 1, self.n_classes))
        votes[owners, classes] = np.exp(-self.worth)
        votes = votes[votes.sum(axis=1) > 0]
        totals = votes.sum(axis=1, keepdims=True)
        mean = votes.sum(axis=0) / max(1e-9, float(totals.sum()))
        between = float((((votes / totals - mean) ** 2) * totals).sum() / max(1e-9, totals.sum()))
        apart = float(((mean - 1 / self.n_classes) ** 2).sum())
        return between / max(1e-9, between + apart)

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
        totals = self._totals(votes)
        only = np.flatnonzero((totals <= 0).all(axis=1))
        for source, code in zip(*np.divmod(self.constant, self.n_classes), strict=True):
            totals[only, code] += votes[only, source] == code
        small = self.counts < FOLDS
        contested = totals[:, ~small].max(axis=1, initial=0) > 0
        totals[np.ix_(contested, small)] = 0
        ranked = np.lexsort((np.arange(self.n_classes), self.counts))
        ordered = totals[:, ranked]
        near = ordered >= ordered.max(axis=1, keepdims=True) - 1e-9
        return np.asarray(np.where(ordered.max(axis=1) > 0, ranked[near.argmax(axis=1)], -1))

    def _totals(self, votes: np.ndarray) -> np.ndarray:
        of_class = np.eye(self.n_classes)[self.keys % self.n_classes] * self.worth[:, None]
        return np.asarray(weighed(self.matrix(votes), self.overlap) @ of_class)


def weighed(matrix: Any, overlap: np.ndarray) -> Any:
    """Return the (n, f) signals with weights: 1, shared with the others that overlap.

    >>> from scipy.sparse import csr_matrix
    >>> copies = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> weighed(csr_matrix([[1.0, 1, 1], [1, 0, 0]]), copies).toarray().tolist()
    [[0.5, 0.5, 1.0], [1.0, 0.0, 0.0]]
    """
    from scipy.sparse import csr_matrix

    # Sparse, since few signals overlap. Each overlaps with itself, so none is lost.
    shared = (matrix @ csr_matrix(overlap)).multiply(matrix).tocsr()
    shared.sort_indices()
    shared.data = 1 / np.maximum(shared.data, 1)
    return shared


def overlapping(
    matrix: Any,
    true: np.ndarray,
    signals: Signals,
    both: np.ndarray | None = None,
    kappas: np.ndarray | None = None,
) -> np.ndarray:
    """Return how far signals for the same class repeat each other, (f, f) in [0, 1].

    The squared correlation of two signals beyond what the true classes, (n, k) probabilities,
    explain; 0 if it is negative, of one source, or of different classes. Of two sources that vote
    for several classes it is counted over the rows on which both vote, so that people who got the
    same rows are no copies. Else it is counted over all rows: to a rule, no vote is a statement.

    Sources that hardly ever differ are copies: 1. ``kappas``: they tell copies, and of sources that
    vote for several classes nothing else counts; it is :attr:`Signals.overlap`. None: that tells
    copies. ``both``: :func:`together`, or None.
    """
    owners, classes = np.divmod(signals.keys, signals.n_classes)
    several, both = np.isin(owners, signals.several), together(matrix) if both is None else both
    correlation = np.zeros(both.shape)
    if not several.all():
        of_classes = np.asarray(matrix.T @ true).T  # (k, f)
        rates = of_classes / np.maximum(true.sum(axis=0), 1e-9)[:, None]
        explained = of_classes.T @ rates
        covariance = both - explained - explained.T + rates.T @ (true.T @ true) @ rates
        spread = np.sqrt(np.maximum(np.diag(covariance), 1e-9))
        correlation = covariance / spread[:, None] / spread
    if kappas is not None:
        correlation[np.ix_(several, several)] = 0
    elif several.any():
        inside = _where_both_vote(
            matrix[:, several],
            both[np.ix_(several, several)],
            true,
            owners[several],
            classes[several],
        )
        correlation[np.ix_(several, several)] = inside
    overlap = np.clip(correlation, 0, 1) ** 2
    copies = signals.overlap == 1 if kappas is None else kappas[np.ix_(owners, owners)] >= _COPY
    overlap[copies] = 1
    overlap[(owners[:, None] == owners) | (classes[:, None] != classes)] = 0
    np.fill_diagonal(overlap, 1)
    return np.asarray(overlap)


def together(matrix: Any) -> np.ndarray:
    """Return on how many rows two signals occur, (f, f) float64."""
    return np.asarray((matrix.T @ matrix).toarray())


def _kappas(both: np.ndarray, signals: Signals) -> np.ndarray:
    """Return Cohen's kappas of the sources, (m, m); 0 where they share too few rows.

    ``both`` is :func:`together`.
    """
    owners, classes = np.divmod(signals.keys, signals.n_classes)
    m = int(owners.max(initial=0)) + 1
    counts = np.zeros((m, signals.n_classes))
    counts[owners, classes] = np.diag(both)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    of_source = (owners[:, None] == np.arange(m)).astype(np.float64)
    rows = of_source.T @ both @ of_source
    agreed = of_source.T @ (both * (classes[:, None] == classes)) @ of_source
    chance = shares @ shares.T
    kappa = (agreed / np.maximum(rows, 1) - chance) / np.maximum(1 - chance, 1e-9)
    return np.asarray(np.where(rows >= _LEAST_SHARED, kappa, 0))


def _largest_group(linked: np.ndarray) -> int:
    """Return the size of the largest group of (s, s) bool links; 1 without any."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    groups = connected_components(csr_matrix(linked), directed=False)[1]
    return int(np.bincount(groups, minlength=1).max(initial=1))


def _where_both_vote(
    matrix: Any, both: np.ndarray, true: np.ndarray, owners: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Return correlations over the rows on which both sources vote, drawn towards 0, (s, s).

    ``matrix`` has the s signals of sources that vote for several classes, ``both`` is
    :func:`together` of them. Of signals for different classes they are 0.
    """
    from scipy.sparse import csr_matrix

    every, of_source = np.unique(owners, return_inverse=True)
    voted = csr_matrix(matrix @ np.eye(len(every))[of_source])  # (n, sources)
    rows = _rows_of_pairs(voted, true)
    rates = np.asarray(matrix.T @ true).T  # (k, s)
    rates = rates / np.maximum(rows[:, of_source, of_source], 1e-9)
    correlation = np.zeros((len(owners), len(owners)))
    for code in np.unique(classes):
        of_class = np.flatnonzero(classes == code)
        shared = rows[:, of_source[of_class][:, None], of_source[of_class]]
        one, other = rates[:, of_class, None], rates[:, None, of_class]
        spread = (shared * one * (1 - one)).sum(axis=0)
        covariance = both[np.ix_(of_class, of_class)] - (shared * one * other).sum(axis=0)
        scale = np.sqrt(np.maximum(spread * spread.T, 0)) + _SHRUNK
        correlation[np.ix_(of_class, of_class)] = covariance / scale
    return correlation


def _rows_of_pairs(voted: Any, true: np.ndarray) -> np.ndarray:
    """Return the sums of (n, k) probabilities over the rows on which two sources vote, (k, m, m).

    ``voted`` is (n, m) CSR of ones.
    """
    from scipy.sparse import csr_matrix

    (n, m), k, votes = voted.shape, true.shape[1], np.diff(voted.indptr).astype(np.int64)
    total, block = np.zeros((m * m, k)), np.cumsum(votes**2) // _PAIRS
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    for rows in map(np.arange, starts, [*starts[1:], n]):
        row = np.repeat(rows, votes[rows])  # of each vote
        others = voted[row]  # all votes of that row
        of_votes = voted.indices[voted.indptr[rows[0]] : voted.indptr[rows[-1] + 1]]
        pairs = np.repeat(of_votes.astype(np.int64), votes[row]) * m + others.indices
        ends = np.concatenate([[0], np.cumsum(votes[rows] ** 2)])
        cells = csr_matrix((others.data, pairs, ends), shape=(len(rows), m * m))
        total += cells.T @ true[rows]
    return np.asarray(total.T.reshape(k, m, m))
