"""Logistic regressions that train by Adagrad: what probes on words and on vectors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe, Stage, Steady, Update


class Regression(Steady, Probe):
    """A softmax on rows of features; a subclass makes the rows, and the updates of a stage."""

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
        for stage in stages:
            yield from self._stage(prepared, codes, rng, stage)

    @abstractmethod
    def _stage(
        self, prepared: Any, codes: np.ndarray, rng: np.random.Generator, stage: Stage
    ) -> Iterator[Update]:
        """Make the updates of a stage."""

    def predict_prepared(self, prepared: Any, positions: np.ndarray | None = None) -> np.ndarray:
        """Return class probabilities, (m, k) float32."""
        if not len(self._bias):
            raise self._untrained()
        rows = prepared if positions is None else prepared[positions]
        return softmax(rows @ self._weights + self._bias)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Turn scores into class probabilities, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
