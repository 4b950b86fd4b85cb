"""Copied files and patched programs under Python 3.6 and 3.7 with the numpy of their time.

LOPS_OLD_PYTHONS names interpreters that have numpy, separated by colons; make test-integrations
sets it where the machine has Python 3.6 or 3.7. The repositories' own libraries are not installed
there: a network of numpy alone stands for theirs.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lops_adapters.vendoring import patching, upstreams

from .checkouts import NAMES, real_checkout

OLD = [path for path in os.environ.get("LOPS_OLD_PYTHONS", "").split(":") if path]
PROGRAM = """
import numpy as np
import lops_shared

class Network:
    weights = np.zeros((50, 3))

    def scores(self, x):
        bags = np.stack([np.bincount(row, minlength=50) for row in x]).astype(float)
        scores = np.exp(bags.dot(self.weights))
        return bags, scores / scores.sum(axis=1, keepdims=True)

    def predict_on_batch(self, x):
        return self.scores(x)[1].astype("float32")

    def train_on_batch(self, x, targets):
        bags, scores = self.scores(x)
        self.weights = self.weights + 0.01 * bags.T.dot(targets - scores)

labels = np.arange(90) % 3
x = 1 + 12 * labels[:, None] + (np.arange(90)[:, None] * np.arange(1, 9) ** 2) % 17
labels[::7] = (labels[::7] + 1) % 3
settings = lops_shared.read_settings(epochs=4)
selection = lops_shared.select_with_keras(Network(), x, np.eye(3)[labels], settings, 16)
assert 0 < len(selection.kept) < 90
"""


@pytest.fixture(params=OLD or [None])
def old(request):
    if request.param is None:
        pytest.skip("LOPS_OLD_PYTHONS names no interpreter, see make test-integrations")
    return request.param


def run(python, folder, *arguments, **environment):
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("rule", ["ranked", "released"])
def test_selections_are_those_of_today(old, tmp_path, rule):
    written = []
    for python in (old, sys.executable):
        folder = tmp_path / str(len(written))
        folder.mkdir()
        for path, (_, text) in upstreams.load("conwea").companions().items():
            (folder / path).write_text(text, encoding="utf-8")
        run(python, folder, "-m", "doctest", "lops_core.py")
        settings = {"LOPS": "1", "LOPS_RULE": rule, "LOPS_OUT": "kept.txt"}
        run(python, folder, "-c", PROGRAM, **settings)
        written.append((folder / "kept.txt").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("name", NAMES)
def test_copied_files_and_patched_programs_compile(old, tmp_path, name):
    for path, (_, text) in upstreams.load(name).companions().items():
        (tmp_path / Path(path).name).write_text(text, encoding="utf-8")
    run(old, tmp_path, "-m", "compileall", "-q", ".", PYTHONIOENCODING="utf-8")
    root = real_checkout(name, tmp_path)
    patching.apply(root, upstreams.load(name))
    run(old, root, "-m", "py_compile", upstreams.load(name).file)
