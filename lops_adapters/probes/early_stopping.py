"""Early stopping of a training: which samples it holds out, and when it ends."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def held_out(
    codes: np.ndarray, fraction: float, rng: np.random.Generator, *, stratified: bool = True
) -> np.ndarray:
    """Return the sorted int64 positions of the samples to hold out, floor(fraction * n) at most.

    Stratified, each class gives its share, rounded down; the classes with the largest remainders
    (ties: the lower code) give one more until the total is reached. One sample of every class stays
    in training. One draw of an order of all samples decides, the same with and without strata:
    those that come first are held out. Codes are (n,) int, and 0 <= fraction < 1.

    >>> codes = np.array([0] * 16 + [1] * 4)
    >>> np.bincount(codes[held_out(codes, 0.25, np.random.default_rng(0))]).tolist()
    [4, 1]
    """
    order, total = rng.permutation(len(codes)), int(fraction * len(codes))
    if not stratified:
        return np.sort(order[:total])
    counts = np.bincount(codes)
    most = np.maximum(counts - 1, 0)
    exact = fraction * counts
    take = np.minimum(exact.astype(np.int64), most)
    by_remainder = np.argsort(take - exact, kind="stable")
    extra = [label for label in by_remainder if take[label] < most[label]]
    take[extra[: total - take.sum()]] += 1
    by_class = [order[codes[order] == label][:n] for label, n in enumerate(take)]
    return np.sort(np.concatenate(by_class))


class EarlyStopping:
    """Decides after each epoch whether a training ends, and keeps the best weights.

    It ends after ``patience`` epochs without a lower validation loss, of which the first
    ``min_epochs`` do not count. An epoch is a pass over the training samples, so the floor does not
    depend on their number.

    Attributes:
        epochs: noted so far.
        best: the weights of the lowest loss of all epochs, those before the floor included; None:
            every loss was NaN.
        best_epoch: its number, from 1; 0: none.
    """

    def __init__(self, patience: int, min_epochs: int = 0) -> None:
        self._patience, self._min_epochs = patience, min_epochs
        self.epochs, self._waited, self._lowest = 0, 0, float("inf")
        self.best: Any = None
        self.best_epoch = 0

    def should_stop(self, loss: float, network: Any) -> bool:
        """Note an epoch's validation loss; return whether the training ends."""
        self.epochs += 1
        if loss < self._lowest:
            self._lowest, self._waited = loss, 0
            self.best, self.best_epoch = copy.deepcopy(network.state_dict()), self.epochs
            return False
        if self.epochs > self._min_epochs:
            self._waited += 1
        return self._waited >= self._patience
