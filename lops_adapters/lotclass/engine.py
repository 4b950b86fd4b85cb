"""The engine of all training and prediction: one process, or several under ``accelerate launch``,
with the same outcome.

Every process runs the same program. Work is cut into micro-batches that do not depend on how many
processes there are; each process takes every so-manieth of them, and gradients or predictions are
put together. Dropout is drawn for each micro-batch by itself, so that the outcome is that of one
process up to the order of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.torch_tools import LocalRandomness, autocast, import_torch, resolve_device

T = TypeVar("T")


class Engine:
    """Where work is done, and the other processes that share it.

    Args:
        device: as for the transformer probe; with several processes on GPUs each takes its own.
        precision: as for the transformer probe.

    Attributes:
        device: this process's torch device.
        main: whether this process is the one that writes and talks.
        processes: how many there are.

    """

    def __init__(self, device: str = "auto", precision: str = "auto") -> None:
        self._torch = import_torch()
        try:
            from accelerate import PartialState
        except ImportError:
            raise LopsError(
                "this needs Accelerate, which is not installed; run: pip install 'lops_adapters[lotclass]'"
            ) from None
        wanted = resolve_device(device)
        self._state = PartialState(cpu=wanted.type == "cpu")
        self.processes: int = self._state.num_processes
        self.device = wanted if self.processes == 1 else self._state.device
        self.main: bool = self._state.is_main_process
        self.precision = precision
        autocast(self.device, precision)  # complains now

    def computing(self) -> Any:
        """Return the context in which networks compute."""
        return autocast(self.device, self.precision)

    def agree(self, value: T) -> T:
        """Return the main process's value in every process."""
        if self.processes == 1:
            return value
        from accelerate.utils import broadcast_object_list

        box = [value]
        broadcast_object_list(box)
        return box[0]

    def wait(self) -> None:
        """Wait until every process is here."""
        self._state.wait_for_everyone()

    def own(self, items: Sequence[T]) -> Iterator[tuple[int, T]]:
        """Yield this process's share of the items, with their numbers."""
        for number in range(self._state.process_index, len(items), self.processes):
            yield number, items[number]

    def predict(
        self,
        batches: Sequence[np.ndarray],
        compute: Callable[[np.ndarray], np.ndarray],
        fill: np.ndarray,
    ) -> np.ndarray:
        """Compute on batches of positions and return ``fill`` with their rows put in, the same in
        every process.

        Args:
            batches: int64 positions, disjoint.
            compute: ``compute(positions)`` returns a row a position; run without gradients.
            fill: rows of the result that no batch holds, and its shape and dtype.

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
        """Make one update: gradients of the micro-batches' losses, summed, clipped at norm 1,
        applied.

        Args:
            network: torch module.
            optimizer: of its parameters, and no others.
            micro_batches: int64 positions; together the batch.
            loss: ``loss(positions)`` returns a scalar, already divided so that the sum over
                micro-batches is the batch's mean.
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
        """Draw weights or dropout from a generator of its own inside; the caller's is as before
        afterwards.
        """
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
    """Return the learning rate's factor at each update: a linear rise over the first share of
    ``total``, a linear fall to zero.

    >>> factor = warm_up_then_fall(20)
    >>> [factor(step) for step in (0, 1, 2, 11, 20)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    rise = int(share * total)
    return lambda step: (
        step / rise if step < rise else max(0.0, (total - step) / max(1, total - rise))
    )
