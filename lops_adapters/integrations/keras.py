"""Learning order inside your own ``model.fit`` (Keras 3).

The model is the probe: train a new one on the kept samples::

    from lops_adapters.integrations.keras import LopsCallback

    callback = LopsCallback(x, pseudo_labels)
    model.fit(x, pseudo_labels, epochs=4, callbacks=[callback])
    selection = callback.record.select(keep=0.5)
    clean = x[selection.kept]
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.integrations.watcher import Watcher, read_codes
from lops_adapters.probes.keras_tools import KerasRandomness, import_keras, torch_device

__all__ = ["LopsCallback"]
keras: Any = import_keras()  # chooses a backend, and says what to install


class LopsCallback(Watcher, keras.callbacks.Callback):
    """Records the order in which ``model.fit`` learns its samples: predicts them after every epoch.

    The training is not affected: ``model.predict`` changes no weight, and the global random
    generators are restored. ``fit(..., initial_epoch=...)`` continues the record; a training that
    begins at epoch 0 begins a new one.

    Args:
        x: the N training samples as ``model.predict`` takes them: an array, or a list or dict of
            arrays, with one row per sample.
        labels: pseudo-labels by position in ``x``: (N,) or (N, 1) integers 0..k-1, or (N, k)
            one-hot rows.
        from_logits: whether the model's last layer has no activation. Otherwise it gives
            probabilities: a softmax of k columns, or a sigmoid of one column, the probability of
            class 1.
        every: batches between checkpoints. Default: one checkpoint per epoch.
        batch_size: of the predictions; as for ``model.predict``.
        method, keep: used by ``skip_decided`` and ``stop_when_done``: one of
            :data:`lops_adapters.core.RULES`, and the fraction of each class.
        skip_decided: predict only samples that can still change the selection by this method.
        stop_when_done: stop the training when further predictions cannot change the selection for
            this method.

    Raises:
        LopsError: samples that are not arrays or of another length than the labels, unusable
            labels, numbers out of range; at the first checkpoint, outputs that are not scores or
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
        method: str = "released",
        keep: float = 0.5,
        skip_decided: bool = False,
        stop_when_done: bool = False,
    ) -> None:
        super().__init__(
            _codes(labels),
            every=every,
            method=method,
            keep=keep,
            skip_decided=skip_decided,
            stop_when_done=stop_when_done,
        )
        _check_samples(x, len(self.codes))
        self.x = x
        self.from_logits = from_logits
        self.batch_size = batch_size
        self._epoch = 0
        self._batch = 0  # batches done in this epoch

    def on_train_begin(self, logs: Any = None) -> None:
        """Check that batches can be counted if ``every`` needs it."""
        if self.every and not self.params.get("steps"):
            raise LopsError(
                f"every is {self.every} and fit() does not know how many batches an epoch "
                "has; pass steps_per_epoch to fit()"
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin a new record with the first epoch."""
        self._epoch, self._batch = epoch, 0
        if epoch == 0:
            self.found = None
        elif self.found is not None:
            self.found.horizon = float(self.params["epochs"])

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Record a checkpoint if ``every`` makes one due."""
        if not self.every:
            return
        previous, self._batch = self._batch, batch + 1
        done = self._epoch * self.params["steps"]
        if (done + self._batch) // self.every > (done + previous) // self.every:
            self._look(self._epoch + self._batch / self.params["steps"])

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Record a checkpoint, unless ``every`` says when."""
        if not self.every:
            self._look(epoch + 1.0)

    def _look(self, time: float) -> None:
        if self.look(self._predict, time=time, horizon=float(self.params["epochs"])):
            self.model.stop_training = True

    def _predict(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.x
        if positions is not None:
            x = keras.tree.map_structure(lambda rows: rows[positions], self.x)
        on_torch = keras.backend.backend() == "torch"
        training = self.model.training if on_torch else None
        # Keras' data loaders on torch draw random numbers.
        kept = KerasRandomness(0, torch_device("auto")).inside() if on_torch else nullcontext()
        with kept:
            verbose = self.params.get("verbose", 0)
            outputs = self.model.predict(x, batch_size=self.batch_size, verbose=verbose)
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
            shown = f"of shape {shape}" if shape else f"a {type(outputs).__name__}"
            raise LopsError(
                f"the model's output is {shown}; wanted {n} rows of scores, one per sample, of at "
                f"least {self.codes.max() + 1} classes"
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
                f"the model's outputs are not probabilities: rows sum to as much as {off:.2g} from "
                f"1, the smallest is {scores.min():.2g}; wanted a softmax or sigmoid as the last "
                "layer, or from_logits=True"
            )
        return scores


def _codes(labels: Any) -> np.ndarray:
    rows = np.asarray(labels.detach().cpu() if hasattr(labels, "detach") else labels)
    if rows.ndim != 2 or rows.shape[1] < 2:
        return read_codes(rows, floats=True)
    if not (((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all()):
        raise LopsError(
            f"labels have shape {rows.shape} and are not one-hot; wanted exactly one 1 per row, or "
            "integers 0 to k-1"
        )
    return rows.argmax(axis=1)


def _check_samples(x: Any, n: int) -> None:
    for rows in keras.tree.flatten(x):
        shape = tuple(getattr(rows, "shape", ()))
        if not shape:
            raise LopsError(
                f"x is or holds a {type(rows).__name__}; wanted an array, or a list or dict of "
                "arrays, with one row per sample"
            )
        if shape[0] != n:
            raise LopsError(
                f"x holds {shape[0]} rows and there are {n} labels; wanted one row per sample, in "
                "the same order"
            )
