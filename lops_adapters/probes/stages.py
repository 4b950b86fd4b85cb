"""The units of a watched training: snapshots, updates, stages and speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Snapshot(NamedTuple):
    """What a probe predicts at one checkpoint.

    Attributes:
        time: in epochs; 1.0 after the first pass over the training samples, 0.25 after a quarter of
            its updates.
        probabilities: (m, k) float32, rows sum to 1.
        positions: (m,) int64 positions of the rows; None: all n samples in order.

    """

    time: float
    probabilities: np.ndarray
    positions: np.ndarray | None


class Update(NamedTuple):
    """How far training is after one update.

    Attributes:
        done: updates so far.
        per_epoch: updates per epoch.
        samples: samples in this update.

    """

    done: int
    per_epoch: int
    samples: int


@dataclass(frozen=True)
class Stage:
    """A part of a training, with a fresh optimizer and its own schedule.

    Attributes:
        epochs: passes over the training samples.
        rate: (updates done in this stage, updates per epoch) -> factor on the probe's learning rate
            for the next update.
        batch_share: factor on the probe's batch size; a batch holds at least one sample.
        heard: called with each update's (b,) int64 positions and their (b, k) float32 class
            probabilities, as the training pass computes them right before the update (with
            dropout).

    """

    epochs: int
    rate: Callable[[int, int], float]
    batch_share: float = 1.0
    heard: Callable[[np.ndarray, np.ndarray], None] | None = None

    def batch_size(self, of_probe: int) -> int:
        """Return the samples per update."""
        return max(1, round(of_probe * self.batch_share))


def steady(done: int, per_epoch: int) -> float:
    """Keep the learning rate constant: a rate of a :class:`Stage`."""
    return 1.0


class Steady:
    """For probes that train ``epochs`` passes at one learning rate."""

    epochs: int
    batch_size: int

    @property
    def max_epochs(self) -> int:
        """The number of epochs that training runs for."""
        return self.epochs

    @property
    def schedule(self) -> Stage:
        """All epochs at the same rate."""
        return Stage(self.epochs, steady)


@dataclass
class Speed:
    """Samples and seconds of training and predicting since the last ``watch`` or ``fit`` began."""

    trained: int = 0
    train_seconds: float = 0.0
    predicted: int = 0
    predict_seconds: float = 0.0

    def per_second(self) -> dict[str, float | None]:
        """Return samples per second of training and of predicting; None if there was none."""
        return {
            "train": self.trained / self.train_seconds if self.train_seconds else None,
            "predict": self.predicted / self.predict_seconds if self.predict_seconds else None,
        }
