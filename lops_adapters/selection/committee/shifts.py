"""How a table's labels differ from what other tables teach, with no checked row or many.

Notation: n rows, m checked rows, k classes, w the width of vectors.

Other tables say how probable it is that a label is wrong (:mod:`.calibration`). The log-odds of a
row of class c with the vector v are theirs, plus shifts that only this table can tell:

    odds + d + d_c + e (odds - their mean) + v . u_c

d is a shift of the table, d_c one of the class, e one of the slope, and u_c says which texts of the
class are wrong. All are Gaussian around 0, with spreads that tables with gold labels teach. Without
a checked row, they are integrated out, which leaves the probabilities as they were and gives a
range; each checked row narrows them. This is a Gaussian process: the posterior is Laplace's, see
Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithms 3.1 and 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.surroundings import one_blas_thread

SLIP = 0.03  # how often a person's answer is not the right one
_MOST = 1000  # checked rows that teach; their matrix is inverted
_BLOCK = 10_000  # rows at a time
_CLOSE, _STEPS, _STEP = 1e-6, 50, 2.0  # Newton's method on log-odds


class Spreads(NamedTuple):
    """Standard deviations of the shifts, of log-odds: see the head of the module."""

    table: float
    klass: float
    slope: float
    vectors: float


@dataclass(frozen=True)
class Rows:
    """Rows, with the features that shifts weigh.

    Attributes:
        odds: (n,) log-odds that the label is wrong, by other tables.
        codes: (n,) int64 of the labels.
        shared: (n, 2), of the table and its slope.
        own: (n, 1 + w), of the class and its texts.
    """

    odds: np.ndarray
    codes: np.ndarray
    shared: np.ndarray
    own: np.ndarray

    def __getitem__(self, where: Any) -> Rows:
        return Rows(self.odds[where], self.codes[where], self.shared[where], self.own[where])

    @property
    def variance(self) -> np.ndarray:
        """Of the shifts of each row before any is checked, (n,)."""
        return np.asarray((self.shared**2).sum(axis=1) + (self.own**2).sum(axis=1))

    @property
    def centre(self) -> np.ndarray:
        """The log-odds with all shifts at 0, (n,): integrated over them, they are ``odds``."""
        return np.asarray(self.odds * np.sqrt(1 + np.pi * self.variance / 8))

    def covariance(self, other: Rows) -> np.ndarray:
        """Of the shifts of these rows and others, (n, m)."""
        same = self.codes[:, None] == other.codes
        return np.asarray(self.shared @ other.shared.T + same * (self.own @ other.own.T))

    def of_class(self, weights: np.ndarray, k: int) -> np.ndarray:
        """Return the weighted sums of ``own`` per class, (k, 1 + w)."""
        sums = np.zeros((k, self.own.shape[1]))
        np.add.at(sums, self.codes, weights[:, None] * self.own)
        return sums


@dataclass(frozen=True)
class Frame:
    """Makes rows of any samples of a table.

    Attributes:
        middle: the mean log-odds.
        vector, length: the mean vector, (w,), and the root of the mean squared distance from it.
    """

    spreads: Spreads
    k: int
    middle: float
    vector: np.ndarray
    length: float

    @classmethod
    def of(cls, spreads: Spreads, k: int, odds: np.ndarray, vectors: np.ndarray) -> Frame:
        """Return the frame of a table with (n,) log-odds and (n, w) vectors; w may be 0."""
        vector = vectors.mean(axis=0, dtype=np.float64)
        length = float(np.sqrt(((vectors - vector) ** 2).sum() / len(odds))) or 1.0
        return cls(spreads, k, float(odds.mean()), vector, length)

    def rows(self, odds: np.ndarray, codes: np.ndarray, vectors: np.ndarray) -> Rows:
        """Return the rows of samples with these log-odds, codes of labels and vectors."""
        table, klass, slope, texts = self.spreads
        one = np.ones((len(odds), 1))
        shared = np.hstack([table * one, slope * (odds - self.middle)[:, None]])
        own = np.hstack([klass * one, texts / self.length * (vectors - self.vector)])
        return Rows(odds, codes, shared, own)


@dataclass(frozen=True)
class Shifts:
    """What m checked rows say of the shifts.

    Attributes:
        pull: (m,) how far each moves the log-odds.
        root: (m, m) by which each narrows them.
    """

    k: int
    known: Rows
    pull: np.ndarray
    root: np.ndarray

    @classmethod
    @one_blas_thread
    def learn(cls, known: Rows, wrong: np.ndarray, k: int) -> Shifts:
        """Learn from checked rows; ``wrong``: (m,) bool, by a person."""
        if len(wrong) > _MOST:
            some = np.sort(np.argsort(tie_hash(np.arange(len(wrong)), 0), kind="stable")[:_MOST])
            known, wrong = known[some], wrong[some]
        m, covariance, centre = len(wrong), known.covariance(known), known.centre
        pull, factor, root = np.zeros(m), np.eye(m), np.zeros(m)
        for _ in range(_STEPS):
            shift = covariance @ pull
            p = expit(centre + shift)
            said = SLIP + (1 - 2 * SLIP) * p  # that the person says "wrong"
            slope, spread = (1 - 2 * SLIP) * p * (1 - p), said * (1 - said)
            gradient = (wrong - said) / spread * slope
            weight = np.maximum(slope**2 / spread, 1e-9)
            root = np.sqrt(weight)
            factor = np.linalg.cholesky(np.eye(m) + root[:, None] * covariance * root)
            target = weight * shift + gradient
            moved = np.linalg.solve(factor, root * (covariance @ target))
            step = target - root * np.linalg.solve(factor.T, moved) - pull
            largest = float(np.abs(covariance @ step).max(initial=0))
            pull = pull + step * min(1.0, _STEP / max(largest, 1e-9))
            if largest < _CLOSE:
                break
        return cls(k, known, pull, np.linalg.solve(factor, np.diag(root)))

    def odds(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the variance of the log-odds that labels are wrong, each (n,)."""
        mean, variance = rows.centre, rows.variance
        shared = self.pull @ self.known.shared
        own = self.known.of_class(self.pull, self.k)
        mean = mean + rows.shared @ shared + (rows.own * own[rows.codes]).sum(axis=1)
        for start in range(0, len(mean), _BLOCK):
            block = slice(start, start + _BLOCK)
            narrowed = self.root @ self.known.covariance(rows[block])
            variance[block] -= (narrowed**2).sum(axis=0)
        return mean, np.maximum(variance, 0)

    def variance_of_sum(self, rows: Rows, weights: np.ndarray) -> float:
        """Return the variance of the sum of weights times log-odds, both (n,)."""
        shared, own = weights @ rows.shared, rows.of_class(weights, self.k)
        known = self.known
        covariance = known.shared @ shared + (known.own * own[known.codes]).sum(axis=1)
        prior = float(shared @ shared + (own**2).sum())
        return max(0.0, prior - float(((self.root @ covariance) ** 2).sum()))


