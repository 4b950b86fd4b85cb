"""The probe's own prediction for each sample, noted during selection at no extra cost."""

from typing import NamedTuple

import numpy as np

from lops_adapters.selection.committee.posterior import NoiseEstimate


class Estimates(NamedTuple):
    """What a method that assesses labels says of n samples.

    Attributes:
        before: (n, k) probabilities of the true classes, without checked rows.
        true: (n, k), with checked rows.
        labels: (n,) int64 codes of the labels.
        noise: the estimated share of wrong labels; None: it cannot be estimated.
    """

    before: np.ndarray
    true: np.ndarray
    labels: np.ndarray
    noise: NoiseEstimate | None


class Listener:
    """Hears what a method's classifiers say; subclass :class:`Suggestions` to hear a part of it."""

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Receive (m, k) class probabilities of samples at (m,) positions; None: all, in order."""

    def settle(self, estimates: Estimates) -> None:
        """Receive what a method that assesses labels says of all n samples, in the end."""


class Suggestions(Listener):
    """Remembers, per sample, the class of a probe's last prediction and its probability.

    Args:
        n: number of samples.

    Attributes:
        codes: (n,) int64 class codes; -1: never predicted.
        probability: (n,) float64 in [0, 1]; NaN: never predicted.

    >>> suggestions = Suggestions(3)
    >>> suggestions(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]))
    >>> suggestions(np.array([[0.125, 0.875]]), np.array([1]))
    >>> suggestions.codes.tolist(), suggestions.probability.tolist()
    ([0, 1, 1], [0.75, 0.875, 0.75])
    """

    def __init__(self, n: int) -> None:
        self.codes = np.full(n, -1, dtype=np.int64)
        self.probability = np.full(n, np.nan)

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        where = slice(None) if positions is None else positions
        self.codes[where] = probabilities.argmax(axis=1)
        self.probability[where] = probabilities.max(axis=1)


class Moved(Listener):
    """A listener to samples sorted by ``order``."""

    def __init__(self, listener: Listener, order: np.ndarray) -> None:
        self._seen, self._order = listener, order

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        self._seen(probabilities, self._order if positions is None else self._order[positions])

    def settle(self, estimates: Estimates) -> None:
        back = np.argsort(self._order)
        without_checks, true, labels = (part[back] for part in estimates[:3])
        self._seen.settle(Estimates(without_checks, true, labels, estimates.noise))
