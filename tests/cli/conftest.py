"""The tiny encoder is a fixture of these tests, too; commands run in a folder of their own."""

import pytest

from lops_adapters import console

from ..tiny_encoder import tiny

__all__ = ["here", "tiny"]


@pytest.fixture(autouse=True)
def as_command():
    """Errors name arguments as they are typed, as ``lops`` has them."""
    token = console._IS_COMMAND.set(True)
    yield
    console._IS_COMMAND.reset(token)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory: the test's folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
