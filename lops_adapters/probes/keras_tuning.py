"""Self-training of the Keras probe: updates towards soft labels, and weights out and in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes import keras_models as models
from lops_adapters.probes import keras_tools as tools
from lops_adapters.probes.base import Probe
from lops_adapters.probes.tuning import check_targets, check_tuning, check_weights

_Probe = TypeVar("_Probe", bound="TunableKeras")


class TunableKeras(Probe):
    """The part of the Keras probe that self-training uses."""

    model: Any
    _trained: Any
    _head: Any
    _device: Any

    @abstractmethod
    def _inside(self, randomness: tools.KerasRandomness) -> AbstractContextManager[None]:
        """Return the context in which models are made and run."""

    @abstractmethod
    def _fresh(self, n_classes: int, seed: int) -> Any:
        """Return an untrained model."""

    @abstractmethod
    def _inputs(self, prepared: Any, positions: np.ndarray) -> Any:
        """Return the model's inputs for samples."""

    def tuner(
        self, *, learning_rate: float, momentum: float, decay: float
    ) -> Callable[[Any, np.ndarray, np.ndarray], None]:
        """Return a function that makes one update of the trained model towards soft labels.

        Self-training uses it.

        Args:
            learning_rate: of a fresh SGD, which replaces the model's optimizer; the step size is
                learning_rate / (1 + decay * updates done).
            momentum: of the SGD, at least 0 and below 1.
            decay: see learning_rate; at least 0.

        Returns:
            ``update(prepared, positions, targets)``: on the samples at ``positions``, (b,) int,
            towards ``targets``, (b, k) float, by KL divergence.

        Raises:
            LopsError: untrained, a setting out of range, or (in an update) targets of another
                shape.

        """
        if self._trained is None:
            raise self._untrained()
        check_tuning(learning_rate, momentum, decay)
        keras = tools.import_keras()
        model, head = self._trained, self._head
        randomness = tools.KerasRandomness(0, self._device)
        with self._inside(randomness):
            rate = keras.optimizers.schedules.InverseTimeDecay(
                learning_rate, decay_steps=1, decay_rate=decay, name="rate"
            )
            sgd = keras.optimizers.SGD(rate, momentum=momentum, name="sgd")
            # metrics=None would keep the model's metrics, which may take class codes.
            model.compile(optimizer=sgd, loss=head.soft_loss(), metrics=[])

        def update(prepared: Any, positions: np.ndarray, targets: np.ndarray) -> None:
            soft = check_targets(positions, targets, head.n_classes)
            with self._inside(randomness):
                model.train_on_batch(self._inputs(prepared, positions), head.soft_targets(soft))

        return update

    def trainable_weights(self) -> list[np.ndarray]:
        """Return copies of the text CNN's trainable weights in a fixed order.

        Frozen word vectors are left out.

        Raises:
            LopsError: untrained, or the model was given.

        """
        self._only_text_cnn()
        if self._trained is None:
            raise self._untrained()
        to_numpy = tools.import_keras().ops.convert_to_numpy
        return [np.array(to_numpy(variable)) for variable in self._trained.trainable_variables]

    def restore(
        self: _Probe, weights: Sequence[np.ndarray], n_classes: int, seed: int = 0
    ) -> _Probe:
        """Build the text CNN with weights of :meth:`trainable_weights`; return the probe itself.

        Without ``vectors``, call :meth:`prepare` with ``fit=True`` first.

        Raises:
            LopsError: the weights do not have this network's shapes, or the model was given.

        """
        self._only_text_cnn()
        with self._inside(tools.KerasRandomness(seed, self._device)):
            model = self._fresh(n_classes, seed)
            shapes = [tuple(variable.shape) for variable in model.trainable_variables]
            check_weights(weights, shapes)
            for variable, weight in zip(model.trainable_variables, weights, strict=True):
                variable.assign(weight)
        self._trained = model
        self._head = models.Head(n_classes, single=False, sparse=False, logits=False)
        return self

    def _only_text_cnn(self) -> None:
        if self.model is not None:
            raise LopsError(
                "trainable_weights() and restore() are for the text CNN; "
                "save() and load() keep a given model"
            )
