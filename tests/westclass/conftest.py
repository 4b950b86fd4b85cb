import pytest

from ..frameworks.rooms import *  # noqa: F403
from ..frameworks.rooms import Room
from .toys import save_tiny_bert


@pytest.fixture(scope="session")
def room():
    return Room("westclass")


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """Path of a tiny random BERT."""
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))
