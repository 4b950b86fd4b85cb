"""The base class of probes: classifiers whose training can be watched.

Notation: n samples, k classes, t checkpoints. Samples are what the probe reads (texts or tokenised
documents); pseudo-labels reach a probe as int class codes 0..k-1.
"""

from __future__ import annotations

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.probes.checks import check_codes, check_counts
from lops_adapters.probes.stages import Snapshot, Speed, Stage, Steady, Update, steady

__all__ = [
    "Probe",
    "Snapshot",
    "Speed",
    "Stage",
    "Steady",
    "Update",
    "check_codes",
    "check_counts",
    "cut",
    "steady",
]

log = logging.getLogger(__name__)


@dataclass
class Probe(ABC):
    """A classifier that can be watched while it learns, and trained to the end.

    Every call of :meth:`watch` or :meth:`fit` starts from a fresh model and draws all randomness
    from its ``seed``; the global generators keep their states. ``quiet=False`` shows a progress
    bar. Afterwards, :meth:`predict_proba` and :meth:`save` use the model in its current state.
    """

    kind: ClassVar[str]
    quiet: bool = field(default=True, kw_only=True, repr=False, compare=False)
    speed: Speed = field(default_factory=Speed, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What messages call it; the kind of probe by default."""
        return self.kind

    @property
    @abstractmethod
    def max_epochs(self) -> int:
        """The largest number of epochs that training runs for."""

    @property
    def has_checkpoints(self) -> bool:
        """Whether training has more than one checkpoint; most probes have one per update."""
        return True

    def check_checkpoints(self) -> None:
        """Raise a LopsError if training has a single checkpoint, so that there is no order."""
        if not self.has_checkpoints:
            raise LopsError(
                f"{self.name} has no partial_fit, so its training has one checkpoint, and this "
                'method compares several; use method="committee", '
                "or a classifier with partial_fit, such as "
                "SGDClassifier(loss='log_loss')"
            )

    def read(self, samples: Sequence[Any]) -> Any:
        """Return what of :meth:`prepare` needs no training samples, done once for all trainings.

        :meth:`prepare`, :meth:`fit` and :meth:`watch` take it in place of the samples, and
        :func:`cut` cuts it. Default: the samples.
        """
        return samples

    @abstractmethod
    def prepare(self, samples: Any, *, fit: bool = False) -> Any:
        """Encode samples for the model, once; ``fit`` also learns the vocabulary from them."""

    def updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int
    ) -> Iterator[Update]:
        """Build a fresh model and train it, yielding after every update of the weights.

        Default: the schedule as the only stage.
        """
        return self.staged_updates(prepared, codes, n_classes, seed, [self.schedule])

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
            f"this {self.kind} probe has no dropout, so all passes would be the same; "
            "use a transformer probe with dropout"
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
            f"the {self.kind} probe supports neither stages nor online=True; "
            "use a linear, embedding, hybrid, transformer or han probe"
        )

    def staged_updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, stages: Sequence[Stage]
    ) -> Iterator[Update]:
        """Build a fresh model and train it in the given stages instead of its own schedule.

        Updates are counted within a stage.

        Raises:
            LopsError: this kind of probe cannot be trained in stages.

        """
        raise self._without_stages()

    def counted_updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, total: int
    ) -> Iterator[Update]:
        """Build a fresh model and make ``total`` updates, in as many passes as they need.

        The learning rate follows the probe's schedule, over these updates.

        Raises:
            LopsError: this kind of probe has no schedule.

        """
        own = self.schedule

        def rate(done: int, per_epoch: int) -> float:
            return own.rate(done * own.epochs * per_epoch // total, per_epoch)

        # An epoch has at least one update.
        stages = [Stage(total, rate)]
        return islice(self.staged_updates(prepared, codes, n_classes, seed, stages), total)

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
            every: updates between two checkpoints; default: one epoch.
            undecided: called before each checkpoint for the (m,) positions to predict; default:
                all.
            online: reuse the outputs of the training pass; no extra predictions. A snapshot at the
                end of each epoch holds each sample's output right before its own update. These
                outputs include dropout and come from models of different age within the epoch.

        Raises:
            LopsError: no samples, codes of another length or outside the classes, fewer than two
                classes, every < 1, seed < 0; ``online`` with ``every`` or with a kind of probe that
                does not support it.

        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed, every)
        self.speed = Speed()
        if online and every is not None:
            raise LopsError(
                f"every is {every} with online=True, which yields one snapshot per epoch; "
                "leave one of the two out"
            )
        heard = self.schedule if online else None  # or an error at once
        return self._watch(samples, checked, n_classes, seed, every, undecided, heard)

    def _watch(
        self,
        samples: Sequence[Any],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        every: int | None,
        undecided: Callable[[], np.ndarray] | None,
        heard: Stage | None,
    ) -> Iterator[Snapshot]:
        """Yield snapshots; with ``heard``, they are outputs of this stage's training pass."""
        prepared = self.prepare(samples, fit=True)
        if heard is None:
            updates = self.updates(prepared, codes, n_classes, seed)
        else:
            said = np.zeros((len(samples), n_classes), dtype=np.float32)
            stages = [replace(heard, heard=said.__setitem__)]
            updates = self.staged_updates(prepared, codes, n_classes, seed, stages)
        try:
            for update in self._timed(updates):
                if update.done % (every or update.per_epoch):
                    continue
                positions = None if undecided is None or heard else undecided()
                if heard is None:
                    probabilities = self._predict_timed(prepared, positions, len(samples))
                else:
                    probabilities = said.copy()
                yield Snapshot(update.done / update.per_epoch, probabilities, positions)
        finally:  # most consumers stop before the training ends
            log.debug("%s probe: samples per second %s", self.kind, self.speed.per_second())

    def _timed(
        self, updates: Iterator[Update], epochs: int | None = None, total: int | None = None
    ) -> Iterator[Update]:
        with progress(
            quiet=self.quiet, unit="update", desc=f"training {self.kind}", mininterval=0.5
        ) as bar:
            while True:
                start = time.perf_counter()
                update = next(updates, None)
                self.speed.train_seconds += time.perf_counter() - start
                if update is None:
                    return
                self.speed.trained += update.samples
                bar.total = total or update.per_epoch * (epochs or self.max_epochs)
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
        updates: int | None = None,
    ) -> Probe:
        """Train to the end without snapshots and return the probe itself.

        Args:
            samples, codes, n_classes, seed: as for :meth:`watch`.
            updates: to make, at least 1; default: those of ``max_epochs`` passes. It makes
                trainings on different numbers of samples equally long.

        Raises:
            LopsError: as for :meth:`watch`; ``updates`` out of range, or with a kind of probe that
                cannot count them.

        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed)
        if updates is not None and updates < 1:
            raise LopsError(f"updates is {updates}; wanted at least 1")
        self.speed = Speed()
        prepared = self.prepare(samples, fit=True)
        if updates is None:
            steps = self.updates(prepared, checked, n_classes, seed)
        else:
            steps = self.counted_updates(prepared, checked, n_classes, seed, updates)
        for _ in self._timed(steps, total=updates):
            pass
        log.debug("%s classifier: samples per second %s", self.kind, self.speed.per_second())
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

        Raises what :meth:`watch` raises.
        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed)
        self.speed = Speed()
        prepared = self.prepare(samples, fit=True)
        updates = self.staged_updates(prepared, checked, n_classes, seed, stages)
        epochs = math.ceil(sum(stage.epochs / stage.batch_share for stage in stages))
        for _ in self._timed(updates, epochs):
            pass
        return self

    def predict_proba(self, samples: Sequence[Any]) -> np.ndarray:
        """Return class probabilities of any samples, (m, k) float32."""
        return self._predict_timed(self.prepare(samples), None, len(samples))

    def _untrained(self) -> LopsError:
        return LopsError(f"this {self.kind} probe is untrained; call fit() or watch() first")


def cut(read: Any, positions: np.ndarray) -> Any:
    """Return the samples at (m,) int positions of what :meth:`Probe.read` returned.

    >>> cut(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(read, "rows"):
        return read.rows(positions)
    if isinstance(read, np.ndarray):
        return read[positions]
    return [read[position] for position in positions.tolist()]
