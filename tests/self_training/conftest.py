import pytest

from ..frameworks.rooms import *  # noqa: F403
from ..frameworks.rooms import Room


@pytest.fixture(scope="session")
def room():
    arms = ("standard", "lops", "random", "optimal")
    return Room("self_training", arms, quick="lops_adapters.self_training.pipeline:string_match")
