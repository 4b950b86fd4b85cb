"""What a probe is: a classifier whose training can be watched.

Notation: n samples, k classes, t checkpoints. Samples are whatever the probe reads (texts, or
tokenised documents); pseudo-labels reach a probe as int class codes 0..k-1.
"""

from __future__ import annotations

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from tqdm.auto import tqdm

from lops_adapters.core import LopsError

log = logging.getLogger(__name__)


class Snapshot(NamedTuple):
    """What a probe predicts at one checkpoint.

    Attributes:
        time: in epochs; 1.0 after the first pass over the training samples, 0.25 after a quarter of
            its updates.
        probabilities: (m, k) float32, rows sum to 1.
        positions: (m,) int64 positions the rows belong to, or None where they are all n samples in
            order.

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
    """A part of a training with a fresh optimizer and a schedule of its own.

    Attributes:
        epochs: passes over the training samples.
        rate: (updates done in this stage, updates an epoch has) -> factor on the probe's learning
            rate for the next update.
        batch_share: factor on the probe's batch size; a batch holds at least one sample.
        heard: told, with each update, the (b,) int64 positions of its samples and their (b, k)
            float32 class probabilities, as the model computes them right before the update, under
            training (with its dropout).

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


@dataclass
class Probe(ABC):
    """A classifier that can be watched while it learns, and trained to the end.

    Every call of :meth:`watch` or :meth:`fit` starts from a fresh model and draws all randomness
    from its ``seed``; the global generators are left as they were. ``quiet=False`` shows a progress
    bar. After either, :meth:`predict_proba` and :meth:`save` work on the model as it stands.
    """

    kind: ClassVar[str]
    quiet: bool = field(default=True, kw_only=True, repr=False, compare=False)
    speed: Speed = field(default_factory=Speed, init=False, repr=False, compare=False)

    @property
    @abstractmethod
    def max_epochs(self) -> int:
        """The largest number of epochs that training runs for."""

    @abstractmethod
    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> Any:
        """Turn samples into the model's own form, once; ``fit`` also learns vocabularies from them."""

    @abstractmethod
    def updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int
    ) -> Iterator[Update]:
        """Build a fresh model and train it, yielding after every update of the weights."""

    @abstractmethod
    def predict_prepared(self, prepared: Any, positions: np.ndarray | None = None) -> np.ndarray:
        """Return class probabilities, (m, k) float32, of all samples or those at ``positions``.

        The result is deterministic.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the trained model into an existing empty folder, in its ecosystem's format."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, *, device: str = "auto") -> Probe:
        """Read what :meth:`save` wrote; the result predicts and can be trained afresh."""

    @property
    def has_dropout(self) -> bool:
        """Whether :meth:`predict_with_dropout` works."""
        return False

    def predict_with_dropout(
        self, samples: Sequence[Any], passes: int, *, seed: int = 0
    ) -> np.ndarray:
        """Return class probabilities of several passes with dropout on, (passes, m, k) float32.

        Raises:
            LopsError: the model has no dropout.

        """
        raise self._without_dropout()

    def _without_dropout(self) -> LopsError:
        return LopsError(
            f"this {self.kind} probe has no dropout, so all passes would be the same; take a transformer probe with dropout"
        )

    @property
    def schedule(self) -> Stage:
        """The probe's own training as one stage.

        Raises:
            LopsError: this kind of probe cannot be trained in stages.

        """
        raise self._without_stages()

    def _without_stages(self) -> LopsError:
        return LopsError(
            f"the {self.kind} probe cannot be trained in stages, nor listened to while it trains; take a linear, transformer or han probe"
        )

    def staged_updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, stages: Sequence[Stage]
    ) -> Iterator[Update]:
        """Build a fresh model and train it in the given stages instead of its own schedule.

        Updates are counted within a stage.

        Raises:
            LopsError: this kind of probe cannot.

        """
        raise self._without_stages()

    def watch(
        self,
        samples: Sequence[Any],
        codes: Sequence[int] | np.ndarray,
        n_classes: int,
        *,
        seed: int = 0,
        every: int | None = None,
        undecided: Callable[[], np.ndarray] | None = None,
        online: bool = False,
    ) -> Iterator[Snapshot]:
        """Train on all samples and yield a snapshot at every checkpoint.

        To stop the training, stop iterating.

        Args:
            samples: n samples of the form this probe reads.
            codes: (n,) int class codes in 0..n_classes-1, the pseudo-labels.
            n_classes: k, at least 2.
            seed: of initial weights, batches and dropout.
            every: checkpoint after every so many updates; default: after every epoch.
            undecided: asked before each checkpoint for the (m,) positions still worth predicting;
                default: all.
            online: predict nothing for the sake of watching. A snapshot, at each epoch's end, holds
                what the model said of each sample in the training pass itself, right before the
                update that the sample was part of: by younger models for samples that came early in
                the epoch, and with dropout.

        Raises:
            LopsError: no samples, codes of another length or outside the classes, fewer than two
                classes, every < 1, seed < 0, and ``online`` with ``every`` or with a kind of probe
                that cannot be listened to.

        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed, every)
        self.speed = Speed()
        if online:
            if every is not None:
                raise LopsError(
                    f"every is {every}, and online looks once an epoch, when every sample was trained on; leave one out"
                )
            return self._listen(samples, checked, n_classes, seed, self.schedule)
        return self._watch(samples, checked, n_classes, seed, every, undecided)

    def _watch(
        self,
        samples: Sequence[Any],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        every: int | None,
        undecided: Callable[[], np.ndarray] | None,
    ) -> Iterator[Snapshot]:
        prepared = self.prepare(samples, fit=True)
        try:
            for update in self._timed(self.updates(prepared, codes, n_classes, seed)):
                if update.done % (every or update.per_epoch):
                    continue
                positions = None if undecided is None else undecided()
                yield Snapshot(
                    update.done / update.per_epoch,
                    self._predict_timed(prepared, positions, len(samples)),
                    positions,
                )
        finally:  # most consumers stop asking before the training ends
            log.info("%s probe: samples per second %s", self.kind, self.speed.per_second())

    def _listen(
        self, samples: Sequence[Any], codes: np.ndarray, n_classes: int, seed: int, own: Stage
    ) -> Iterator[Snapshot]:
        said = np.zeros((len(samples), n_classes), dtype=np.float32)

        def hear(positions: np.ndarray, probabilities: np.ndarray) -> None:
            said[positions] = probabilities

        prepared = self.prepare(samples, fit=True)
        try:
            for update in self._timed(
                self.staged_updates(prepared, codes, n_classes, seed, [replace(own, heard=hear)])
            ):
                if update.done % update.per_epoch == 0:
                    yield Snapshot(update.done / update.per_epoch, said.copy(), None)
        finally:
            log.info("%s probe: samples per second %s", self.kind, self.speed.per_second())

    def _timed(self, updates: Iterator[Update], epochs: int | None = None) -> Iterator[Update]:
        with tqdm(
            disable=self.quiet,
            unit="update",
            desc=f"training {self.kind}",
            leave=False,
            mininterval=0.5,
        ) as bar:
            while True:
                start = time.perf_counter()
                update = next(updates, None)
                self.speed.train_seconds += time.perf_counter() - start
                if update is None:
                    return
                self.speed.trained += update.samples
                bar.total = update.per_epoch * (epochs or self.max_epochs)
                bar.update()
                yield update

    def _predict_timed(self, prepared: Any, positions: np.ndarray | None, n: int) -> np.ndarray:
        start = time.perf_counter()
        probabilities = self.predict_prepared(prepared, positions)
        self.speed.predict_seconds += time.perf_counter() - start
        self.speed.predicted += n if positions is None else len(positions)
        return probabilities

    def fit(
        self,
        samples: Sequence[Any],
        codes: Sequence[int] | np.ndarray,
        n_classes: int,
        *,
        seed: int = 0,
    ) -> Probe:
        """Train to the end without snapshots and return the probe itself.

        Arguments and errors are those of :meth:`watch`.
        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed)
        self.speed = Speed()
        for _ in self._timed(
            self.updates(self.prepare(samples, fit=True), checked, n_classes, seed)
        ):
            pass
        log.info("%s classifier: samples per second %s", self.kind, self.speed.per_second())
        return self

    def fit_in_stages(
        self,
        samples: Sequence[Any],
        codes: Sequence[int] | np.ndarray,
        n_classes: int,
        stages: Sequence[Stage],
        *,
        seed: int = 0,
    ) -> Probe:
        """Train in the given stages instead of the probe's own schedule; return the probe itself.

        Errors are those of :meth:`watch`.
        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed)
        self.speed = Speed()
        updates = self.staged_updates(
            self.prepare(samples, fit=True), checked, n_classes, seed, stages
        )
        for _ in self._timed(
            updates, math.ceil(sum(stage.epochs / stage.batch_share for stage in stages))
        ):
            pass
        return self

    def predict_proba(self, samples: Sequence[Any]) -> np.ndarray:
        """Return class probabilities of any samples, (m, k) float32."""
        return self._predict_timed(self.prepare(samples), None, len(samples))

    def _untrained(self) -> LopsError:
        return LopsError(f"this {self.kind} probe is untrained; call fit() or watch() first")


