"""The callback for Keras; imported when :mod:`lops_adapters.integrations.keras` needs it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from lops_adapters.core import LearningOrder, LopsError
from lops_adapters.integrations.recorder import Record
from lops_adapters.probes.keras_tools import KerasRandomness, import_keras, torch_device

keras: Any = import_keras()  # chooses a backend, and says what to install


class LopsCallback(keras.callbacks.Callback):
    """Records in which order ``model.fit`` learns its samples, by predicting them after every
    epoch.

    The training goes on as if nobody had looked: ``model.predict`` changes no weight, and the
    global random generators are put back. ``fit(..., initial_epoch=...)`` goes on with the record,
    a training that begins at epoch 0 begins a new one.

    Args:
        x: the N training samples as ``model.predict`` takes them: an array, or a list or dict of
            arrays, with one row a sample.
        labels: pseudo-labels by position in ``x``: (N,) or (N, 1) integers 0..k-1, or (N, k)
            one-hot rows.
        from_logits: whether the model's last layer has no activation. Otherwise it gives
            probabilities: a softmax of k columns, or a sigmoid of one column, the probability of
            class 1.
        every: look after every so many batches instead of after every epoch.
        batch_size: of the predictions; as for ``model.predict``.
        tau, rule: what ``skip_decided`` and ``stop_when_done`` go by, see
            :class:`lops_adapters.core.LearningOrder`.
        skip_decided: predict only the samples whose answer can still matter for this tau and rule.
        stop_when_done: stop the training when further predictions cannot change the selection for
            this tau and rule.

    Attributes:
        record: a :class:`lops_adapters.integrations.recorder.Record`; after training,
            ``record.select()``.

    Raises:
        LopsError: samples that are no arrays or of other lengths than the labels, labels that are
            no classes, numbers out of range; at the first look, outputs that are no scores or
            probabilities of these classes.

    >>> labels = np.array([0, 1] * 8)
    >>> model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
    >>> model.compile(keras.optimizers.SGD(1.0), "sparse_categorical_crossentropy")
    >>> callback = LopsCallback(np.eye(2)[labels], labels)
    >>> history = model.fit(np.eye(2)[labels], labels, epochs=3, verbose=0, callbacks=[callback])
    >>> callback.record.times
    [1.0, 2.0, 3.0]

    """

    def __init__(
        self,
        x: Any,
        labels: Any,
        *,
        from_logits: bool = False,
        every: int | None = None,
        batch_size: int | None = None,
        tau: float = 0.5,
        rule: str = "released",
        skip_decided: bool = False,
        stop_when_done: bool = False,
    ) -> None:
        super().__init__()
        LearningOrder([0], tau=tau, rule=rule)  # raises where these are out of range
        if every is not None and every < 1:
            raise LopsError(
                f"every is {every}; wanted a number of batches, at least 1, or None for once an epoch"
            )
        self.codes = _codes(labels)
        _check_samples(x, len(self.codes))
        self.x, self.from_logits, self.every, self.batch_size = x, from_logits, every, batch_size
        self.tau, self.rule, self.skip_decided, self.stop_when_done = (
            tau,
            rule,
            skip_decided,
            stop_when_done,
        )
        self._record: Record | None = None
        self._epoch, self._batch = 0, 0  # batches done in this epoch

    @property
    def record(self) -> Record:
        """What was recorded so far."""
        if self._record is None:
            raise LopsError(
                "nothing was recorded: train for at least one whole epoch, or pass a smaller every="
            )
        return self._record

    def on_train_begin(self, logs: Any = None) -> None:
        """Check that batches can be counted, where they have to be."""
        if self.every and not self.params.get("steps"):
            raise LopsError(
                f"every is {self.every} and fit() does not know how many batches an epoch has; pass steps_per_epoch to fit()"
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin a new record with the first epoch."""
        self._epoch, self._batch = epoch, 0
        if epoch == 0:
            self._record = None
        elif self._record is not None:
            self._record.horizon = float(self.params["epochs"])

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Look, where ``every`` says so."""
        if not self.every:
            return
        before, self._batch = self._batch, batch + 1
        done = self._epoch * self.params["steps"]
        if (done + self._batch) // self.every > (done + before) // self.every:
            self._look(self._epoch + self._batch / self.params["steps"])

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Look, unless ``every`` says when."""
        if not self.every:
            self._look(epoch + 1.0)

    def _look(self, time: float) -> None:
        positions = None
        if self.skip_decided and self._record is not None:
            positions = self._record.order(self.tau, self.rule).undecided
        nothing = positions is not None and not len(positions)
        probabilities = (
            np.zeros((0, len(self.record.classes))) if nothing else self._predict(positions)
        )
        if self._record is None:
            self._record = Record(
                self.codes, range(probabilities.shape[1]), horizon=float(self.params["epochs"])
            )
        self._record.observe(probabilities, time=time, positions=positions)
        if self.stop_when_done and self._record.order(self.tau, self.rule).done:
            self.model.stop_training = True

    def _predict(self, positions: np.ndarray | None) -> np.ndarray:
        """Class probabilities, (m, k)."""
        x = (
            self.x
            if positions is None
            else keras.tree.map_structure(lambda rows: rows[positions], self.x)
        )
        on_torch = keras.backend.backend() == "torch"
        training = self.model.training if on_torch else None
        with (
            KerasRandomness(0, torch_device("auto")).inside() if on_torch else nullcontext()
        ):  # its data loaders draw numbers
            outputs = self.model.predict(
                x, batch_size=self.batch_size, verbose=self.params.get("verbose", 0)
            )
        if on_torch:
            self.model.train(training)
        n = len(self.codes) if positions is None else len(positions)
        return self._probabilities(outputs, n)

    def _probabilities(self, outputs: Any, n: int) -> np.ndarray:
        shape = tuple(getattr(outputs, "shape", ()))
        if shape == (n,):
            outputs, shape = outputs[:, None], (n, 1)
        k = shape[1] if len(shape) == 2 and shape[0] == n else 0
        if max(k, 2 if k == 1 else 0) <= self.codes.max():
            found = f"of shape {shape}" if shape else f"a {type(outputs).__name__}"
            raise LopsError(
                f"the model's output is {found}; wanted {n} rows of scores, one a sample, of at least {self.codes.max() + 1} classes"
            )
        scores = np.asarray(outputs, dtype=np.float32)
        if self.from_logits:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1) if k == 1 else scores
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(scores / scores.sum(axis=1, keepdims=True))
        scores = np.concatenate([1 - scores, scores], axis=1) if k == 1 else scores
        off = np.abs(scores.sum(axis=1) - 1).max()
        if off > 0.02 or scores.min() < 0:  # half precision is off by less
            raise LopsError(
                f"the model's outputs are no probabilities: rows sum to as much as {off:.2g} from 1, the smallest is {scores.min():.2g}; "
                "wanted a softmax or sigmoid as the last layer, or from_logits=True"
            )
        return scores


