"""Early stopping of a training that holds samples out."""

from __future__ import annotations

import copy
from typing import Any


class EarlyStopping:
    """Decides after each epoch whether a training ends, and keeps the best weights.

    Args:
        patience: epochs without a lower validation loss before the training ends, at least 1.
        min_epochs: first epochs, which patience does not count; 0: it counts from the first. An
            epoch is a pass over the training samples, so the floor does not depend on their number.

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
