"""The units of a watched training: snapshots, updates and stages."""

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

B = TypeVar("B", bound=Sized)
Heard = Callable[[np.ndarray, np.ndarray], None]  # of positions and their probabilities


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
    heard: Heard | None = None

    def batches(
        self, n: int, batch_size: int, cut: Callable[[int], Iterable[B]]
    ) -> Iterator[tuple[B, float, Update]]:
        """Yield every batch of n samples with its rate and what to yield after its update.

        ``cut`` is called with the samples per update, in every epoch, for the batches.
        """
        size = max(1, round(batch_size * self.batch_share))
        per_epoch, done = -(-n // size), 0
        for _ in range(self.epochs):
            for batch in cut(size):
                rate = self.rate(done, per_epoch)
                done += 1
                yield batch, rate, Update(done, per_epoch, len(batch))


def steady(done: int, per_epoch: int) -> float:
    """Keep the learning rate constant: a rate of a :class:`Stage`."""
    return 1.0


class Passes:
    """For probes whose training makes ``epochs`` passes at most."""

    epochs: Any

    @property
    def max_epochs(self) -> int:
        """The largest number of epochs that training runs for."""
        return int(self.epochs)


class Steady(Passes):
    """For probes that train ``epochs`` passes at one learning rate."""

    batch_size: int

    @property
    def schedule(self) -> Stage:
        """All epochs at the same rate."""
        return Stage(self.epochs, steady)
