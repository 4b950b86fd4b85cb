"""Keras's backend is the user's choice; randomness that stays local."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.keras_tools import KerasRandomness, import_keras

CHOICES = """
import importlib, json, os, sys
import lops_adapters, lops_adapters.probes
assert "keras" not in sys.modules and "KERAS_BACKEND" not in os.environ
from lops_adapters.core import LopsError
from lops_adapters.probes.keras_tools import import_keras
def seen(config=None, variable=None):
    for name in ("keras", "KERAS_BACKEND"):
        sys.modules.pop(name, None), os.environ.pop(name, None)
    path = os.path.join(os.environ["KERAS_HOME"], "keras.json")
    if os.path.exists(path):
        os.remove(path)
    if config is not None:
        open(path, "w").write(config)
    if variable is not None:
        os.environ["KERAS_BACKEND"] = variable
    found = import_keras().SEEN
    assert os.environ.get("KERAS_BACKEND") == variable
    assert import_keras().SEEN == found
    return found
print(seen())
print(seen(json.dumps({"backend": "absent_library"})))
print(seen(json.dumps({"backend": "jax"})))
print(seen(json.dumps({"backend": None})))
print(seen("no json"))
print(seen(variable="tensorflow"))
print(seen(variable=""))
sys.modules["keras"].SEEN = "imported before"
os.environ.pop("KERAS_BACKEND")
print(import_keras().SEEN)
"""


def test_the_users_backend_is_left_alone(tmp_path):
    """With a stand-in for Keras that notes which backend it was asked for."""
    (tmp_path / "keras.py").write_text(
        "import os\n__version__ = '3.9.0'\nSEEN = os.environ.get('KERAS_BACKEND')\n"
    )
    (tmp_path / "jax.py").write_text("")
    kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    environment = {**kept, "PYTHONPATH": str(tmp_path), "KERAS_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CHOICES],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [
        "torch", "torch", "None", "torch", "torch", "tensorflow", "torch", "imported before",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_fresh_installation_runs_on_torch(tmp_path):
    code = (
        "from lops_adapters.probes.keras_tools import import_keras; import os\n"
        "print(import_keras().backend.backend(), os.environ.get('KERAS_BACKEND'))"
    )
    kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    environment = {**kept, "KERAS_HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert run.stdout.split() == ["torch", "None"]


def test_keras_is_missing_or_old(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    message = r"this needs Keras 3, which is not installed; run: .* 'lops_adapters\[keras\]'"
    with pytest.raises(LopsError, match=message):
        import_keras()
    monkeypatch.setitem(sys.modules, "keras", type(sys)("keras"))
    sys.modules["keras"].__version__ = "2.15.0"
    with pytest.raises(LopsError, match=r"found Keras 2.15.0; wanted Keras 3"):
        import_keras()


@pytest.mark.parametrize("device", ["cpu", None])
def test_randomness_continues_its_own_sequence(device):
    import torch

    keras = import_keras()

    def draws(seed, meddle=False):
        local, drawn = KerasRandomness(seed, device and torch.device(device)), []
        for number in range(3):
            if meddle:
                random.seed(number)
                np.random.seed(number)
                keras.utils.set_random_seed(number)
            with local.inside():
                drawn.append(
                    (
                        random.random(),
                        np.random.random(),
                        float(keras.random.normal(())),
                        torch.rand(1).item() if device else 0,
                    )
                )
        return drawn

    first = draws(4)
    for sequence in list(zip(*first, strict=True))[: 4 if device else 3]:
        assert len(set(sequence)) == 3
    assert draws(4, meddle=True) == first != draws(5)
    draws(2**70)
