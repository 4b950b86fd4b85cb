"""Connecting to a cluster, with a stand-in for Ray."""

from types import SimpleNamespace

import pytest

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.scale.cluster import connected

WAY_OUT = "give the --address of a running cluster, or none to start one here"


def fails(*_, **__):
    raise ConnectionError("no cluster")


@pytest.mark.parametrize(
    ("address", "mode", "said"),
    [
        (None, None, f"at this machine (no cluster); {WAY_OUT}"),
        ("10.0.0.1:6379", "token", f"at 10.0.0.1:6379 (no cluster); {WAY_OUT}"),
        (
            "10.0.0.1:6379",
            None,
            f"at 10.0.0.1:6379 (no cluster); {WAY_OUT}; a cluster with a token needs "
            "RAY_AUTH_MODE=token",
        ),
    ],
)
def test_a_cluster_that_cannot_be_reached(address, mode, said, monkeypatch):
    stub = SimpleNamespace(is_initialized=lambda: False, init=fails)
    monkeypatch.setattr(extras, "load", lambda *_: stub)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    with pytest.raises(LopsError) as caught, connected(address):
        pass
    assert str(caught.value) == f"Ray cannot be reached {said}"
