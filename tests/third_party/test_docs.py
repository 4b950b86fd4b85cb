"""docs/copy-core.md: its loops run; docs/vendoring.md: its insertions are those of the patches."""

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.core import LearningOrder
from lops_adapters.vendoring import upstreams

from .checkouts import hunks_of

DOCS = Path(upstreams.HERE).parents[1] / "docs"
LOOPS = DOCS / "copy-core.md"
PATCHES = (DOCS / "vendoring.md").read_text(encoding="utf-8")


def test_loops_run():
    import torch

    with torch.random.fork_rng():
        done = doctest.testfile(
            str(LOOPS), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
        )
    assert done.failed == 0
    assert done.attempted > 20


def test_jax_loop():
    text = LOOPS.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(import jax\n.*?)```", text, re.DOTALL)
    program = compile(code, "jax", "exec")
    if find_spec("jax") is None:
        pytest.skip("JAX is not installed; its loop was only compiled")
    labels = np.repeat([0, 1], 50)
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(100, 4)) + 2.0 * labels[:, None] - 1.0).astype("float32")
    scope = {"np": np, "rng": rng, "x": x, "labels": labels, "LearningOrder": LearningOrder}
    exec(program, scope)
    assert len(scope["selection"].kept) > 80


@pytest.mark.parametrize("name", upstreams.names())
def test_insertions_are_as_written(name):
    upstream = upstreams.load(name)
    inserted = hunks_of(upstream)
    row = PATCHES[PATCHES.index(f"| {upstream.title} | `{upstream.file}`") :]
    written = re.findall(
        r"\d+", "".join(line.split("|")[3] for line in row.splitlines()[: len(inserted) - 1])
    )
    assert [int(number) for number in written] == [hunk.line for hunk in inserted]
