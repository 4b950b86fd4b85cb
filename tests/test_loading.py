"""Finding a trained classifier; what a real one predicts is tested with the framework that made it."""

import json
from importlib import import_module
from types import SimpleNamespace

import pytest

from lops_adapters import loading
from lops_adapters.core import LopsError
from lops_adapters.loading import load


class Stub:
    """Stands for a framework's classifier."""

    def __init__(self, folder, device):
        self.folder, self.device = folder, device

    @classmethod
    def load(cls, folder, *, device):
        return cls(folder, device)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(loading.LOADERS, "stub", f"{__name__}:Stub")
    monkeypatch.setattr(loading, "import_module", lambda name: SimpleNamespace(Stub=Stub))


def model(folder, kind="stub"):
    folder.mkdir(parents=True)
    (folder / "lops.json").write_text(json.dumps({"kind": kind}), encoding="utf-8")
    return folder


def test_which_arm(tmp_path):
    standard = model(tmp_path / "standard" / "model")
    assert load(tmp_path).folder == standard  # the only one
    lops = model(tmp_path / "lops" / "model")
    assert load(tmp_path).folder == lops
    assert load(str(tmp_path), arm="standard").folder == standard
    assert load(tmp_path / "standard").folder == load(standard).folder == standard
    assert (load(tmp_path).device, load(tmp_path, device="cpu").device) == ("auto", "cpu")


def test_nothing_there(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LopsError, match="wanted the folder of a finished run") as error:
            load(path)
        assert f"no trained classifier in {path} (looked for lops.json in {path}, " in str(error.value)
    model(tmp_path / "lops" / "model")
    with pytest.raises(LopsError, match=r"looked for lops\.json in .*standard"):
        load(tmp_path, arm="standard")


def test_kinds_nobody_knows(tmp_path):
    with pytest.raises(LopsError, match="a model of kind 'oracle'; this version knows conwea"):
        load(model(tmp_path / "model", "oracle"))


def test_every_loader_can_be_imported():
    for kind, place in loading.LOADERS.items():
        module, name = place.split(":")
        if kind != "stub":
            assert hasattr(getattr(import_module(module), name), "load")
