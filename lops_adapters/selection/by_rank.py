"""Self-training by rank: the best predictions of every class become pseudo-labels.

The rule of the rounds in self-training, behind the frameworks and among rows without a label; the
papers take predictions above a threshold. Measurements: docs/results/rounds.md.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from lops_adapters.probes.regression import softmax

SHARE = 0.5  # of each class joins per round, by default; docs/reproducibility.md, note 36
# Mean of the largest probability of sharpened ones. Chosen on seed 0 next to 0.9 and to a fixed
# sharpness of 5, see docs/reproducibility.md, note 35.
_SURE = 0.8
_LEAST = 1e-9
_ROUNDS, _CLOSE, _HALVINGS = 300, 1e-4, 40


def best_by_rank(
    probabilities: np.ndarray, pool: np.ndarray, shares: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best share of each class in the pool, and the probabilities that rank it.

    No threshold, so that a class also grows if the classifier is rarely sure of it.

    Probabilities are (n, k), ``pool`` (m,) int64 positions of samples without a pseudo-label, the
    classes' ``shares`` (k,) with the sum 1; a class of share 0 gets no sample. ``share`` is of
    :func:`best_per_class`. Returns int64 positions, and (n, k) float64 fitted to the shares.
    """
    present = np.flatnonzero(shares)
    fitted = np.zeros(probabilities.shape)
    fitted[:, present] = fitted_to_shares(probabilities[:, present], shares[present])
    return pool[best_per_class(fitted[pool], share)], fitted


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
        in_class = codes == code
        ranked = np.sort(best[in_class])[::-1]
        kept |= in_class & (best >= ranked[ceil(round(share * len(ranked), 6)) - 1])
    return np.flatnonzero(kept)
