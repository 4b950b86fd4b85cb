"""The units of a watched training: snapshots, updates and stages; checks of what it is given."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError

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


def check_counts(seed: int, every: int | None = None) -> None:
    """Raise a LopsError if a seed or a number of updates between checkpoints is out of range."""
    if not isinstance(seed, Integral) or seed < 0:
        raise LopsError(f"{typed('seed')} is {seed!r:.80}; wanted a whole number, at least 0")
    if every is not None and (not isinstance(every, Integral) or every < 1):
        raise LopsError(
            f"{typed('every')} is {every!r:.80}; wanted a number of updates, at least 1"
        )


def check_codes(
    samples: Sequence[Any], codes: Sequence[int] | np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the codes as an (n,) int64 array; raise a LopsError if they do not fit the samples."""
    array = np.asarray(codes)
    if array.ndim != 1 or len(array) != len(samples):
        raise LopsError(
            f"found {len(samples)} samples and codes of shape {array.shape}; "
            "wanted one class code per sample"
        )
    if not len(array):
        raise LopsError("found no samples; wanted at least one")
    if array.dtype.kind not in "iu":
        raise LopsError(
            f"class codes have type {array.dtype}; wanted integers 0 to {n_classes - 1}"
        )
    if n_classes < 2:
        raise LopsError(f"found {n_classes} class; a probe needs at least 2")
    if array.min() < 0 or array.max() >= n_classes:
        raise LopsError(
            f"class codes run from {array.min()} to {array.max()}; wanted 0 to {n_classes - 1}"
        )
    return array.astype(np.int64)