@one_blas_thread
def leaning(logs: np.ndarray, own: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return (1 + w, k) coefficients of ``own`` for the classes that are right.

    A logistic regression with a standard normal prior, from m checked rows whose label is wrong:
    ``logs`` are (m, k) log-probabilities of the classes before, ``own`` (m, 1 + w) of
    :class:`Rows`, ``right`` (m,) codes by a person. So coefficients have the shifts' spreads.
    """
    from scipy.optimize import minimize

    (m, k), width = logs.shape, own.shape[1]
    if not m or k < 3:
        return np.zeros((width, k))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(width, k)
        scores = logs + own @ weights
        scores = scores - scores.max(axis=1, keepdims=True)
        scores = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        rest = np.exp(scores)
        rest[np.arange(m), right] -= 1
        value = 0.5 * float(flat @ flat) - float(scores[np.arange(m), right].sum())
        return value, (own.T @ rest).ravel() + flat

    found = minimize(loss, np.zeros(width * k), jac=True, method="L-BFGS-B")
    return np.asarray(found.x.reshape(width, k))


def integrated(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the probability of Gaussian log-odds, (n,), by MacKay's approximation (1992)."""
    return np.asarray(expit(mean / np.sqrt(1 + np.pi * variance / 8)))


def expit(odds: Any) -> Any:
    """Return the probability of log-odds."""
    return 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
