"""One small cluster on this machine for all tests of the engine."""

import pytest

from lops_adapters.scale.cluster import start

from ..tiny_encoder import tiny

__all__ = ["ray", "tiny"]


@pytest.fixture(scope="session", autouse=True)
def short_training():
    """This process trains as long as Ray's workers do, which are others."""


@pytest.fixture(scope="session")
def ray(tmp_path_factory):
    """Ray with two processors; its workers import the package and these tests as this one does."""
    ray = pytest.importorskip(
        "ray", reason="Ray is not installed: pip install 'lops_adapters[ray]'"
    )
    start(
        ray,
        num_cpus=2,
        object_store_memory=100 * 2**20,
        _system_config={"idle_worker_killing_time_threshold_ms": 600_000},  # new ones take seconds
    )
    yield ray
    ray.shutdown()
