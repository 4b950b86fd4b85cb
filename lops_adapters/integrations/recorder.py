"""A record of a classifier's predictions for its training samples, one row per checkpoint.

Notation: N samples, k classes, E checkpoints. A sample is "seen" at a checkpoint that predicts it.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LearningOrder, LopsError, Selection
from lops_adapters.labels.labelled import codes_among
from lops_adapters.selection.method_table import check_rule
from lops_adapters.selection.selectors import Labels
from lops_adapters.storage import write_arrays

_FORMAT = 1  # of the file; goes up when older readers would misread it
# What numpy and json raise for a damaged or foreign file.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile)


class _Replay(LearningOrder):
    """Observes predicted codes with the probabilities of the pseudo-labels."""

    def _predicted(self, predictions: Any, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes, probability = predictions
        return codes, probability


class Record:
    """Predictions for each sample at each checkpoint, and the selections that follow from them.

    One training serves every rule and every fraction: :class:`lops_adapters.core.LearningOrder` is
    replayed on the recorded predictions.

    Args:
        pseudo_labels: N class names.
        classes: the label set, in the order of score columns. Default: the sorted distinct
            pseudo-labels.
        horizon: T of the confidence 1 - learnt_at / T, in epochs: the planned length of the
            training. Default: the last checkpoint's time.

    Attributes:
        classes: k class names.
        codes: (N,) int64, the pseudo-labels as positions in ``classes``.
        times: E floats, increasing.

    Raises:
        LopsError: no samples, missing labels, labels outside the classes.

    >>> record = Record(["cat", "cat", "dog", "dog"])
    >>> record.observe([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    >>> record.select().kept.tolist(), record.predictions().tolist()
    ([0, 2, 3], [[0, 1, 1, 1]])
    """

    def __init__(
        self,
        pseudo_labels: Labels,
        classes: Sequence[Hashable] | None = None,
        *,
        horizon: float | None = None,
    ) -> None:
        self._labels = LearningOrder(pseudo_labels, classes=classes)  # reads and checks
        self.classes: list[Hashable] = self._labels.classes
        self.codes = codes_among(pseudo_labels, self.classes)
        self.horizon = horizon
        self.times: list[float] = []
        self._predicted: list[np.ndarray] = []
        self._probability: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        k, e = len(self.classes), len(self.times)
        return f"Record({len(self)} samples, {k} classes, {e} checkpoints)"

    def observe(self, predictions: Any, time: float | None = None, positions: Any = None) -> None:
        """Add a checkpoint.

        Args:
            predictions: (m, k) class probabilities with columns in the order of ``classes``.
            time: in epochs, larger than the last. Default: the checkpoint's number.
            positions: (m,) int, the predicted samples. Default: all, in order.

        Raises:
            LopsError: wrong shape or length, NaN, positions out of range or twice, time that does
                not increase. Nothing is recorded then.
        """
        time = len(self.times) + 1.0 if time is None else float(time)
        last = self.times[-1] if self.times else 0.0
        if not last < time < math.inf:
            raise LopsError(f"time is {time}; wanted more than {last}, the last checkpoint's")
        if self.horizon is not None and time > self.horizon:
            raise LopsError(
                f"time is {time}, beyond the horizon of {self.horizon}; set a larger horizon"
            )
        where = self._labels._positions(positions)
        codes, label_probability = self._read(predictions, where)
        predicted = np.full(len(self), -1, dtype=np.int32)
        probability = np.full(len(self), np.nan, dtype=np.float32)
        predicted[where] = codes
        probability[where] = label_probability
        self.times.append(time)
        self._predicted.append(predicted)
        self._probability.append(probability)

    def _read(self, predictions: Any, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tensor = hasattr(predictions, "detach")
        scores = np.asarray(predictions.detach().cpu() if tensor else predictions)
        if scores.ndim != 2:
            raise LopsError(
                f"predictions have shape {scores.shape}; wanted {(len(where), len(self.classes))} "
                "probabilities, a column per class"
            )
        read = self._labels._predicted(scores, where)
        if scores.size and not -1e-3 <= scores.min() <= scores.max() <= 1 + 1e-3:
            raise LopsError(
                f"predictions run from {scores.min():g} to {scores.max():g}; wanted probabilities: "
                "apply a softmax to logits"
            )
        return read

    @property
    def seen(self) -> np.ndarray:
        """(E, N) bool, whether a sample was predicted at a checkpoint."""
        return self.predictions() >= 0

    def predictions(self) -> np.ndarray:
        """Return predicted classes, (E, N) int32 positions in ``classes``; -1: not seen."""
        return np.array(self._predicted, dtype=np.int32).reshape(len(self.times), len(self))

    def probabilities(self) -> np.ndarray:
        """Return probabilities of the pseudo-labels, (E, N) float32; NaN: not seen."""
        return np.array(self._probability, dtype=np.float32).reshape(len(self.times), len(self))

    def order(
        self, method: str = "released", keep: float = 0.5, *, seed: int = 0, strict: bool = False
    ) -> LearningOrder:
        """Replay all checkpoints; ask the result what is ``undecided`` and whether it is ``done``.

        Raises:
            LopsError: another method than :data:`lops_adapters.core.RULES`, a fraction out of
                range; an unseen sample that matters for this selection.
        """
        check_rule(method, keep)
        last = self.times[-1] if self.times else 1.0
        order = _Replay(
            [self.classes[code] for code in self.codes],
            tau=keep,
            rule=method,
            # One more could follow, so that only the rule decides when it is done.
            max_checkpoints=len(self.times) + 1,
            classes=self.classes,
            horizon=last if self.horizon is None else self.horizon,
            seed=seed,
            strict=strict,
        )
        recorded = zip(self.times, self._predicted, self._probability, strict=True)
        for time, predicted, probability in recorded:
            rows = np.flatnonzero(predicted >= 0)
            unseen = np.setdiff1d(order.undecided, rows, assume_unique=True)
            if len(unseen):
                raise LopsError(
                    f"{len(unseen)} samples that matter for method={method!r} and keep={keep} were "
                    f"skipped at time {time}: the record was made for another choice; select with "
                    "that, or record again without skip_decided"
                )
            order.observe((predicted[rows], probability[rows]), time, rows, close=True)
        return order

    def select(
        self, method: str = "released", keep: float = 0.5, *, seed: int = 0, strict: bool = False
    ) -> Selection:
        """Select the pseudo-labels to trust.

        Args:
            method, keep: one of :data:`lops_adapters.core.RULES`, and the fraction of each class.
            seed, strict: as for :class:`lops_adapters.core.LearningOrder`.

        Raises:
            LopsError: no checkpoint was recorded, and what :meth:`order` raises.
        """
        if not self.times:
            raise LopsError("no checkpoint was recorded; train with the callback first")
        return self.order(method, keep, seed=seed, strict=strict).select()

    def save(self, path: str | Path) -> None:
        """Write everything into one ``.npz`` file, in one step.

        Raises:
            LopsError: class names that are neither text nor numbers.
        """
        names = [name.item() if isinstance(name, np.generic) else name for name in self.classes]
        for name in names:
            if not isinstance(name, str | int | float):
                raise LopsError(
                    f"a class is called {name!r}; wanted text or a number to write into a file"
                )
        about = {"format": _FORMAT, "classes": names, "horizon": self.horizon}
        write_arrays(
            Path(path),
            about=np.array(json.dumps(about)),
            codes=self.codes,
            times=np.array(self.times, dtype=np.float64),
            predictions=self.predictions(),
            probabilities=self.probabilities(),
        )

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read what :meth:`save` wrote.

        Raises:
            LopsError: there is no such file, or it holds something else.
        """
        try:
            with np.load(Path(path), allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                if about["format"] != _FORMAT:
                    raise LopsError(
                        f"{path} has format {about['format']}; wanted {_FORMAT}: a newer version "
                        "wrote it, upgrade"
                    )
                classes = about["classes"]
                labels = [classes[code] for code in arrays["codes"]]
                record = cls(labels, classes, horizon=about["horizon"])
                record.times = arrays["times"].tolist()
                record._predicted = list(arrays["predictions"])
                record._probability = list(arrays["probabilities"])
        except LopsError:
            raise
        except _UNREADABLE as error:
            raise LopsError(
                f"{path} cannot be read as a record ({error}); wanted a file that Record.save() "
                "wrote"
            ) from None
        return record
