"""What ConWea's own stages keep of a run that was stopped inside them."""

import json

import pytest

from lops_adapters.probes import context_encoder
from lops_adapters.probes.context_encoder import ContextEncoder

from ..framework_checks import assert_same_run


class StoppedError(Exception):
    """Stands for the end of the process."""


def test_encoding_goes_on_where_it_stopped(dataset, go, tmp_path, monkeypatch):
    monkeypatch.setattr(context_encoder, "_BLOCK", 40)  # several blocks in a tiny corpus
    whole = go(dataset, tmp_path / "whole", ["standard"], iterations=1)
    encode, calls = ContextEncoder.encode, []

    def noted(self, *args):
        calls.append(args)
        return encode(self, *args)

    def stop(self, *args):
        if len(calls) == 2:
            raise StoppedError
        return noted(self, *args)

    monkeypatch.setattr(ContextEncoder, "encode", stop)
    with pytest.raises(StoppedError):
        go(dataset, tmp_path / "run", ["standard"], iterations=1)
    work = tmp_path / "run" / "work"
    done = json.loads((work / "vectors.json").read_text())["windows"]
    assert (work / "vectors.npy").is_file()
    assert done > 0
    calls.clear()
    monkeypatch.setattr(ContextEncoder, "encode", noted)
    again = go(dataset, tmp_path / "run", ["standard"], iterations=1, resume=True)
    windows = sum(len(sequences) for sequences, _ in calls)
    assert windows > 0
    calls.clear()
    go(dataset, tmp_path / "anew", ["standard"], iterations=1)
    assert windows == sum(len(sequences) for sequences, _ in calls) - done
    assert_same_run(again.path, whole.path)
