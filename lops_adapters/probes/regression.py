"""Logistic regressions that train by Adagrad: what probes on words and on vectors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe, Stage, Steady, Update
from lops_adapters.surroundings import one_blas_thread


@dataclass(frozen=True)
class Batch:
    """Rows of an update: their positions, and the columns and cells that hold their features."""

    positions: np.ndarray
    columns: np.ndarray | None  # None: all
    cells: Any

    def __len__(self) -> int:
        return len(self.positions)


class Regression(Steady, Probe):
    """A softmax on rows of features; a subclass makes the rows, and cuts them into batches."""

    learning_rate: float

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch_size) < 1 or not self.learning_rate > 0:
            raise LopsError(
                f"{self!r}: wanted epochs and batch_size of at least 1 and a positive learning_rate"
            )
        self._weights = np.zeros((0, 0), dtype=np.float32)
        self._bias = np.zeros(0, dtype=np.float32)

    def staged_updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, stages: Sequence[Stage]
    ) -> Iterator[Update]:
        """Train from zero weights in stages; a fresh Adagrad forgets its squared gradients."""
        rng = np.random.default_rng(seed)
        self._weights = np.zeros((prepared.shape[1], n_classes), dtype=np.float32)
        self._bias = np.zeros(n_classes, dtype=np.float32)
        cut = partial(self._batches, prepared, rng)
        for stage in stages:
            squares = np.full_like(self._weights, 1e-8)
            bias_squares = np.full_like(self._bias, 1e-8)
            for batch, share, update in stage.batches(len(codes), self.batch_size, cut):
                columns, positions = batch.columns, batch.positions
                weights, total = self._weights, squares
                if columns is not None:  # only their weights have a gradient
                    weights, total = weights.take(columns, axis=0), total.take(columns, axis=0)
                error = softmax(product(batch.cells, weights) + self._bias)
                if stage.heard is not None:
                    stage.heard(positions, error.copy())
                error[np.arange(len(batch)), codes[positions]] -= 1.0
                error /= len(batch)
                gradient, of_bias = product(batch.cells.T, error), error.sum(axis=0)
                total += gradient**2
                bias_squares += of_bias**2
                rate = self.learning_rate * share
                gradient *= rate
                gradient /= np.sqrt(total)
                weights -= gradient
                self._bias -= rate * of_bias / np.sqrt(bias_squares)
                if columns is not None:
                    _whole_rows(self._weights)[columns] = _whole_rows(weights)
                    _whole_rows(squares)[columns] = _whole_rows(total)
                yield update

    @abstractmethod
    def _batches(self, prepared: Any, rng: np.random.Generator, size: int) -> Iterator[Batch]:
        """Cut all rows, in a random order, into the batches of an epoch."""

    def predict_prepared(self, prepared: Any, positions: np.ndarray | None = None) -> np.ndarray:
        if not len(self._bias):
            raise self._untrained()
        rows = prepared if positions is None else prepared[positions]
        return softmax(product(rows, self._weights) + self._bias)


def product(rows: Any, others: np.ndarray) -> np.ndarray:
    """Return the product of two matrices, the first dense or sparse, by one thread of BLAS."""
    if not isinstance(rows, np.ndarray):
        return np.asarray(rows @ others)  # without BLAS
    with one_blas_thread:
        return np.asarray(rows @ others)


def _whole_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the same memory with each row as one item, which numpy sets faster."""
    return matrix.view(np.dtype((np.void, matrix.strides[0])))[:, 0]


@one_blas_thread
def logistic_weights(
    rows: np.ndarray, codes: np.ndarray, n_classes: int, strength: float
) -> np.ndarray:
    """Return weights and, as the last row, biases, (width + 1, k) float64, of least loss.

    The loss is that of scikit-learn's ``LogisticRegression(C=strength)``, whose import takes longer
    than this: the smaller the strength, the smaller the weights.

    >>> weights = logistic_weights(np.eye(2, dtype=np.float32), np.array([0, 1]), 2, 1.0)
    >>> bool(weights[0, 0] > weights[0, 1]), weights.shape
    (True, (3, 2))
    """
    from scipy.optimize import minimize

    (n, width), each = rows.shape, np.arange(len(rows))
    # Of two classes, scikit-learn has one column of weights, twice as long.
    penalty = (2 if n_classes == 2 else 1) / (strength * n)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(width + 1, n_classes)
        probabilities = softmax(rows @ weights[:-1].astype(np.float32) + weights[-1])
        of_label = probabilities[each, codes]
        surprise = -np.log(np.maximum(of_label, 1e-300)).mean()
        probabilities[each, codes] = of_label - 1
        probabilities /= n  # in place: with many rows and classes, memory takes the time
        rest = probabilities.astype(np.float32)
        gradient = np.vstack([rows.T @ rest, rest.sum(axis=0)]).astype(np.float64)
        gradient[:-1] += penalty * weights[:-1]
        return float(surprise + 0.5 * penalty * (weights[:-1] ** 2).sum()), gradient.ravel()

    start = np.zeros((width + 1) * n_classes)
    options = {"maxiter": 500, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}
    minimum = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(minimum.x.reshape(width + 1, n_classes))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Turn scores into class probabilities, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
