"""Finding a trained classifier; tests/frameworks/test_models.py tests what real ones predict."""

import json
from importlib.metadata import EntryPoint

import pytest

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.runs.framework import FRAMEWORKS, Framework
from lops_adapters.runs.models import load


class Stub:
    """Stands for a framework's classifier."""

    def __init__(self, folder, device):
        self.folder, self.device = folder, device

    @classmethod
    def load(cls, folder, *, device):
        return cls(folder, device)


class StubFramework(Framework):
    """Nothing but its model."""

    name = "stub"
    model = f"{__name__}:Stub"


STUB = StubFramework()


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(FRAMEWORKS, "stub", EntryPoint("stub", f"{__name__}:STUB", "here"))


def model(folder, kind="stub"):
    folder.mkdir(parents=True)
    (folder / "lops.json").write_text(json.dumps({"kind": kind}), encoding="utf-8")
    return folder


def test_a_lone_arm_of_another_name(tmp_path):
    only = model(tmp_path / "lops-all" / "model")
    assert load(tmp_path).folder == only
    standard = model(tmp_path / "standard" / "model")
    assert load(tmp_path).folder == standard


def test_which_arm(tmp_path):
    standard = model(tmp_path / "standard" / "model")
    assert load(tmp_path).folder == standard  # the only one
    lops = model(tmp_path / "lops" / "model")
    assert load(tmp_path).folder == lops
    model(tmp_path / "random" / "model")
    assert load(tmp_path).folder == lops
    for arm in ("lops-documents", "lops-adaptive", "committee", "committee-documents"):
        better = model(tmp_path / arm / "model")
        assert load(tmp_path).folder == better
    assert load(str(tmp_path), arm="standard").folder == standard
    assert load(tmp_path / "standard").folder == load(standard).folder == standard
    assert (load(tmp_path).device, load(tmp_path, device="cpu").device) == ("auto", "cpu")


@pytest.mark.parametrize(
    "settings", [{"method": "ranked", "keep": "auto"}, {"rule": "ranked", "tau": "auto"}]
)
def test_arms_of_older_runs_by_the_names_of_today(tmp_path, settings):
    (tmp_path / "config.json").write_text(json.dumps({"settings": settings}), encoding="utf-8")
    lops = model(tmp_path / "lops" / "model")
    for asked in ({}, {"arm": "lops-adaptive"}, {"arm": "lops"}):
        with pytest.warns(LopsWarning, match="^the arm lops of this older run is lops-adaptive"):
            assert load(tmp_path, **asked).folder == lops
    model(tmp_path / "standard" / "model")
    assert load(tmp_path, arm="standard").folder == tmp_path / "standard" / "model"
    settings = {"method": "algorithm1", "keep": "auto"}
    (tmp_path / "config.json").write_text(json.dumps({"settings": settings}), encoding="utf-8")
    assert load(tmp_path).folder == lops


def test_nothing_there(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LopsError, match="wanted the folder of a finished run") as error:
            load(path)
        looked = f"no trained classifier in {path} (looked for {path / 'lops.json'}, "
        assert looked in str(error.value)
    model(tmp_path / "lops" / "model")
    with pytest.raises(LopsError, match=r"looked for .*standard/model/lops\.json\)"):
        load(tmp_path, arm="standard")


def test_kinds_nobody_knows(tmp_path):
    with pytest.raises(
        LopsError,
        match=(
            "a model of kind 'oracle'; wanted one of conwea, lotclass, self_training, westclass, "
        ),
    ):
        load(model(tmp_path / "model", "oracle"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (content, r"lops\.json is damaged .*; copy the folder again .* train again")
            for content in ("", "[]", "westclass", '"westclass"', "[" * 100_000)
        ),
        ("{}", "holds a model of kind None"),
        ('{"kind": null}', "holds a model of kind None"),
        ('{"kind": []}', r"holds a model of kind \[\]"),
    ],
)
def test_a_damaged_head(tmp_path, content, message):
    folder = model(tmp_path / "model")
    (folder / "lops.json").write_text(content, encoding="utf-8")
    with pytest.raises(LopsError, match=message):
        load(tmp_path)
