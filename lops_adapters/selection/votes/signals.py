"""Signals of label sources: which votes a row has, how far they repeat each other, what they say.

Notation: n samples, m sources, k classes, codes 0..k-1, f signals. A signal is a source voting for
a class; ``votes`` are (n, m) int codes, -1 for abstentions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.selection.committee.folds import FOLDS

# Kappas of copies and of sources that vote nearly alike, and rows on which both vote. Who votes
# alike may be right alike, so what is no copy counts in full: two people who err independently in
# 5 % of the rows have a kappa of 0.81 with two classes, and of 0.87 with four.
_COPY, _ALIKE, _LEAST_SHARED = 0.95, 0.8, 20
_SHRUNK = 10.0  # rows without overlap that are added to those that two sources share
BLOCK = 20_000  # rows at a time
_PAIRS = 1 << 22  # pairs of votes of a row, at a time


class Pairs(NamedTuple):
    """A number for each pair of signals for the same class; for other pairs, 0.

    Attributes:
        places: (s,) int64 positions of the signals, of each class with any.
        blocks: (s, s) float64, of the same classes.
    """

    places: list[np.ndarray]
    blocks: list[np.ndarray]

    def sparse(self) -> Any:
        """Return the (f, f) CSR matrix, without zeros: few signals overlap."""
        from scipy.sparse import csr_matrix

        f, cells = sum(map(len, self.places)), [np.nonzero(block) for block in self.blocks]
        if not f:
            return csr_matrix((0, 0))
        rows, columns = (
            np.concatenate([one[cell[i]] for one, cell in zip(self.places, cells, strict=True)])
            for i in (0, 1)
        )
        values = [block[cell] for block, cell in zip(self.blocks, cells, strict=True)]
        return csr_matrix((np.concatenate(values), (rows, columns)), (f, f))


@dataclass(frozen=True)
class Signals:
    """The signals of a sample, and how votes are weighed before any member is trained.

    Attributes:
        keys: (f,) int64, ascending: source * k + class.
        worth: (f,) float64: a vote counts as much as it is rare, -log of the share of samples that
            get it, since a vote that most samples get says little.
        overlap, counts: :func:`overlapping`, and (k,) votes per class.
        constant: (c,) int64, keys of sources that give one vote to every sample with a vote. They
            say nothing of a sample, so they are no signals: they count where no other source votes.
        alike: how many sources are in the largest group that votes nearly alike; only sources that
            vote for several classes count; 1: none do.
    """

    keys: np.ndarray
    n_classes: int
    worth: np.ndarray
    overlap: Pairs
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
        none = Pairs([*np.arange(len(keys))[:, None]], [np.ones((1, 1))] * len(keys))
        alone = Signals(keys, n_classes, -np.log(shares), none, per_class, constant)
        totals = alone._totals(votes) + 1e-3
        true = totals / totals.sum(axis=1, keepdims=True)
        matrix = alone.matrix(votes)
        both = together(matrix, alone)
        kappas = _kappas(matrix, both, alone)
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


def weighed(matrix: Any, overlap: Pairs) -> Any:
    """Return the (n, f) signals with weights: 1, shared with the others that overlap.

    >>> from scipy.sparse import csr_matrix
    >>> copies = Pairs([np.array([0, 1]), np.array([2])], [np.ones((2, 2)), np.ones((1, 1))])
    >>> weighed(csr_matrix([[1.0, 1, 1], [1, 0, 0]]), copies).toarray().tolist()
    [[0.5, 0.5, 1.0], [1.0, 0.0, 0.0]]
    """
    # Each overlaps with itself, so none is lost.
    shared = (matrix @ overlap.sparse()).multiply(matrix).tocsr()
    shared.sort_indices()
    shared.data = 1 / np.maximum(shared.data, 1)
    return shared


def overlapping(
    matrix: Any,
    true: np.ndarray,
    signals: Signals,
    both: Pairs | None = None,
    kappas: np.ndarray | None = None,
) -> Pairs:
    """Return how far signals for the same class repeat each other, in [0, 1].

    The squared correlation of two signals beyond what the true classes, (n, k) probabilities,
    explain; 0 if it is negative, or of one source. Of two sources that vote for several classes it
    is counted over the rows on which both vote, so that people who got the same rows are no copies.
    Else it is counted over all rows: to a rule, no vote is a statement.

    Sources that hardly ever differ are copies: 1. ``kappas``: they tell copies, and of sources that
    vote for several classes nothing else counts; it is :attr:`Signals.overlap`. None: that tells
    copies. ``both``: :func:`together`, or None.
    """
    owners, blocks = signals.keys // signals.n_classes, []
    several, both = np.isin(owners, signals.several), both or together(matrix, signals)
    of_classes = np.asarray(matrix.T @ true)  # (f, k)
    if not several.all():
        totals, products = np.maximum(true.sum(axis=0), 1e-9), true.T @ true
    if kappas is None and several.any():
        inside = _where_both_vote(matrix, true, owners, several)
    for number, (places, shared) in enumerate(zip(*both, strict=True)):
        correlation, of_several = np.zeros(shared.shape), np.flatnonzero(several[places])
        if len(of_several) < len(places):
            rates = of_classes[places] / totals
            explained = of_classes[places] @ rates.T
            covariance = shared - explained - explained.T + rates @ products @ rates.T
            spread = np.sqrt(np.maximum(np.diag(covariance), 1e-9))
            correlation = covariance / spread[:, None] / spread
        pairs = np.ix_(of_several, of_several)
        if len(of_several):
            some = places[of_several]
            correlation[pairs] = (
                0 if kappas is not None else inside(some, of_classes, shared[pairs])
            )
        overlap, own = np.clip(correlation, 0, 1) ** 2, owners[places]
        if kappas is None:
            copies = signals.overlap.blocks[number] == 1
        else:
            copies = kappas[np.ix_(own, own)] >= _COPY
        overlap[copies] = 1
        overlap[own[:, None] == own] = 0
        np.fill_diagonal(overlap, 1)
        blocks.append(overlap)
    return Pairs(both.places, blocks)


def together(matrix: Any, signals: Signals) -> Pairs:
    """Return on how many rows two signals for the same class occur."""
    classes = signals.keys % signals.n_classes
    order, columns = np.argsort(classes, kind="stable"), matrix.tocsc()
    places = np.split(order, np.flatnonzero(np.diff(classes[order])) + 1) if len(order) else []
    parts = (columns[:, one] for one in places)
    return Pairs(places, [(part.T @ part).toarray() for part in parts])


def _kappas(matrix: Any, both: Pairs, signals: Signals) -> np.ndarray:
    """Return Cohen's kappas of the sources, (m, m); 0 where they share too few rows.

    ``both`` is :func:`together`.
    """
    owners, classes = np.divmod(signals.keys, signals.n_classes)
    m = int(owners.max(initial=0)) + 1
    counts = np.zeros((m, signals.n_classes))
    counts[owners, classes] = matrix.sum(axis=0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    voted = _of_sources(matrix, owners, m)
    rows, agreed = (voted.T @ voted).toarray(), np.zeros((m, m))
    for places, shared in zip(*both, strict=True):
        agreed[np.ix_(owners[places], owners[places])] += shared
    chance = shares @ shares.T
    kappa = (agreed / np.maximum(rows, 1) - chance) / np.maximum(1 - chance, 1e-9)
    return np.asarray(np.where(rows >= _LEAST_SHARED, kappa, 0))


def _of_sources(matrix: Any, owners: np.ndarray, n_sources: int) -> Any:
    """Return which sources vote, (n, m) CSR of ones, by the signals of samples."""
    from scipy.sparse import csr_matrix

    each = (np.ones(len(owners)), (np.arange(len(owners)), owners))
    return matrix @ csr_matrix(each, (len(owners), n_sources))


def _largest_group(linked: np.ndarray) -> int:
    """Return the size of the largest group of (s, s) bool links; 1 without any."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    groups = connected_components(csr_matrix(linked), directed=False)[1]
    return int(np.bincount(groups, minlength=1).max(initial=1))


def _where_both_vote(
    matrix: Any, true: np.ndarray, owners: np.ndarray, several: np.ndarray
) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Return a function that returns correlations over the rows on which both sources vote.

    It is given (s,) places of signals for one class, of ``several``, the votes of all signals by
    true class, (f, k), and :func:`together` of the s. Its (s, s) are drawn towards 0.
    """
    every, of_source = np.unique(owners[several], return_inverse=True)
    rows = _rows_of_pairs(_of_sources(matrix[:, several], of_source, len(every)), true)
    numbers = np.zeros(len(owners), dtype=np.int64)
    numbers[several] = of_source

    def correlations(places: np.ndarray, of_classes: np.ndarray, both: np.ndarray) -> np.ndarray:
        own = numbers[places]
        rates = (of_classes[places] / np.maximum(rows[:, own, own].T, 1e-9)).T  # (k, s)
        shared, one, other = rows[:, own[:, None], own], rates[:, :, None], rates[:, None]
        spread = (shared * one * (1 - one)).sum(axis=0)
        covariance = both - (shared * one * other).sum(axis=0)
        return np.asarray(covariance / (np.sqrt(np.maximum(spread * spread.T, 0)) + _SHRUNK))

    return correlations


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
