"""What the Keras models share: the import, devices, local randomness, batches of arrays."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.encoders.torch_tools import LocalRandomness, resolve_device

if TYPE_CHECKING:
    import torch


def import_keras() -> Any:
    """Return the keras module, with PyTorch as the backend unless the user has chosen one.

    The user has chosen if Keras is already imported, if KERAS_BACKEND is set, or if ``keras.json``
    names an installed backend. (Keras itself writes a ``keras.json`` that names TensorFlow, so a
    backend that is not installed does not count.)
    """
    backend = os.environ.get("KERAS_BACKEND")
    if "keras" not in sys.modules and not _backend_is_chosen():
        os.environ["KERAS_BACKEND"] = "torch"
    try:
        keras = extras.load("keras", "this")
    finally:
        os.environ.pop("KERAS_BACKEND", None)
        if backend is not None:
            os.environ["KERAS_BACKEND"] = backend
    if keras.__version__[:2] in ("1.", "2."):
        raise LopsError(
            f"found Keras {keras.__version__}; wanted Keras 3; "
            f"run: pip install {extras.with_extras('keras')}"
        )
    return keras


def _backend_is_chosen() -> bool:
    if os.environ.get("KERAS_BACKEND"):
        return True
    folder = os.environ.get("KERAS_HOME") or Path("~/.keras").expanduser()
    try:
        text = (Path(folder).expanduser() / "keras.json").read_text(encoding="utf-8")
        named = json.loads(text).get("backend")
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(named, str) and importlib.util.find_spec(named) is not None


def torch_device(name: str) -> torch.device | None:
    """Return the PyTorch device called ``name``; None if Keras runs on another backend.

    Other backends choose their device themselves.
    """
    return resolve_device(name) if import_keras().backend.backend() == "torch" else None


def device_scope(device: torch.device | None) -> Any:
    """Return the context in which Keras uses a PyTorch device; None: the backend's choice."""
    return nullcontext() if device is None else import_keras().device(str(device))


class KerasRandomness:
    """The global random generators that Keras models use, borrowed.

    Inside ``with`` they continue this object's own sequence.

    Initial weights and dropout take their seeds from Python's ``random``, unseeded operations from
    Keras's own generator, and layers may use numpy's or PyTorch's. Outside, all of them keep the
    caller's states.
    """

    def __init__(self, seed: int, device: torch.device | None) -> None:
        self._torch = None if device is None else LocalRandomness(seed, device)
        python = random.Random(seed).getstate()
        numpy = np.random.RandomState(seed % 2**32).get_state()
        # None: Keras makes its own generator, seeded from `random`, when it first needs one.
        self._own = (python, numpy, None)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Continue this object's own sequence; restore the caller's generators at the end."""
        theirs = _states()
        with nullcontext() if self._torch is None else self._torch.inside():
            _restore(self._own)
            try:
                yield
            finally:
                self._own = _states()
                _restore(theirs)


def _states() -> tuple[Any, Any, Any]:
    # No public name reaches the generator behind unseeded operations.
    from keras.src.backend.common import global_state

    of_keras = global_state.get_global_attribute("global_seed_generator")
    return random.getstate(), np.random.get_state(), of_keras


def _restore(states: tuple[Any, Any, Any]) -> None:
    from keras.src.backend.common import global_state

    random.setstate(states[0])
    np.random.set_state(states[1])
    global_state.set_global_attribute("global_seed_generator", states[2])
