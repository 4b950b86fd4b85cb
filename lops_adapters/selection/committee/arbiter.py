"""An arbiter: it learns from checked rows how far to believe each member and each label.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels, m checked rows.

The committee adds up logarithms: of the members' likelihoods and of how often a sample with this
label is of a class (:mod:`.posterior`). The arbiter is the logistic regression with these features.
Its coefficients start from the committee's, under a Gaussian prior: without checked rows it is the
committee. The samples' vectors are also features, directly and by a classifier of the checked rows.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.selection.committee.posterior import SHARPNESS
from lops_adapters.surroundings import one_blas_thread

# Standard deviations of the prior: of coefficients, of how often each class is right, of how often
# it is right for each label, and of the vectors' coefficients, for vectors of length 1. Chosen on
# seed words of AG News, relations and comments, like the next number.
_SPREAD = (0.5, 1.0, 1.0, 2.0)
_FEW_SHOT = 2.0  # coefficient of the classifier trained on checked rows, before they are seen
# How far the committee's distribution of true classes per label is mixed with an even one: by half
# with many checked rows, by a quarter with this many, so that 20 rows of news in Yoruba do no harm.
# Members cannot see errors that labels share.
_HALFWAY = 30
_EXPECTED = 3.0  # rows of a class, by the committee; that none is found has a chance of 5 %
_FOLDS = 5
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_WITHIN = 2.0  # of the logarithm of the likelihood: what is about as good as the best
_BLOCK = 10_000  # rows at a time
_LEAST = 1e-4  # of likelihoods, before the logarithm


@dataclass(frozen=True)
class Arbiter:
    """The coefficients that :func:`learn` found.

    Attributes:
        weights: (members + 1,) of the members, and of the classifier of checked rows.
        offsets: (k, k) float64; row i: what is added for each class, given the label i.
        of_vectors: (width, k) float64, what is added for each class, given the vector.
        few_shot: the classifier of checked rows; None: they have one class, or no vectors.
        missing: (k,) bool, classes without a checked row, if few were expected; left as they are.
        checked: number of checked rows.
    """

    weights: np.ndarray
    offsets: np.ndarray
    of_vectors: np.ndarray
    few_shot: Any
    missing: np.ndarray
    checked: int

    @one_blas_thread
    def probabilities(
        self, likelihoods: Sequence[np.ndarray], codes: np.ndarray, vectors: np.ndarray
    ) -> np.ndarray:
        """Return the probability of each true class, (n, k) float64; see :func:`learn`."""
        n, k = len(codes), len(self.offsets)
        probabilities = np.empty((n, k))
        for start in range(0, n, _BLOCK):
            rows = slice(start, start + _BLOCK)
            few_shot = _log(_predicted(self.few_shot, vectors[rows], self.missing))
            scores = self.offsets[codes[rows]] + self.weights[-1] * few_shot
            scores = scores + vectors[rows] @ self.of_vectors
            for weight, likely in zip(self.weights, likelihoods, strict=False):
                scores = scores + weight * _log(likely[rows])
            probabilities[rows] = np.exp(_normalised(scores))
        return probabilities


@one_blas_thread
def learn(
    likelihoods: Sequence[np.ndarray],
    codes: np.ndarray,
    confusion: np.ndarray,
    rows: np.ndarray,
    true: np.ndarray,
    vectors: np.ndarray,
    shares: Sequence[float],
    sharpness: float = SHARPNESS,
) -> Arbiter:
    """Learn an arbiter from m checked rows.

    Likelihoods are (n, k) of every member, ``confusion`` the (k, k) distribution of true classes
    per label that the committee assumes, ``rows`` the positions of the checked rows and ``true``
    their codes by the person, vectors (n, width) of the samples (width 0: no vectors), shares
    the members' parts in the committee's mean, ``sharpness`` the sum of the members' coefficients
    before any row is checked.
    """
    k, of_members = len(confusion), np.array(shares)
    order = np.argsort(rows, kind="stable")
    rows, true = rows[order], true[order]
    start = np.append(sharpness * of_members / of_members.sum(), _FEW_SHOT)
    of_committee = np.stack([_log(one[rows]) for one in likelihoods], axis=-1)
    even = 0.5 * len(rows) / (len(rows) + _HALFWAY)
    base = np.log(np.maximum((1 - even) * confusion + even / k, 1e-3))
    expected = np.exp(_normalised(of_committee @ start[:-1] + base[codes[rows]])).sum(axis=0)
    missing = (np.bincount(true, minlength=k) == 0) & (expected < _EXPECTED)
    few_shot = _log(_held_out(vectors[rows], true, missing))
    features = np.concatenate([of_committee, few_shot[..., None]], axis=-1)
    fitted = _fitted(features, vectors[rows], codes[rows], true, start, base, missing)
    return Arbiter(*fitted, _few_shot(vectors[rows], true), missing, len(rows))


def held_out_share(
    joint: np.ndarray,
    codes: np.ndarray,
    confusion: np.ndarray,
    rows: np.ndarray,
    true: np.ndarray,
    vectors: np.ndarray,
) -> float:
    """Return how far an arbiter of votes improves the probabilities that it starts from, in [0, 1].

    Arbiters that learn from some of the checked rows are asked about the others. The exponent of
    their probabilities, next to the one of those they start from, is the smallest one that
    explains the checked labels about as well as the best one.

    Arguments are as for :func:`learn`; ``joint`` are (n, k) probabilities by members and votes.
    """
    order = np.argsort(rows, kind="stable")
    rows, true = rows[order], true[order]
    arbiters, fold = np.empty((len(rows), len(confusion))), _fold(len(rows))
    for left_out in range(min(_FOLDS, len(rows))):
        here, rest = rows[fold == left_out], fold != left_out
        arbiter = learn([joint], codes, confusion, rows[rest], true[rest], vectors, [1.0], 1.0)
        arbiters[fold == left_out] = arbiter.probabilities(
            [joint[here]], codes[here], vectors[here]
        )
    logs = [np.log(np.maximum(one, _LEAST)) for one in (joint[rows], arbiters)]
    each = np.arange(len(rows))
    fits = {
        share: float(_normalised((1 - share) * logs[0] + share * logs[1])[each, true].sum())
        for share in _SHARES
    }
    return min(share for share, fit in fits.items() if fit >= max(fits.values()) - _WITHIN)


def _fitted(
    features: np.ndarray,
    vectors: np.ndarray,
    codes: np.ndarray,
    true: np.ndarray,
    start: np.ndarray,
    base: np.ndarray,
    missing: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the most probable coefficients; features are (m, k, d), vectors are (m, width)."""
    from scipy.optimize import minimize

    (m, k, d), width = features.shape, vectors.shape[1]
    length = np.sqrt((vectors**2).sum() / max(1, m)) or 1.0
    sizes = [d, k, k * k, width * k]
    spread = np.repeat(np.array(_SPREAD) / [1, 1, 1, length], sizes)
    truth, labels, closed = np.eye(k)[true], np.eye(k)[codes], np.where(missing, -np.inf, 0)

    def parts(changes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weights, classes, pairs, of_vectors = np.split(changes, np.cumsum(sizes)[:-1])
        offsets = base + classes + pairs.reshape(k, k)
        return start + weights, offsets, of_vectors.reshape(width, k)

    def loss(changes: np.ndarray) -> tuple[float, np.ndarray]:
        weights, offsets, of_vectors = parts(changes)
        logs = _normalised(features @ weights + offsets[codes] + vectors @ of_vectors + closed)
        rest = np.exp(logs) - truth
        gradient = [
            np.einsum("mk,mkd->d", rest, features),
            rest.sum(axis=0),
            (labels.T @ rest).ravel(),
            (vectors.T @ rest).ravel(),
        ]
        value = -float(logs[truth > 0].sum()) + 0.5 * float(((changes / spread) ** 2).sum())
        return value, np.concatenate(gradient) + changes / spread**2

    return parts(minimize(loss, np.zeros(len(spread)), jac=True, method="L-BFGS-B").x)


def _held_out(vectors: np.ndarray, true: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return (m, k) held-out probabilities of the checked rows, by :func:`_few_shot`."""
    m, fold = len(true), _fold(len(true))
    probabilities = np.empty((m, len(missing)))
    for left_out in range(min(_FOLDS, m)):
        here = fold == left_out
        model = _few_shot(vectors[~here], true[~here])
        probabilities[here] = _predicted(model, vectors[here], missing)
    return probabilities


def _fold(m: int) -> np.ndarray:
    """Return the fold of each checked row, (m,) int64."""
    fold = np.empty(m, dtype=np.int64)
    fold[np.argsort(tie_hash(np.arange(m), 0), kind="stable")] = np.arange(m) % _FOLDS
    return fold


def _few_shot(vectors: np.ndarray, true: np.ndarray) -> Any:
    """Return a logistic regression on few rows; None if they have one class, or no vectors."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(true)) < 2 or not vectors.shape[1]:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that classes are many for so few rows
        return LogisticRegression(C=10, max_iter=300).fit(vectors, true)


def _predicted(model: Any, vectors: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return (n, k) probabilities, also of classes that the model does not know.

    ``missing`` classes are as probable as the most probable of the others.
    """
    n, k = len(vectors), len(missing)
    if model is None:
        return np.full((n, k), 1 / k)
    probabilities = np.full((n, k), 0.02)
    probabilities[:, model.classes_] += model.predict_proba(vectors)
    if missing.any():
        probabilities[:, missing] = probabilities[:, ~missing].max(axis=1, keepdims=True)
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def _log(likelihoods: np.ndarray) -> np.ndarray:
    logs = np.log(np.maximum(likelihoods, _LEAST))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _normalised(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))
