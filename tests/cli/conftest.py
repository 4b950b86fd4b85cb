"""The tiny encoder is a fixture of these tests, too; commands run in a folder of their own."""

import pytest

from ..tiny_encoder import tiny

__all__ = ["here", "tiny"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory: the test's folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
