"""Training and prediction in one process, or in several under ``accelerate launch``.

Every process runs the same program. Work is cut into micro-batches that do not depend on the number
of processes p. Each process takes every p-th of them; gradients are summed, predictions gathered.
Every micro-batch has its own dropout seed. The result is therefore that of one process, up to the
order of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from lops_adapters import extras
from lops_adapters.encoders.torch_tools import (
    LocalRandomness,
    autocast,
    import_torch,
    resolve_device,
)

T = TypeVar("T")


class Engine:
    """The device of this process, and its work with other processes.

    Args:
        device: as for the transformer probe; of several processes on GPUs each has its own.

    Attributes:
        device: this process's torch device.
        main: whether this process writes files and messages.
        processes: number of processes.

    """

    def __init__(self, device: str = "auto") -> None:
        self._torch = import_torch()
        accelerate = extras.load("accelerate", "LOTClass", "lotclass")
        wanted = resolve_device(device)
        self._state = accelerate.PartialState(cpu=wanted.type == "cpu")
        self.processes: int = self._state.num_processes
        self.device = wanted if self.processes == 1 else self._state.device
        self.main: bool = self._state.is_main_process

    def computing(self) -> Any:
        """Return the autocast context for networks."""
        return autocast(self.device, "auto")

    def agree(self, value: T) -> T:
        """Return the main process's value in every process."""
        if self.processes == 1:
            return value
        from accelerate.utils import broadcast_object_list

        box = [value]
        broadcast_object_list(box)
        return box[0]

    def wait(self) -> None:
        """Wait for all processes."""
        self._state.wait_for_everyone()

    def own(self, items: Sequence[T]) -> Iterator[tuple[int, T]]:
        """Yield this process's items, with their numbers."""
        for number in range(self._state.process_index, len(items), self.processes):
            yield number, items[number]

    def predict(
        self,
        batches: Sequence[np.ndarray],
        compute: Callable[[np.ndarray], np.ndarray],
        fill: np.ndarray,
    ) -> np.ndarray:
        """Compute rows for batches of positions and return ``fill`` with them, in every process.

        Batches are disjoint; ``compute(positions)`` returns one row per position, without
        gradients. Positions in no batch keep their rows.
        """
        found = []
        with self._torch.inference_mode(), self.computing():
            for number, batch in self.own(batches):
                found.append((number, compute(batch)))
        for number, rows in self.gather(found):
            fill[batches[number]] = rows
        return fill

    def gather(self, part: list[T]) -> list[T]:
        """Return the lists of all processes as one, in every process."""
        if self.processes == 1:
            return part
        from accelerate.utils import gather_object

        return list(gather_object(part))

    def step(
        self,
        network: Any,
        optimizer: Any,
        micro_batches: Sequence[np.ndarray],
        loss: Callable[[np.ndarray], Any],
        seed: Sequence[int],
    ) -> None:
        """Make one update with the summed gradients of the micro-batches, clipped at norm 1.

        Args:
            network: torch module.
            optimizer: of its parameters only.
            micro_batches: int64 positions; together the batch.
            loss: ``loss(positions)`` returns a scalar; the sum over micro-batches is the mean of
                the batch.
            seed: of dropout, unique to this update.

        """
        network.train()
        for number, positions in self.own(micro_batches):
            with self.drawing((*seed, number)), self.computing():
                value = loss(positions)
            value.backward()
        parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self._sum_gradients(parameters)
        self._torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def _sum_gradients(self, parameters: Sequence[Any]) -> None:
        if self.processes == 1:
            return
        from accelerate.utils import reduce

        torch = self._torch
        grads = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in parameters
        ]
        total = reduce(torch.cat([grad.flatten() for grad in grads]), reduction="sum")
        for parameter, grad in zip(
            parameters, total.split([grad.numel() for grad in grads]), strict=True
        ):
            parameter.grad = grad.view_as(parameter)

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


def warm_up_then_fall(total: int, share: float = 0.1) -> Callable[[int], float]:
    """Return the factor of the learning rate per update: a linear rise, then a linear fall to 0.

    The rise takes ``share`` of the ``total`` updates.

    >>> factor = warm_up_then_fall(20)
    >>> [factor(step) for step in (0, 1, 2, 11, 20)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    rise = int(share * total)

    def factor(step: int) -> float:
        return step / rise if step < rise else max(0.0, (total - step) / max(1, total - rise))

    return factor
