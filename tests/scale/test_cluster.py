"""Connecting to a cluster, and what starting one here leaves open."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.scale.cluster import connected

WAY_OUT = "give the --address of a running cluster, or none to start one here"


def fails(*_, **__):
    raise Exception("no cluster")  # as Ray does where a node starts too slowly


@pytest.mark.parametrize(
    ("address", "mode", "said"),
    [
        (
            None,
            None,
            "at this machine (no cluster); if the machine is busy, try again; or give "
            "--engine process",
        ),
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


STRANGER = """
import ray
ray.init(address={address!r}, logging_level="ERROR")
print("ran", ray.get(ray.remote(lambda: 5).remote()))
"""


@pytest.mark.parametrize(("token", "said"), [(None, ""), ("0" * 64, ""), ("own", "ran 5\n")])
def test_a_cluster_on_this_machine_takes_work_of_this_process_only(ray, token, said):
    address = ray.get_runtime_context().gcs_address
    others = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    if token:
        token = os.environ["RAY_AUTH_TOKEN"] if token == "own" else token
        others |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    others["RAY_NUM_REDIS_GET_RETRIES"] = "1"  # a refused one tries 20 times
    command = [sys.executable, "-c", STRANGER.format(address=address)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=others)
    assert done.stdout == said, done.stderr
    assert (done.returncode == 0) == bool(said)


def test_the_token_is_random_and_in_no_file(ray):
    token = os.environ["RAY_AUTH_TOKEN"]
    assert len(set(token)) > 8
    assert len(token) == 64
    folder = Path(ray._private.worker.global_worker.node.get_session_dir_path())
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if token.encode() in path.read_bytes()]


@pytest.mark.parametrize("address", [None, "10.0.0.1:6379"])
def test_the_caller_keeps_its_handler_of_sigterm(address, monkeypatch):
    def init(**_):
        signal.signal(signal.SIGTERM, lambda *_: None)

    stub = SimpleNamespace(is_initialized=lambda: False, init=init, shutdown=lambda: None)
    monkeypatch.setattr(extras, "load", lambda *_: stub)
    before = signal.getsignal(signal.SIGTERM)
    with connected(address):
        assert signal.getsignal(signal.SIGTERM) is before


def test_ray_leaves_no_handler_of_sigterm(ray):
    handler = signal.getsignal(signal.SIGTERM)
    assert getattr(handler, "__module__", "").partition(".")[0] != "ray"


def listening():
    """Addresses, in hexadecimal, at which this process and those that it has started listen."""
    token, sockets = os.environ["RAY_AUTH_TOKEN"].encode(), set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ours = process.name == str(os.getpid()) or token in (process / "environ").read_bytes()
            for descriptor in (process / "fd").iterdir() if ours else ():
                name = os.readlink(descriptor)
                sockets |= {name[8:-1]} if name.startswith("socket:[") else set()
        except OSError:  # ended, or another user's
            continue
    rows = [line.split() for name in ("tcp", "tcp6")
            for line in Path("/proc/net", name).read_text().splitlines()[1:]]  # fmt: skip
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_ray_listens_on_the_loopback_interface_only(ray):
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    found = listening()
    assert found
    assert found <= loopback


def test_usage_statistics_are_off(ray):
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
