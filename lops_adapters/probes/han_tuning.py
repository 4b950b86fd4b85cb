"""Self-training of the HAN probe: updates towards soft labels, and weights out and in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lops_adapters.encoders.torch_tools import LocalRandomness, import_torch
from lops_adapters.probes.tuning import Tunable, check_targets, check_tuning, check_weights

Document = list[np.ndarray]  # one array of word indices per sentence


class TunableHan(Tunable):
    """The part of the HAN probe that self-training uses."""

    _network: Any
    _device: Any

    @abstractmethod
    def _build(self, n_classes: int, seed: int) -> Any:
        """Return an untrained network."""

    @abstractmethod
    def _learn(self, optimizer: Any, prepared: Any, batch: np.ndarray, codes: np.ndarray) -> None:
        """Make one update."""

    def tuner(
        self, *, learning_rate: float, momentum: float, decay: float
    ) -> Callable[[list[Document], np.ndarray, np.ndarray], None]:
        """Return a function that makes one update, see :meth:`Tunable.tuner`."""
        if self._network is None:
            raise self._untrained()
        check_tuning(learning_rate, momentum, decay)
        optimizer = import_torch().optim.SGD(
            trainable(self._network), lr=learning_rate, momentum=momentum
        )
        n_classes, done = self._network.output.out_features, 0

        def update(prepared: list[Document], positions: np.ndarray, targets: np.ndarray) -> None:
            nonlocal done
            soft = check_targets(positions, targets, n_classes)
            optimizer.param_groups[0]["lr"] = learning_rate / (1 + decay * done)
            self._learn(optimizer, [prepared[i] for i in positions], np.arange(len(soft)), soft)
            done += 1

        return update

    def trainable_weights(self) -> list[np.ndarray]:
        """Return copies of the trainable weights, without frozen word vectors."""
        if self._network is None:
            raise self._untrained()
        return [parameter.detach().cpu().numpy().copy() for parameter in trainable(self._network)]

    def restore(self, weights: Sequence[np.ndarray], n_classes: int, seed: int = 0) -> TunableHan:
        """Build the network with weights, see :meth:`Tunable.restore`."""
        torch = import_torch()
        with LocalRandomness(seed, self._device).inside():
            network = self._build(n_classes, seed)
        parameters = trainable(network)
        check_weights(weights, [tuple(parameter.shape) for parameter in parameters])
        with torch.no_grad():
            for parameter, weight in zip(parameters, weights, strict=True):
                parameter.copy_(torch.tensor(weight))
        self._network = network
        return self


def trainable(network: Any) -> list[Any]:
    """Return the parameters that training changes."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]
