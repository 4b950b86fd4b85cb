import pytest

from lops_adapters.datasets import read

from ..framework_tools import copy_killed, plain_arithmetic, run_in_process, write_folder
from .toys import SEEDS, documents, save_word_piece_bert, settings


@pytest.fixture(scope="session", autouse=True)
def same_everywhere():
    """One thread and float32: sums come out alike on every machine and in the subprocesses."""
    with plain_arithmetic():
        yield


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """Path of a tiny random BERT."""
    return save_word_piece_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Folder of the toy corpus, with gold labels and seed words."""
    texts, labels = documents()
    return write_folder(tmp_path_factory.mktemp("data") / "toy", texts, labels, SEEDS)


@pytest.fixture(scope="session")
def dataset(data):
    return read(data, quiet=True)


@pytest.fixture(scope="session")
def go(bert):
    """Run ConWea in this process: go(dataset, path, arms=..., **settings) -> the run's path,
    metrics and settings.
    """

    def run(dataset, path, arms=("standard", "lops"), seed=0, resume=False, **overrides):
        chosen = settings(encoder=bert, **overrides)
        return run_in_process("conwea", dataset, path, chosen, arms, seed, resume)

    return run


@pytest.fixture(scope="session")
def finished(dataset, go, tmp_path_factory):
    """A finished run of both arms on the toy corpus; nobody writes into it."""
    return go(dataset, tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture
def head_start(finished, tmp_path):
    """Path of a run killed after all that the arms share was done."""
    return copy_killed(finished, tmp_path / "killed", ["vectors", "senses", "word_vectors"])
