import pytest

from lops_adapters.datasets import read

from ..caches import own_cache
from ..framework_tools import plain_arithmetic, run_in_process, write_folder
from .toys import SEEDS, documents, settings

__all__ = ["own_cache"]
ARMS = ("standard", "lops", "random", "optimal")


@pytest.fixture(scope="session", autouse=True)
def same_everywhere():
    """One thread and float32: sums come out alike on every machine and in the subprocesses."""
    with plain_arithmetic():
        yield


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Folder of the toy corpus, with gold labels and seed words."""
    texts, labels = documents()
    return write_folder(tmp_path_factory.mktemp("data") / "toy", texts, labels, SEEDS)


@pytest.fixture(scope="session")
def dataset(data):
    return read(data, quiet=True)


@pytest.fixture(scope="session")
def go():
    """Self-train in this process: go(dataset, path, arms=..., **settings) -> the run's path,
    metrics and settings.
    """

    def run(dataset, path, arms=ARMS, seed=0, resume=False, **overrides):
        return run_in_process(
            "self_training", dataset, path, settings(**overrides), arms, seed, resume
        )

    return run


@pytest.fixture(scope="session")
def finished(dataset, go, tmp_path_factory):
    """A finished run of four methods on the toy corpus; nobody writes into it."""
    return go(dataset, tmp_path_factory.mktemp("finished") / "run")
