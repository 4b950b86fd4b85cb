"""One small cluster on this machine for all tests of the engine."""

import sys

import pytest

from lops_adapters.scale.cluster import start
from lops_adapters.selection import held_out

from ..framework_tools import FULL_TRAINING
from ..tiny_encoder import tiny

__all__ = ["ray", "tiny"]


def train_shortly():
    """As ``short_training`` in this process, in one of Ray's workers."""
    held_out.LEAST_UPDATES = FULL_TRAINING // 10


@pytest.fixture(scope="session")
def ray(tmp_path_factory):
    """Ray with two processors; its workers import the package and these tests as this one does."""
    ray = pytest.importorskip(
        "ray", reason="Ray is not installed: pip install 'lops_adapters[ray]'"
    )
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    start(
        ray,
        runtime_env={"worker_process_setup_hook": train_shortly},
        num_cpus=2,
        object_store_memory=100 * 2**20,
        _system_config={"idle_worker_killing_time_threshold_ms": 600_000},  # new ones take seconds
    )
    yield ray
    ray.shutdown()
