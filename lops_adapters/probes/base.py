"""The base class of probes: classifiers whose training can be watched.

Notation: n samples, k classes, t checkpoints. Samples are what the probe reads (texts or tokenised
documents); pseudo-labels reach a probe as int class codes 0..k-1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.probes.stages import (
    Passes,
    Snapshot,
    Stage,
    Steady,
    Update,
    check_codes,
    check_counts,
    steady,
)

__all__ = [
    "Probe",
    "Snapshot",
    "Stage",
    "Steady",
    "Update",
    "check_codes",
    "check_counts",
    "cut",
    "steady",
]


@dataclass
class Probe(Passes, ABC):
    """A classifier that can be watched while it learns, and trained to the end.

    Every call of :meth:`watch` or :meth:`fit` starts from a fresh model and draws all randomness
    from its ``seed``; the global generators keep their states. ``quiet=False`` shows a progress
    bar. Afterwards, :meth:`predict_proba` and :meth:`save` use the model in its current state.
    """

    kind: ClassVar[str]
    quiet: bool = field(default=True, kw_only=True, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What messages call it; the kind of probe by default."""
        return self.kind

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
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, total: int | None = None
    ) -> Iterator[Update]:
        """Build a fresh model and train it, yielding after every update of the weights.

        Default: the schedule as the only stage. With ``total``, training makes as many updates, in
        as many passes as they need, and the schedule is stretched over them.
        """
        schedule = self.schedule
        if total is None:
            return self.staged_updates(prepared, codes, n_classes, seed, [schedule])

        def rate(done: int, per_epoch: int) -> float:
            return schedule.rate(done * schedule.epochs * per_epoch // total, per_epoch)

        # An epoch has at least one update.
        stages = [Stage(total, rate)]
        return islice(self.staged_updates(prepared, codes, n_classes, seed, stages), total)

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
        """Return class probabilities of several passes with dropout on, (passes, m, k) float32."""
        raise LopsError(
            f"this {self.kind} probe has no dropout, so all passes would be the same; "
            "use a transformer probe with dropout"
        )

    @property
    def schedule(self) -> Stage:
        """The probe's own training as one stage."""
        raise self._without_stages()

    def _without_stages(self) -> LopsError:
        return LopsError(
            f"the {self.kind} probe cannot be trained in stages; "
            "use a linear, embedding, hybrid, transformer or han probe"
        )

    def staged_updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, stages: Sequence[Stage]
    ) -> Iterator[Update]:
        """Build a fresh model and train it in the given stages instead of its own schedule.

        Updates are counted within a stage.
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

        Raises:
            LopsError: no samples, codes of another length or outside the classes, fewer than two
                classes, every < 1, seed < 0.
        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed, every)
        return self._snapshots(samples, checked, n_classes, seed, every, undecided)

    def _snapshots(
        self,
        samples: Sequence[Any],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        every: int | None,
        undecided: Callable[[], np.ndarray] | None,
    ) -> Iterator[Snapshot]:
        prepared = self.prepare(samples, fit=True)
        for update in self._with_bar(self.updates(prepared, codes, n_classes, seed)):
            if update.done % (every or update.per_epoch):
                continue
            positions = None if undecided is None else undecided()
            probabilities = self.predict_prepared(prepared, positions)
            yield Snapshot(update.done / update.per_epoch, probabilities, positions)

    def _with_bar(
        self, updates: Iterator[Update], epochs: int | None = None, total: int | None = None
    ) -> Iterator[Update]:
        with progress(quiet=self.quiet, unit="update", desc=f"training {self.kind}") as bar:
            for update in updates:
                bar.total = total or update.per_epoch * (epochs or self.max_epochs)
                bar.update()
                yield update

    def fit(
        self,
        samples: Sequence[Any],
        codes: Sequence[int] | np.ndarray,
        n_classes: int,
        *,
        seed: int = 0,
        updates: int | None = None,
        stages: Sequence[Stage] = (),
    ) -> Probe:
        """Train to the end without snapshots and return the probe itself.

        Args:
            samples, codes, n_classes, seed: as for :meth:`watch`.
            updates: to make, at least 1; default: those of ``max_epochs`` passes. It makes
                trainings on different numbers of samples equally long.
            stages: to train in, instead of the probe's own schedule.

        Raises:
            LopsError: as for :meth:`watch`; ``updates`` out of range; ``stages`` with a kind of
                probe that has none.
        """
        checked = check_codes(samples, codes, n_classes)
        check_counts(seed)
        if updates is not None and updates < 1:
            raise LopsError(f"updates is {updates}; wanted at least 1")
        prepared = self.prepare(samples, fit=True)
        if stages:
            steps = self.staged_updates(prepared, checked, n_classes, seed, stages)
        else:
            steps = self.updates(prepared, checked, n_classes, seed, updates)
        epochs = math.ceil(sum(stage.epochs / stage.batch_share for stage in stages))
        deque(self._with_bar(steps, epochs, updates), maxlen=0)
        return self

    def predict_proba(self, samples: Sequence[Any]) -> np.ndarray:
        """Return class probabilities of any samples, (m, k) float32."""
        return self.predict_prepared(self.prepare(samples))

    def settings(self) -> dict[str, Any]:
        """Return what rebuilds the probe untrained: its arguments, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.init}

    def _untrained(self) -> LopsError:
        return LopsError(f"this {self.kind} probe is untrained; call fit() or watch() first")


def cut(read: Any, positions: np.ndarray) -> Any:
    """Return the samples at (m,) int positions of what :meth:`Probe.read` returned.

    >>> cut(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(read, "rows"):
        return read.rows(positions)
    if isinstance(read, np.ndarray) or hasattr(read, "indptr"):  # an array, a sparse matrix
        return read[positions]
    return [read[position] for position in positions.tolist()]
