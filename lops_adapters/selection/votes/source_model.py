"""Estimates what votes say of the true classes: expectation maximisation, held-out votes, members.

Notation: r rows with a vote, m sources, k classes, f signals, see :mod:`.signals`.
"""

from typing import Any, NamedTuple

import numpy as np

from lops_adapters.probes.regression import softmax
from lops_adapters.selection.votes.pooling import frequencies, pooled
from lops_adapters.selection.votes.signals import Pairs, Signals, overlapping, together, weighed

# Votes of other sources on a row that weigh as much as the majority. This, the next number,
# and the constants of :mod:`.signals` and :mod:`.pooling` were chosen on the tables of
# docs/results/sources.md, gold labels included; docs/results/sources-constants.md chooses them
# again without each family.
ANCHOR = 3.0
_CLEARLY = 3.5  # standard errors by which held-out votes are predicted better
LEAST_SOURCES = 3
_ROUNDS, _CLOSE = 20, 1e-4
_RECOUNTED = 4  # rounds after which the overlaps stay
_LEAST = 1e-4  # of probabilities, before the logarithm
_TINY = 1e-12


class Model(NamedTuple):
    """What votes say of the true classes.

    Attributes:
        overlap: of :func:`~lops_adapters.selection.votes.signals.overlapping`.
        ratios: (f, k) float64: log of the probability of each true class given the signal, over
            its frequency.
        prior: (k,) float64, what is added for each class.
        free: whether it leaves the majority, as held-out votes say.
    """

    overlap: Pairs
    ratios: np.ndarray
    prior: np.ndarray
    free: bool


class VoteRows(NamedTuple):
    """Rows to estimate from.

    Attributes:
        matrix: (r, f) sparse, which signals the rows have.
        both: :func:`~lops_adapters.selection.votes.signals.together`.
        majority: (r, k) float64, shares of the votes, and a little of every class.
    """

    signals: Signals
    matrix: Any
    both: Pairs
    majority: np.ndarray

    @property
    def anchor(self) -> float:
        """How far the majority counts, in (0, 1]: the less, the more votes the rows have."""
        votes = np.diff(self.matrix.indptr).astype(np.float64)
        others = float((votes * (votes - 1)).sum()) / max(1.0, float(votes.sum()))
        return ANCHOR / (ANCHOR + others)


def vote_rows(signals: Signals, votes: np.ndarray) -> VoteRows:
    """Return what is estimated from (r, m) votes."""
    k, matrix = signals.n_classes, signals.matrix(votes)
    once = weighed(matrix, signals.overlap)  # copies count once
    counts = np.asarray(once @ np.eye(k)[signals.keys % k]) + 0.3 / k
    majority = counts / counts.sum(axis=1, keepdims=True)
    return VoteRows(signals, matrix, together(matrix, signals), majority)


def logarithm(likely: np.ndarray) -> np.ndarray:
    """Return the logarithm of likelihoods, (r, k)."""
    return np.asarray(np.log(np.maximum(likely, 1e-6)))


def estimated(rows: VoteRows, prior: float, *, free: bool, confused: bool = False) -> Model:
    """Estimate by expectation maximisation.

    Args:
        prior: the exponent of the classes' frequencies.
        free: from the estimated classes alone; else the majority counts, too (:data:`ANCHOR`).
        confused: of :func:`~lops_adapters.selection.votes.pooling.pooled`.
    """
    signals, matrix, majority = rows.signals, rows.matrix, rows.majority
    anchor = 0.0 if free else rows.anchor
    overlap, ratios = signals.overlap, np.zeros((len(signals.keys), signals.n_classes))
    logs = np.zeros(signals.n_classes)
    true = majority
    for step in range(_ROUNDS):
        known = anchor * majority + (1 - anchor) * true
        if step < _RECOUNTED:
            overlap = overlapping(matrix, known, signals, rows.both)
            shared = weighed(matrix, overlap)
        logs, previous = frequencies(known), ratios
        probabilities = pooled(np.asarray(matrix.T @ known), signals, logs, confused)
        ratios = np.log(np.maximum(probabilities, _LEAST)) - logs
        true = softmax(prior * logs + shared @ ratios)
        if step >= _RECOUNTED and np.abs(ratios - previous).max(initial=0) < _CLOSE:
            break
    return Model(overlap, ratios, np.asarray(prior * logs), free)


def comparable(signals: Signals) -> bool:
    """Return whether votes can be held out: three sources vote for several classes.

    So many are needed to tell which of them err (Dawid and Skene, 1979).
    """
    return len(signals.several) >= LEAST_SOURCES


def own_model(rows: VoteRows) -> Model:
    """Return the votes' own model: near the majority, or free if held-out votes say so.

    Each vote is predicted from the other votes of its row. A model that is free of the majority
    counts if it predicts votes clearly better: with one accuracy per source, or with a confusion,
    and then with or without the classes' frequencies.
    """
    model = estimated(rows, 1 - rows.signals.evenness, free=False)
    if not comparable(rows.signals):
        return model
    likelihood, best = predicted(rows, model), 0.0
    for prior, confused in ((1.0, False), (0.0, True), (1.0, True)):
        other = estimated(rows, prior, free=True, confused=confused)
        gains = predicted(rows, other) - likelihood
        gain, error = float(gains.sum()), float(gains.std()) * len(gains) ** 0.5
        if gain > max(best, _CLEARLY * error):
            model, best = other, gain
    return model


def predicted(table_rows: VoteRows, model: Model) -> np.ndarray:
    """Return how well the votes of each row are predicted from its other votes, (r,) float64.

    The sum of logarithms: the probability of the vote, over its share of the source's votes.
    """
    signals = table_rows.signals
    owners, shared = signals.keys // signals.n_classes, weighed(table_rows.matrix, model.overlap)
    counts = np.asarray(table_rows.matrix.sum(axis=0)).ravel()
    given_true = np.exp(model.ratios) * counts[:, None]  # up to a factor per source and class
    of_source = np.zeros((int(owners.max(initial=0)) + 1, signals.n_classes))
    np.add.at(of_source, owners, given_true)
    given_true /= np.maximum(of_source[owners], _TINY)
    share = counts / np.maximum(np.bincount(owners, counts)[owners], 1)
    total = model.prior + shared @ model.ratios
    rows, columns = np.repeat(np.arange(len(total)), np.diff(shared.indptr)), shared.indices
    others = softmax(total[rows] - shared.data[:, None] * model.ratios[columns])
    right = np.maximum((others * given_true[columns]).sum(axis=1), 1e-6)
    gains = np.log(right) - np.log(np.maximum(share, _TINY))[columns]
    return np.bincount(rows, gains, len(total))
