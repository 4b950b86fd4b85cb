"""What the callbacks share: when to look, what to predict, when to stop, what to record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.integrations.recorder import Record
from lops_adapters.selection.method_table import check_rule


class Watcher:
    """The base of the callbacks: fills a record of one training; they say when, and how to predict.

    ``codes`` are (N,) int64 pseudo-labels 0..k-1, the other arguments as for the callbacks;
    ``found`` is the record so far, None before the first checkpoint. LopsError: numbers out of
    range.
    """

    def __init__(
        self,
        codes: np.ndarray,
        *,
        every: int | None,
        method: str,
        keep: float,
        skip_decided: bool,
        stop_when_done: bool,
    ) -> None:
        super().__init__()
        check_rule(method, keep)
        if every is not None and every < 1:
            raise LopsError(
                f"every is {every}; wanted a number of updates, at least 1, or None for once per "
                "epoch"
            )
        self.codes = codes
        self.every = every
        self.method = method
        self.keep = keep
        self.skip_decided = skip_decided
        self.stop_when_done = stop_when_done
        self.found: Record | None = None

    @property
    def record(self) -> Record:
        """The :class:`lops_adapters.integrations.recorder.Record` so far.

        Raises:
            LopsError: before the first checkpoint.
        """
        if self.found is None:
            raise LopsError(
                "nothing was recorded: training has not started, or ended before the first "
                "checkpoint; train for at least one epoch, or pass a smaller every="
            )
        return self.found

    def look(
        self, predict: Callable[[np.ndarray | None], np.ndarray], *, time: float, horizon: float
    ) -> bool:
        """Record a checkpoint, and return whether the training should stop.

        ``predict`` returns (m, k) class probabilities of the samples at (m,) positions, or of all
        samples for None; time and horizon, the length of the training, are in epochs.
        """
        positions = None
        if self.found is not None and self.skip_decided:
            positions = self.found.order(self.method, self.keep).undecided
        if self.found is not None and positions is not None and not len(positions):
            probabilities = np.zeros((0, len(self.found.classes)), dtype=np.float32)
        else:
            probabilities = predict(positions)
        if self.found is None:
            self.found = self._new(probabilities.shape[1], horizon)
        self.found.observe(probabilities, time=time, positions=positions)
        return self.stop_when_done and self.found.order(self.method, self.keep).done

    def save(self, path: Path, horizon: float) -> None:
        """Write the record, an empty one before the first checkpoint."""
        record = self.found or self._new(int(self.codes.max()) + 1, horizon)
        record.save(path)

    def resume(self, path: Path, horizon: float) -> None:
        """Continue with what :meth:`save` wrote; LopsError: for other pseudo-labels.

        ``horizon`` is that of the resumed training, which may be longer than planned before.
        """
        record = Record.load(path)
        if not np.array_equal(record.codes, self.codes):
            raise LopsError(f"{path} was recorded for other pseudo-labels; start a new training")
        record.horizon = horizon
        self.found = record if record.times else None

    def _new(self, n_classes: int, horizon: float) -> Record:
        return Record(self.codes, range(n_classes), horizon=horizon)


def read_codes(labels: Any, n: int | None = None, *, floats: bool = False) -> np.ndarray:
    """Return (n,) or (n, 1) integers 0..k-1 of a list, array or tensor as (n,) int64.

    ``n`` is the number of training samples; ``floats`` allows whole numbers stored as floats.
    LopsError: another shape, other numbers, negative labels.
    """
    plain = labels.detach().cpu() if hasattr(labels, "detach") else labels
    codes = np.asarray(plain.tolist() if hasattr(plain, "tolist") else list(plain))
    if codes.ndim == 2 and codes.shape[1] == 1:
        codes = codes[:, 0]
    if codes.ndim != 1 or not len(codes) or n not in (None, len(codes)):
        samples = "" if n is None else f"{n} training samples and "
        raise LopsError(
            f"found {samples}pseudo-labels of shape {codes.shape}; wanted one per sample"
        )
    whole = codes.dtype.kind in "iub"
    if floats and codes.dtype.kind == "f":
        whole = bool(np.isfinite(codes).all() and (codes == np.rint(codes)).all())
    if not whole:
        raise LopsError(
            f"pseudo-labels have type {codes.dtype}; wanted integers 0 to k-1: no names, no "
            "scores, one class per sample"
        )
    codes = codes.astype(np.int64)
    if codes.min() < 0:
        where = int(codes.argmin())
        raise LopsError(
            f"the pseudo-label at position {where} is {codes[where]}; wanted 0 to k-1: leave "
            "unlabelled samples out"
        )
    return codes
