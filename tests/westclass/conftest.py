import pytest

from lops_adapters.datasets import read

from ..framework_tools import plain_arithmetic, run_in_process, write_folder
from .toys import SEEDS, documents, save_tiny_bert, settings


@pytest.fixture(scope="package", autouse=True)
def cache(tmp_path_factory):
    """The user's cache folder, for as long as these tests run: a fresh one; nobody's own is read or
    written.
    """
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "lops_adapters"


@pytest.fixture(scope="package", autouse=True)
def same_everywhere():
    """One thread and float32: sums come out alike on every machine and in the subprocesses."""
    with plain_arithmetic():
        yield


@pytest.fixture(scope="package")
def bert(tmp_path_factory):
    """Path of a tiny random BERT."""
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="package")
def data(tmp_path_factory):
    """Folder of the toy corpus, with gold labels and seed words."""
    texts, labels = documents()
    return write_folder(tmp_path_factory.mktemp("data") / "toy", texts, labels, SEEDS)


@pytest.fixture(scope="package")
def dataset(data):
    return read(data, quiet=True)


@pytest.fixture(scope="package")
def go(cache):
    """Run WeSTClass in this process: go(dataset, path, arms=..., **settings) -> the run's path,
    metrics and settings.
    """

    def run(dataset, path, arms=("standard", "lops"), seed=0, resume=False, **overrides):
        chosen = settings(**overrides)
        return run_in_process("westclass", dataset, path, chosen, arms, seed, resume)

    return run


@pytest.fixture(scope="package")
def finished(dataset, go, tmp_path_factory):
    """A finished run of both arms on the toy corpus; nobody writes into it."""
    return go(dataset, tmp_path_factory.mktemp("finished") / "run")
