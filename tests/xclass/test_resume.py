"""What X-Class's own stages keep of a run that was stopped inside them."""

import json

import pytest

from lops_adapters.encoders import context_encoder
from lops_adapters.encoders.context_encoder import ContextEncoder

from ..framework_checks import assert_same_run

pytestmark = pytest.mark.slow


class StoppedError(Exception):
    """Stands for the end of the process."""


def test_encoding_goes_on_where_it_stopped(dataset, go, tmp_path, monkeypatch):
    """Five blocks of windows in a tiny corpus; two are stored."""
    monkeypatch.setattr(context_encoder, "_BLOCK", 30)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    whole = go(dataset, tmp_path / "whole", ["standard"])
    encode, calls = ContextEncoder.encode, []

    def noted(self, *args):
        calls.append(1)
        return encode(self, *args)

    def stop(self, *args):
        if len(calls) == 2:
            raise StoppedError
        return noted(self, *args)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # without the kept vectors
    monkeypatch.setattr(ContextEncoder, "encode", stop)
    with pytest.raises(StoppedError):
        go(dataset, tmp_path / "run", ["standard"])
    work = tmp_path / "run" / "work"
    assert (work / "vectors.npy").is_file()
    assert json.loads((work / "vectors.json").read_text()) == {"windows": 60}
    calls.clear()
    monkeypatch.setattr(ContextEncoder, "encode", noted)
    again = go(dataset, tmp_path / "run", ["standard"], resume=True)
    assert len(calls) == 3
    assert not (work / "vectors.npy").exists()
    assert_same_run(again.path, whole.path)
