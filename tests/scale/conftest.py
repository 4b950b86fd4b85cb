"""One small cluster on this machine for all tests of the engine."""

import os
import signal

import pytest

from ..caches import own_cache, tiny

__all__ = ["own_cache", "ray", "tiny"]


@pytest.fixture(scope="session")
def ray(tmp_path_factory):
    """Ray with two processors; its workers import the package and these tests as this one does."""
    ray = pytest.importorskip(
        "ray", reason="Ray is not installed: pip install 'lops_adapters[ray]'"
    )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    handler = signal.getsignal(signal.SIGTERM)
    ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=100 * 2**20,
        _system_config={"idle_worker_killing_time_threshold_ms": 600_000},  # new ones take seconds
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    # Ray's own handler would be inherited by processes that other tests fork, which then hang.
    signal.signal(signal.SIGTERM, handler)
    yield ray
    ray.shutdown()
