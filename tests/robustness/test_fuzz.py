"""Cases of :mod:`tests.robustness.fuzz`: 2,000, some of them of votes, which are written out."""

import random

import pytest

pytest.importorskip("pyarrow")

from lops_adapters.core import LopsError, LopsWarning

from .fuzz import run
from .fuzz_votes import votes

pytestmark = pytest.mark.slow


def test_malformed_input_is_read_or_refused():
    found = run(2000)
    assert not found, "\n".join(f"case {number}, {kind}:\n{why}" for number, kind, why in found[:5])


@pytest.mark.filterwarnings(f"ignore::{LopsWarning.__module__}.{LopsWarning.__name__}")
def test_every_row_of_odd_votes_comes_back_once(tmp_path):
    done = 0
    for number in range(50):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            votes(random.Random(f"v {number}"), folder)
        except (LopsError, SystemExit):
            continue
        done += 1
    assert done > 10