def _codes(labels: Any) -> np.ndarray:
    """Pseudo-labels as (n,) int64."""
    found = np.asarray(labels.detach().cpu() if hasattr(labels, "detach") else labels)
    if found.ndim == 2 and found.shape[1] > 1:
        if not (((found == 0) | (found == 1)).all() and (found.sum(axis=1) == 1).all()):
            raise LopsError(
                f"labels have shape {found.shape} and are not one-hot; wanted exactly one 1 a row, or integers 0 to k-1"
            )
        return found.argmax(axis=1)
    if found.ndim == 2:
        found = found[:, 0]
    if found.ndim != 1 or not len(found):
        raise LopsError(
            f"labels have shape {found.shape}; wanted one integer a sample, or one-hot rows"
        )
    whole = found.dtype.kind in "iub" or (
        found.dtype.kind == "f" and np.isfinite(found).all() and (found == np.rint(found)).all()
    )
    if not whole or found.min() < 0:
        raise LopsError(
            f"labels of type {found.dtype} are not all integers from 0 on; wanted 0 to k-1: leave unlabelled samples out"
        )
    return found.astype(np.int64)


def _check_samples(x: Any, n: int) -> None:
    for rows in keras.tree.flatten(x):
        shape = tuple(getattr(rows, "shape", ()))
        if not shape:
            raise LopsError(
                f"x is or holds a {type(rows).__name__}; wanted an array, or a list or dict of arrays, with one row a sample"
            )
        if shape[0] != n:
            raise LopsError(
                f"x holds {shape[0]} rows and there are {n} labels; wanted one row a sample, in the same order"
            )
