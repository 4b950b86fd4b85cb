import pytest

from lops_adapters.encoders.pretrained import load_tokenizer
from lops_adapters.lotclass.engine import Engine

from ..frameworks.rooms import *  # noqa: F403
from ..frameworks.rooms import Room
from .toys import ARMS, save_masked_bert, save_masked_roberta


@pytest.fixture(scope="session")
def room():
    return Room("lotclass", ARMS, ("rows",), expected="nothing was learnt")


@pytest.fixture(scope="session")
def engine():
    return Engine("cpu")


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
