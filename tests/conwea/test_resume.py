"""What ConWea's own stages keep of a run that was stopped inside them."""

import json

import pytest

from lops_adapters.encoders import context_encoder
from lops_adapters.encoders.context_encoder import ContextEncoder

from ..framework_checks import assert_same_run

pytestmark = pytest.mark.slow


class StoppedError(Exception):
    """Stands for the end of the process."""


def test_encoding_goes_on_where_it_stopped(dataset, go, tmp_path, monkeypatch):
    monkeypatch.setattr(context_encoder, "_BLOCK", 40)  # several blocks in a tiny corpus
    encode, windows, allowed = ContextEncoder.encode, [], [None]

    def counted(self, sequences, *args):
        if len(windows) == allowed[0]:
            raise StoppedError
        windows.append(len(sequences))
        return encode(self, sequences, *args)

    monkeypatch.setattr(ContextEncoder, "encode", counted)
    whole = go(dataset, tmp_path / "whole", ["standard"], iterations=1)
    total = sum(windows)
    windows.clear()
    allowed[0] = 2
    with pytest.raises(StoppedError):
        go(dataset, tmp_path / "run", ["standard"], iterations=1)
    work = tmp_path / "run" / "work"
    done = json.loads((work / "vectors.json").read_text())["windows"]
    assert (work / "vectors.npy").is_file()
    assert 0 < done < total
    windows.clear()
    allowed[0] = None
    again = go(dataset, tmp_path / "run", ["standard"], iterations=1, resume=True)
    assert sum(windows) == total - done
    assert_same_run(again.path, whole.path)
