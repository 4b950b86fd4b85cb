import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The working directory: the test's folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
