import pytest

from ..frameworks.rooms import *  # noqa: F403
from ..frameworks.rooms import Room
from .toys import ARMS


@pytest.fixture(scope="session")
def room():
    return Room("xclass", ARMS, stages=("representation", "alignment"))
