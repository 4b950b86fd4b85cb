import os
import warnings

import pytest

from lops_adapters.core import LopsWarning
from lops_adapters.datasets import read
from lops_adapters.encoders.pretrained import load_tokenizer
from lops_adapters.lotclass.engine import Engine

from ..framework_tools import copy_killed, plain_arithmetic, run_in_process, write_folder
from .toys import SEEDS, documents, save_encoder, save_masked_bert, save_masked_roberta, settings

ARMS = ("standard", "lops", "lops-refresh")


@pytest.fixture(scope="session", autouse=True)
def same_everywhere():
    """One thread and float32: sums come out alike on every machine and in the subprocesses."""
    with plain_arithmetic():
        yield


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """The user's cache, where the trained language model goes, is a temporary folder."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def engine():
    return Engine("cpu")


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """Path of a tiny BERT without a masked-language-model head."""
    return save_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def tokenizer(bert):
    return load_tokenizer(bert, "right")


@pytest.fixture(scope="session")
def masked_bert(tmp_path_factory):
    """Path of a tiny BERT with a masked-language-model head."""
    return save_masked_bert(tmp_path_factory.mktemp("masked-bert"))


@pytest.fixture(scope="session")
def masked_roberta(tmp_path_factory):
    """Path of a tiny RoBERTa with a masked-language-model head and a byte-level vocabulary."""
    return save_masked_roberta(tmp_path_factory.mktemp("masked-roberta"))


@pytest.fixture(scope="session")
def byte_level(masked_roberta):
    return load_tokenizer(masked_roberta, "right")


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
    """Run LOTClass in this process: go(dataset, path, arms=..., **settings) -> the run's path,
    metrics and settings.
    """

    def run(dataset, path, arms=ARMS, seed=0, resume=False, **overrides):
        chosen = settings(**{"encoder": bert, **overrides})
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "nothing was learnt", LopsWarning
            )  # so few updates teach little
            return run_in_process("lotclass", dataset, path, chosen, arms, seed, resume)

    return run


@pytest.fixture(scope="session")
def finished(dataset, go, tmp_path_factory):
    """A finished run of all arms on the toy corpus; nobody writes into it."""
    return go(dataset, tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture
def head_start(finished, tmp_path):
    """Path of a run killed after all that the arms share was done."""
    return copy_killed(finished, tmp_path / "killed", ["rows"])
