"""Training and prediction in micro-batches, each with its own dropout seed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from lops_adapters.encoders.torch_tools import (
    LocalRandomness,
    autocast,
    import_torch,
    resolve_device,
)


class Engine:
    """A device that trains and predicts; ``device`` as for the transformer probe."""

    def __init__(self, device: str = "auto") -> None:
        self._torch = import_torch()
        self.device = resolve_device(device)

    def computing(self) -> Any:
        """Return the autocast context for networks."""
        return autocast(self.device, "auto")

    def predict(
        self,
        batches: Sequence[np.ndarray],
        compute: Callable[[np.ndarray], np.ndarray],
        fill: np.ndarray,
    ) -> np.ndarray:
        """Compute rows for batches of positions and return ``fill`` with them.

        Batches are disjoint; ``compute(positions)`` returns one row per position, without
        gradients. Positions in no batch keep their rows.
        """
        with self._torch.inference_mode(), self.computing():
            for batch in batches:
                fill[batch] = compute(batch)
        return fill

    def step(
        self,
        network: Any,
        optimizer: Any,
        micro_batches: Sequence[np.ndarray],
        loss: Callable[[np.ndarray], Any],
        seed: Sequence[int],
    ) -> None:
        """Make one update with the summed gradients of the micro-batches, clipped at norm 1.

        The optimizer is of the network's parameters only. ``loss(positions)`` returns a scalar; the
        sum over the micro-batches, int64 positions, is the mean of the batch. The seed of dropout
        is unique to this update.
        """
        network.train()
        for number, positions in enumerate(micro_batches):
            with self.drawing((*seed, number)), self.computing():
                value = loss(positions)
            value.backward()
        parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self._torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    @contextmanager
    def drawing(self, seed: Sequence[int]) -> Iterator[None]:
        """Draw weights or dropout from a separate generator; the caller's state is unchanged."""
        number = int(np.random.SeedSequence(list(seed)).generate_state(1, np.uint64)[0])
        with LocalRandomness(number, self.device).inside():
            yield


def micro_batches(batch: np.ndarray, lengths: np.ndarray, size: int) -> list[np.ndarray]:
    """Cut a batch of positions into micro-batches of similar length, at most ``size`` samples each.

    >>> [part.tolist() for part in micro_batches(np.array([4, 1, 2]), np.array([0, 9, 3, 0, 5]), 2)]
    [[2, 4], [1]]
    """
    ordered = batch[np.argsort(lengths[batch], kind="stable")]
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def warm_up_then_fall(total: int) -> Callable[[int], float]:
    """Return the factor of the learning rate per update: a linear rise, then a linear fall to 0.

    The rise takes a tenth of the ``total`` updates.

    >>> factor = warm_up_then_fall(20)
    >>> [factor(step) for step in (0, 1, 2, 11, 20)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    rise = int(0.1 * total)

    def factor(step: int) -> float:
        return step / rise if step < rise else max(0.0, (total - step) / max(1, total - rise))

    return factor
