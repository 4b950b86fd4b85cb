"""Every option holds for rows outside the sample as it does for rows in it."""

import numpy as np
import pytest

from lops_adapters.cli import select as command
from lops_adapters.formats import base
from lops_adapters.tables import engine

from ..second_pass import SETTINGS, decisions, write_inputs

QUICK = ("near names",)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(engine, "IN_MEMORY", 0)
    monkeypatch.setattr(base, "BLOCK_ROWS", 50)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
             for name in SETTINGS],
)  # fmt: skip
def test_a_sample_of_a_third(here, name):
    """Decisions are nearly the same as with everything in the sample."""
    table, options = write_inputs(here)[name], SETTINGS[name]
    command.main([str(table), *options, "--output", "all"])
    command.main([str(table), *options, "--output", "some", "--probe-rows", "300"])
    whole, some = decisions(here / "all"), decisions(here / "some")
    assert whole.keys() == some.keys()
    kept, confidence, wrong = np.array([(whole[nr], some[nr]) for nr in whole], float).T
    assert (kept[0] == kept[1]).mean() > 0.94
    assert np.abs(confidence[0] - confidence[1]).mean() < 0.05
    share = [(wrong[i] * kept[i]).sum() / kept[i].sum() for i in (0, 1)]
    assert share[1] < share[0] + 0.02
