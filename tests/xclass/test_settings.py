import pytest

from lops_adapters.core import LopsError
from lops_adapters.xclass.classifier import build_classifier
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
    assert (paper.epochs, paper.batch_size, paper.learning_rate, paper.probe_epochs) == (
        3,
        32,
        5e-5,
        4,
    )
    assert (paper.rule, paper.tau, paper.every, paper.faithful) == ("released", 0.5, "epoch", False)
    assert (quick.encoder, quick.classifier) == ("minilm", None)
    same = (
        "min_count",
        "class_words",
        "attention",
        "components",
        "alignment",
        "confident",
        "epochs",
        "batch_size",
        "rule",
        "tau",
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
        ({"tau": 0}, "tau is 0"),
    ],
)
def test_numbers_out_of_range(wrong, words):
    with pytest.raises(LopsError, match=words):
        XclassSettings.preset("quick", **wrong)
