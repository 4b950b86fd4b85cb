from dataclasses import replace

import pytest

from lops_adapters.core import LopsError
from lops_adapters.xclass.classifier import FAST, build_classifier, build_probe
from lops_adapters.xclass.settings import ALIGNMENTS, ATTENTION, XclassSettings


def test_presets_are_the_published_sizes_and_smaller_ones():
    paper, quick = XclassSettings.preset("paper"), XclassSettings.preset("quick")
    assert (paper.encoder, paper.classifier, paper.max_pieces, paper.max_tokens) == (
        "bert-base-uncased",
        None,
        512,
        512,
    )
    assert (paper.min_count, paper.class_words, paper.attention, paper.components) == (
        5,
        100,
        "mixture",
        64,
    )
    assert (paper.alignment, paper.confident) == ("gmm", 0.5)
    assert (paper.batch_size, paper.learning_rate, paper.probe_epochs) == (32, 5e-5, 4)
    assert (quick.method, quick.keep) == ("ranked", "auto")
    assert (paper.method, paper.keep, paper.every, paper.faithful) == (
        "released",
        0.5,
        "epoch",
        False,
    )
    assert (quick.encoder, quick.classifier) == ("minilm", "hybrid")
    assert XclassSettings.preset("quick", faithful=True).classifier is None
    same = (
        "min_count",
        "class_words",
        "attention",
        "components",
        "alignment",
        "confident",
        "epochs",
        "batch_size",
    )
    assert [getattr(quick, name) for name in same] == [getattr(paper, name) for name in same]


@pytest.mark.parametrize(
    ("encoder", "classifier", "used"),
    [
        ("bert-base-uncased", None, "bert-base-cased"),
        ("bert-base-uncased", "minilm", "minilm"),
        ("minilm", None, "minilm"),
        ("minilm", "bert-base-cased", "bert-base-cased"),
    ],
)
def test_the_encoder_of_the_classifier(monkeypatch, encoder, classifier, used):
    monkeypatch.setattr(
        "lops_adapters.xclass.classifier.TransformerProbe", lambda encoder, **_: encoder
    )
    assert build_classifier(XclassSettings(encoder=encoder, classifier=classifier), "cpu") == used


def test_the_size_of_the_classifier(monkeypatch):
    """The preset ``paper`` leaves the published epochs to the default."""
    given = {}
    monkeypatch.setattr(
        "lops_adapters.xclass.classifier.TransformerProbe", lambda **options: given.update(options)
    )
    build_classifier(XclassSettings.preset("paper"), "cpu")
    assert (given["epochs"], given["batch_size"], given["learning_rate"]) == (3, 32, 5e-5)
    build_probe(XclassSettings.preset("paper"), "cpu")
    assert given["epochs"] == 4
    build_classifier(XclassSettings(classifier=None, epochs=7), "cpu")
    assert given["epochs"] == 7


@pytest.mark.parametrize("classifier", FAST)
def test_classifiers_that_train_in_seconds(monkeypatch, classifier):
    made = lambda name: lambda **options: (name, options)  # noqa: E731
    monkeypatch.setattr("lops_adapters.probes.probe_class", made)
    settings = XclassSettings(encoder="e", classifier=classifier, max_tokens=9, learning_rate=0.2)
    wanted = {"epochs": 20, "batch_size": 32, "learning_rate": 0.2, "quiet": True}
    if classifier != "linear":
        wanted |= {"encoder": "e", "max_tokens": 9, "device": "cpu"}
    assert build_classifier(settings, "cpu") == (classifier, wanted)
    assert build_probe(settings, "cpu") == (classifier, {**wanted, "epochs": 4})
    name, given = build_classifier(replace(settings, epochs=3, learning_rate=None), "cpu")
    assert (name, given["epochs"], "learning_rate" in given) == (classifier, 3, False)


def test_arms_and_choices():
    assert XclassSettings.ARMS == ("standard", "lops")
    assert XclassSettings.MORE_ARMS == ("lops-all",)
    for name in ATTENTION:
        assert XclassSettings(attention=name).attention == name
    for name in ALIGNMENTS:
        assert XclassSettings(alignment=name).alignment == name
    assert XclassSettings(class_words=1, confident=1, probe="linear").confident == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"attention": "static"}, "attention is 'static'; wanted one of mixture"),
        ({"alignment": "lda"}, "alignment is 'lda'; wanted one of gmm, kmeans"),
        ({"confident": 0}, "confident is 0"),
        ({"confident": 1.01}, "confident is 1.01"),
        ({"confident": float("nan")}, "confident is nan"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"probe": "svm"}, "probe is 'svm'; wanted one of same, linear"),
        ({"keep": 0}, "keep is 0"),
    ],
)
def test_numbers_out_of_range(wrong, words):
    with pytest.raises(LopsError, match=words):
        XclassSettings.preset("quick", **wrong)
