import pytest

from lops_adapters.datasets import read

from ..framework_tools import copy_killed, plain_arithmetic, run_in_process
from .toys import documents, save_word_piece_bert, settings, write_folder

ARMS = ("standard", "lops", "lops-all")


@pytest.fixture(scope="session", autouse=True)
def same_everywhere():
    """One thread and float32: sums come out alike on every machine and in the subprocesses."""
    with plain_arithmetic():
        yield


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """The user's cache, where vectors are kept, is a temporary folder."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "lops_adapters"


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """Path of a tiny BERT."""
    return save_word_piece_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Folder of the toy corpus, with gold labels."""
    texts, labels = documents()
    return write_folder(tmp_path_factory.mktemp("data") / "toy", texts, labels)


@pytest.fixture(scope="session")
def dataset(data):
    return read(data, quiet=True)


@pytest.fixture(scope="session")
def go(bert):
    """Run X-Class in this process: go(dataset, path, arms=..., **settings) -> the run's path,
    metrics and settings.
    """

    def run(dataset, path, arms=ARMS, seed=0, resume=False, **overrides):
        chosen = settings(**{"encoder": bert, **overrides})
        return run_in_process("xclass", dataset, path, chosen, arms, seed, resume)

    return run


@pytest.fixture(scope="session")
def finished(dataset, go, tmp_path_factory):
    """A finished run of all arms on the toy corpus; nobody writes into it."""
    return go(dataset, tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture
def head_start(finished, tmp_path):
    """Path of a run killed after all that the arms share was done."""
    return copy_killed(finished, tmp_path / "killed", ["representation", "alignment"])
