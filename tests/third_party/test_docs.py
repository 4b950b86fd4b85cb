"""docs/copy-core.md: its loops run; docs/vendoring.md: its insertions are those of the patches."""

import re
from importlib.util import find_spec

import numpy as np
import pytest

from lops_adapters import shipped
from lops_adapters.vendoring import upstreams

from .checkouts import hunks_of

DOCS = shipped.HERE.parent / "docs"
LOOPS = DOCS / "copy-core.md"
PATCHES = (DOCS / "vendoring.md").read_text(encoding="utf-8")


def test_blocks_run_one_after_the_other():
    """Each loop keeps 90 of 100 labels, and few of the ten wrong ones."""
    import torch

    first, *loops = re.findall(r"```python\n(.*?)```", LOOPS.read_text(encoding="utf-8"), re.DOTALL)
    scope = {}
    exec(compile(first, "first", "exec"), scope)
    assert len(loops) == 5
    for code in loops:
        program = compile(code, code.partition("\n")[0], "exec")
        if code.startswith("import jax") and find_spec("jax") is None:
            continue
        with torch.random.fork_rng():
            exec(program, scope)
        kept = scope.pop("selection").kept
        assert len(kept) == 90
        assert np.isin(scope["wrong"], kept).mean() < 0.5, code


@pytest.mark.parametrize("name", upstreams.names())
def test_insertions_are_as_written(name):
    upstream = upstreams.load(name)
    inserted = hunks_of(upstream)
    row = PATCHES[PATCHES.index(f"| {upstream.title} | `{upstream.file}`") :]
    written = re.findall(
        r"\d+", "".join(line.split("|")[3] for line in row.splitlines()[: len(inserted) - 1])
    )
    assert [int(number) for number in written] == [hunk.line for hunk in inserted]
