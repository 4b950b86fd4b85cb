"""What the PyTorch models share: device, precision, local randomness, batches by length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import LopsError

if TYPE_CHECKING:
    import torch


def import_torch() -> Any:
    """Return the torch module; raise a LopsError that names the extra if it is not installed."""
    return extras.load("torch", "this")


def resolve_device(name: str = "auto") -> torch.device:
    """Return the device called ``name``; ``auto`` takes CUDA, then Apple's MPS, then the CPU.

    >>> str(resolve_device("cpu"))
    'cpu'
    """
    torch = import_torch()
    if name == "auto":
        name = "mps" if torch.backends.mps.is_available() else "cpu"
        if torch.cuda.is_available():
            name = "cuda"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise LopsError(
            f"device {name!r} cannot be used ({str(error).splitlines()[0]}); "
            "wanted auto, cpu, cuda, cuda:N or mps"
        ) from None
    return device


def device_name(name: str = "auto") -> str:
    """Return :func:`resolve_device` as a string; without torch, for what needs none, ``cpu``.

    >>> device_name("cpu")
    'cpu'
    """
    if name in ("auto", "cpu") and extras.find_spec("torch") is None:
        return "cpu"
    return str(resolve_device(name))


def has_bfloat16(device: torch.device) -> bool:
    """Return whether the hardware computes in bfloat16 (emulated, it is slower than float32)."""
    torch = import_torch()
    if device.type == "cuda":
        return bool(torch.cuda.get_device_capability(device) >= (8, 0))
    if device.type == "cpu":
        # Older versions than torch 2.12 do not tell.
        capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
        return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
    return False


def uses_bfloat16(device: torch.device | None, precision: str) -> bool:
    """Return whether a model computes in bfloat16; without a device, only if told to.

    ``precision`` is ``bfloat16``, ``float32`` or ``auto`` (bfloat16 if the hardware has it).
    """
    if precision not in ("auto", "bfloat16", "float32"):
        raise LopsError(f"precision is {precision!r}; wanted auto, bfloat16 or float32")
    hardware = precision == "auto" and device is not None and has_bfloat16(device)
    return precision == "bfloat16" or hardware


def autocast(device: torch.device, precision: str) -> Any:
    """Return the context in which a model computes, see :func:`uses_bfloat16`."""
    torch = import_torch()
    enabled = uses_bfloat16(device, precision)
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)


def adamw(parameters: Iterable[Any], learning_rate: float, weight_decay: float = 0.0) -> Any:
    """Return AdamW, fused on a processor and on CUDA: a quarter of the time per step."""
    owned = list(parameters)
    fused = all(parameter.device.type in ("cpu", "cuda") for parameter in owned)
    return import_torch().optim.AdamW(
        owned, lr=learning_rate, weight_decay=weight_decay, fused=fused
    )


class LocalRandomness:
    """PyTorch's global generators, borrowed.

    Inside ``with`` they continue this object's own sequence, outside the caller's.

    Initial weights and dropout always draw from the global generators. To leave these unchanged,
    their state is swapped in and out.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self._torch = import_torch()
        self._device = device
        # torch.manual_seed would seed the generators of all devices.
        devices = {"cpu", str(device)}
        self._own = {
            name: self._torch.Generator(name).manual_seed(seed % 2**63).get_state()
            for name in devices
        }

    def _states(self) -> dict[str, Any]:
        states = {"cpu": self._torch.get_rng_state()}
        if self._device.type == "cuda":
            states[str(self._device)] = self._torch.cuda.get_rng_state(self._device)
        elif self._device.type == "mps":
            states[str(self._device)] = self._torch.mps.get_rng_state()
        return states

    def _restore(self, states: dict[str, Any]) -> None:
        self._torch.set_rng_state(states["cpu"])
        if self._device.type == "cuda":
            self._torch.cuda.set_rng_state(states[str(self._device)], self._device)
        elif self._device.type == "mps":
            self._torch.mps.set_rng_state(states[str(self._device)])

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Restore the caller's state at the end, also after an error."""
        theirs = self._states()
        try:
            yield
        finally:
            self._restore(theirs)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Continue this object's own sequence."""
        with self.outside():
            self._restore(self._own)
            try:
                yield
            finally:
                self._own = self._states()


def training_batches(
    lengths: np.ndarray, batch_size: int, rng: np.random.Generator, pool: int = 32
) -> list[np.ndarray]:
    """Cut a random order into batches of samples of similar length, to keep padding small.

    The order is random in two ways: which samples share a pool of ``pool`` batches, and the order
    of all batches. Ties of length keep the pool's random order. A pool is at most a quarter of the
    samples: if it held all, every epoch would have the same batches. It has four batches all the
    same, or ``pool`` if that is fewer. ``pool=1`` gives random batches.

    >>> rng = np.random.default_rng(0)
    >>> sorted(np.concatenate(training_batches(np.array([5, 1, 4, 2, 3]), 2, rng)).tolist())
    [0, 1, 2, 3, 4]
    """
    order = rng.permutation(len(lengths))
    quarter = len(lengths) // (4 * batch_size)
    size = batch_size * min(pool, max(4, quarter))
    pools = [order[start : start + size] for start in range(0, len(order), size)]
    order = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in pools])
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def prediction_batches(lengths: np.ndarray, positions: np.ndarray, budget: int) -> list[np.ndarray]:
    """Cut positions, longest first, into batches of at most ``budget`` padded tokens.

    The padded size is samples times longest. A single sample may exceed the budget.

    >>> lengths = np.array([2, 9, 3, 3])
    >>> [batch.tolist() for batch in prediction_batches(lengths, np.arange(4), budget=9)]
    [[1], [2, 3, 0]]
    """
    ordered = positions[np.argsort(-lengths[positions], kind="stable")]
    batches, start = [], 0
    while start < len(ordered):
        size = max(1, budget // max(1, int(lengths[ordered[start]])))
        batches.append(ordered[start : start + size])
        start += size
    return batches
