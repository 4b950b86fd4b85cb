import pytest

from benchmarks import record
from benchmarks.pages import common


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The folder of the result files, empty."""
    for module in (common, record):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(record, "WRITTEN", tmp_path)
    return tmp_path