def check_counts(seed: int, every: int | None = None) -> None:
    """Raise a LopsError if a seed or a number of updates between checkpoints is out of range."""
    if seed < 0:
        raise LopsError(f"seed is {seed}; wanted a whole number, at least 0")
    if every is not None and every < 1:
        raise LopsError(
            f"every is {every}; wanted a number of updates, at least 1, or None for once an epoch"
        )


def check_codes(
    samples: Sequence[Any], codes: Sequence[int] | np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the codes as an (n,) int64 array; raise a LopsError if they do not fit the samples."""
    array = np.asarray(codes)
    if array.ndim != 1 or len(array) != len(samples):
        raise LopsError(
            f"found {len(samples)} samples and codes of shape {array.shape}; wanted one class code a sample"
        )
    if not len(array):
        raise LopsError("found no samples; wanted at least one")
    if array.dtype.kind not in "iu":
        raise LopsError(
            f"class codes have type {array.dtype}; wanted integers 0 to {n_classes - 1}"
        )
    if n_classes < 2:
        raise LopsError(f"found {n_classes} class; a probe needs at least 2 to tell apart")
    if array.min() < 0 or array.max() >= n_classes:
        raise LopsError(
            f"class codes run from {array.min()} to {array.max()}; wanted 0 to {n_classes - 1}"
        )
    return array.astype(np.int64)
