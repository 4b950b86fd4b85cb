"""Compiled Keras models: targets, outputs, copying, saving and loading."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.keras_tools import import_keras

_AS_FUNCTION = "give a function that takes the number of classes and returns a new compiled model"


@dataclass(frozen=True)
class Head:
    """How the targets and the outputs of a compiled model are read.

    Attributes:
        n_classes: k.
        single: a single output unit, the probability or logit of class 1 of two.
        sparse: the loss takes class codes.
        logits: the outputs are scores before softmax or sigmoid.

    """

    n_classes: int
    single: bool
    sparse: bool
    logits: bool

    def targets(self, codes: np.ndarray, smoothing: float) -> np.ndarray:
        """Return the targets that the model's loss takes for class codes (b,).

        They are codes (b,) int32 for a sparse loss, otherwise (b, k) or (b, 1) float32 with
        smoothing.

        >>> Head(2, single=False, sparse=False, logits=False).targets(np.array([1]), 0.5)
        array([[0.25, 0.75]], dtype=float32)
        """
        if self.sparse:
            return codes.astype(np.int32)
        soft = np.full((len(codes), self.n_classes), smoothing / self.n_classes, dtype=np.float32)
        soft[np.arange(len(codes)), codes] += 1.0 - smoothing
        return self.soft_targets(soft)

    def soft_targets(self, soft: np.ndarray) -> np.ndarray:
        """Return the targets that :meth:`soft_loss` takes for soft labels (b, k)."""
        return soft[:, 1:] if self.single else soft

    def soft_loss(self) -> Any:
        """Return KL divergence to soft labels.

        For logits or a single unit it is the cross-entropy, which has the same gradient.
        """
        losses = import_keras().losses
        if self.single:
            return losses.BinaryCrossentropy(from_logits=self.logits)
        if self.logits:
            return losses.CategoricalCrossentropy(from_logits=True)
        return losses.KLDivergence()

    def probabilities(self, outputs: Any) -> np.ndarray:
        """Return class probabilities, (b, k) float32, of a model's outputs (b, k) or (b, 1).

        Raises:
            LopsError: the outputs are no probabilities, and the loss does not say from_logits=True.

        """
        scores = np.asarray(outputs).astype(np.float32)
        if self.logits:  # with one unit, its sigmoid equals the softmax over it and 0
            scores = np.hstack([np.zeros_like(scores), scores]) if self.single else scores
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            return scores / scores.sum(axis=1, keepdims=True)
        if self.single:
            scores = np.hstack([1.0 - scores, scores])
        sums = scores.sum(axis=1, keepdims=True)
        if (scores < 0).any() or (np.abs(sums - 1.0) > 0.02).any():
            raise LopsError(
                f"the model's outputs are no probabilities (first row: {scores[0].tolist()[:5]}); "
                "wanted a softmax (one unit: a sigmoid) as the last layer, or a Keras loss with "
                "from_logits=True"
            )
        return scores / sums


def read_loss(model: Any, smoothing: float) -> tuple[bool, bool]:
    """Return whether a compiled model's loss takes class codes, and whether it takes logits.

    Raises:
        LopsError: not a model, not compiled, more than one loss, or smoothing with a loss that
            takes class codes.

    """
    keras = import_keras()
    if not isinstance(model, keras.Model):
        raise LopsError(
            f"model is {model!r}; wanted a compiled Keras model, or a function that takes the "
            "number of classes and returns one"
        )
    if not model.compiled or model.loss is None:
        raise LopsError(
            f"the Keras model {model.name!r} is not compiled with a loss; "
            "call its compile(optimizer=..., loss=...) first"
        )
    found = model.loss
    if isinstance(found, dict | list | tuple):
        parts = list(found.values()) if isinstance(found, dict) else list(found)
        if len(parts) != 1:
            raise LopsError(
                f"the Keras model {model.name!r} has {len(parts)} losses; "
                "wanted one output with one loss"
            )
        found = parts[0]
    loss = keras.losses.get(found)
    sparse = (
        isinstance(loss, keras.losses.SparseCategoricalCrossentropy)
        or loss is keras.losses.sparse_categorical_crossentropy
    )
    if sparse and smoothing:
        raise LopsError(
            f"smoothing is {smoothing}, but the loss of the Keras model {model.name!r} takes class "
            "codes; wanted smoothing=0, or a loss that takes one probability per class, such as "
            "categorical_crossentropy"
        )
    logits = isinstance(loss, keras.losses.Loss) and loss.get_config().get("from_logits", False)
    return sparse, bool(logits)


def copy_of(model: Any) -> Any:
    """Return a copy of a compiled model: layers, weights and compile configuration.

    Its optimizer starts afresh.

    Raises:
        LopsError: Keras cannot copy the model.

    """
    keras = import_keras()
    try:
        copied = keras.models.clone_model(model)
        copied.set_weights(model.get_weights())
        copied.compile_from_config(model.get_compile_config())
    except Exception as error:  # custom layers, models, losses and metrics can raise anything
        raise LopsError(
            f"Keras cannot copy the model {model.name!r} ({_first_line(error)}); {_AS_FUNCTION}"
        ) from error
    if type(copied) is not type(model) or not copied.compiled:
        raise LopsError(
            f"Keras copies the model {model.name!r} without what its class {type(model).__name__} "
            f"adds; {_AS_FUNCTION}"
        )
    return copied


def set_learning_rate(model: Any, learning_rate: float) -> None:
    """Set the learning rate of a compiled model; raise a LopsError if it has a schedule."""
    try:
        model.optimizer.learning_rate = learning_rate
    except TypeError:
        raise LopsError(
            f"learning_rate is {learning_rate}, but the model's optimizer has a schedule; "
            "wanted learning_rate=None"
        ) from None


def read_head(model: Any, row: Any, n_classes: int, smoothing: float) -> Head:
    """Return how to read a compiled model's outputs, after a trial on one encoded sample.

    Raises:
        LopsError: the model does not take the sample, its number of outputs is not the number of
            classes, or what :func:`read_loss` refuses.

    """
    sparse, logits = read_loss(model, smoothing)
    try:
        outputs = model.predict_on_batch(row)
    except Exception as error:  # layers can raise anything
        raise LopsError(
            f"the Keras model {model.name!r} does not take an encoded sample "
            f"({_first_line(error)}); wanted an `encode` that returns the model's inputs, "
            "one row per sample"
        ) from error
    shape = getattr(outputs, "shape", None)
    single = shape == (1, 1) and n_classes == 2 and not sparse
    if shape != (1, n_classes) and not single:
        found = f"outputs of shape {shape}" if shape else f"{len(outputs)} outputs"
        raise LopsError(
            f"the Keras model {model.name!r} gives {found} for one sample; "
            f"wanted (1, {n_classes}), one per class. "
            f"If the number of classes varies, {_AS_FUNCTION}"
        )
    head = Head(n_classes, single, sparse, logits)
    head.probabilities(outputs)
    return head


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def save_model(model: Any, path: Path) -> None:
    """Write a model in Keras's own format, without the date, so equal models make equal files."""
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(parts["metadata.json"])
    metadata.pop("date_saved", None)
    parts["metadata.json"] = json.dumps(metadata).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)


def load_model(path: Path) -> Any:
    """Read a model that :func:`save_model` wrote, compiled as it was.

    Raises:
        LopsError: Keras cannot rebuild it.

    """
    import lops_adapters.probes.keras_networks  # noqa: F401  # registers the text CNN's layers

    try:
        return import_keras().saving.load_model(path)
    except Exception as error:  # custom layers can raise anything
        raise LopsError(
            f"{path} cannot be loaded ({_first_line(error)}); register custom layers, losses and "
            "functions with keras.saving.register_keras_serializable first"
        ) from error
