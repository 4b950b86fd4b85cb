import pytest

from ..frameworks.rooms import *  # noqa: F403
from ..frameworks.rooms import Room


@pytest.fixture(scope="session")
def room():
    return Room("conwea", stages=("senses", "word_vectors"), options=("--iterations", "1"))
