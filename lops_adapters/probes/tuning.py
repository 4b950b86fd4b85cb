"""Self-training of probes: targets, and checks of settings, targets and weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe


class Tunable(Probe):
    """A probe whose trained network can be tuned, and whose weights can move to another process."""

    @abstractmethod
    def tuner(
        self, *, learning_rate: float, momentum: float, decay: float
    ) -> Callable[[Any, np.ndarray, np.ndarray], None]:
        """Return a function that makes one update of the trained network towards soft labels.

        Args:
            learning_rate: of a fresh SGD; the step size is learning_rate / (1 + decay * updates
                done).
            momentum: of the SGD, at least 0 and below 1.
            decay: see learning_rate; at least 0.

        Returns:
            ``update(prepared, positions, targets)``: on the samples at ``positions``, (b,) int,
            towards ``targets``, (b, k) float, by KL divergence.

        Raises:
            LopsError: untrained, a setting out of range, or (in an update) targets of another
                shape.

        """

    @abstractmethod
    def trainable_weights(self) -> list[np.ndarray]:
        """Return copies of the trainable weights in a fixed order, without frozen word vectors."""

    @abstractmethod
    def restore(self, weights: Sequence[np.ndarray], n_classes: int, seed: int = 0) -> Tunable:
        """Build the network with weights of :meth:`trainable_weights`; return the probe itself.

        Without ``vectors``, call :meth:`prepare` with ``fit=True`` first.

        Raises:
            LopsError: the weights do not have this network's shapes.

        """


def target_distribution(probabilities: np.ndarray) -> np.ndarray:
    """Return the self-training targets of (m, k) predictions p.

    A target is p^2 divided by its class's total over these rows; rows are scaled to sum to 1.

    >>> target_distribution(np.array([[0.9, 0.1], [0.6, 0.4]])).round(2).tolist()
    [[0.96, 0.04], [0.43, 0.57]]
    """
    p = probabilities.astype(np.float64)
    weight = p**2 / np.maximum(p.sum(axis=0), 1e-12)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def check_finite(probabilities: np.ndarray) -> np.ndarray:
    """Return predictions of a network that is tuned; raise a LopsError if one is no number.

    With NaN no class changes any more, and training would seem to converge.
    """
    if not np.isfinite(probabilities).all():
        raise LopsError(
            "the network's predictions are not numbers any more; wanted a training that "
            "converges: lower learning_rate"
        )
    return probabilities


def check_tuning(learning_rate: float, momentum: float, decay: float) -> None:
    """Raise a LopsError if a setting of a tuner's SGD is out of range."""
    if not learning_rate > 0 or not 0 <= momentum < 1 or not decay >= 0:
        raise LopsError(
            f"learning_rate is {learning_rate}, momentum {momentum}, decay {decay}; "
            "wanted a positive learning_rate, 0 <= momentum < 1 and decay >= 0"
        )


def check_targets(positions: np.ndarray, targets: np.ndarray, n_classes: int) -> np.ndarray:
    """Return soft labels as (b, k) float32; raise a LopsError unless it is one row per position.

    >>> check_targets(np.array([4]), np.array([[0.25, 0.75]]), 2)
    array([[0.25, 0.75]], dtype=float32)
    """
    soft = np.asarray(targets, dtype=np.float32)
    if soft.shape != (len(positions), n_classes) or not len(soft):
        raise LopsError(
            f"found {len(positions)} positions and targets of shape {soft.shape}; "
            f"wanted one row of {n_classes} probabilities per position, at least one"
        )
    return soft


def check_weights(weights: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise a LopsError if weights do not have a network's shapes, in its order."""
    found = [tuple(np.shape(weight)) for weight in weights]
    if found != list(shapes):
        raise LopsError(
            f"found weights of shapes {found}; this network has {list(shapes)}. Wanted the "
            "trainable_weights() of a probe with the same settings, words and classes; "
            "without `vectors`, call prepare(samples, fit=True) first"
        )
