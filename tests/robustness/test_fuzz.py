"""A thousand cases of :mod:`tests.robustness.fuzz`."""

import pytest

pytest.importorskip("pyarrow")

from .fuzz import run

pytestmark = pytest.mark.slow


def test_malformed_input_is_read_or_refused():
    found = run(1000)
    assert not found, "\n".join(f"case {number}, {kind}:\n{why}" for number, kind, why in found[:5])
