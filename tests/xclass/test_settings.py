from dataclasses import replace

import pytest

from lops_adapters.probes import FAST
from lops_adapters.runs.classifiers import build_classifier
from lops_adapters.xclass.settings import XclassSettings

from ..framework_checks import assert_has


def test_presets_are_the_published_sizes_and_smaller_ones():
    paper, quick = XclassSettings.preset("paper"), XclassSettings.preset("quick")
    assert_has(paper, encoder="bert-base-uncased", classifier=None, max_pieces=512, max_tokens=512)
    assert_has(paper, min_count=5, class_words=100, components=64, confident=0.5)
    assert (paper.batch_size, paper.learning_rate, paper.probe_epochs) == (32, 5e-5, 4)
    assert (quick.method, quick.keep) == ("algorithm1", 0.5)
    assert_has(paper, method="released", keep=0.5, every="epoch", faithful=False)
    assert (quick.encoder, quick.classifier) == ("minilm", "hybrid")
    faithful = XclassSettings.preset("quick", faithful=True, alignment="sentences")
    assert_has(faithful, classifier=None, alignment="words")


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
    made = lambda kind, encoder, **_: (kind, encoder)  # noqa: E731
    monkeypatch.setattr("lops_adapters.runs.classifiers.text_probe", made)
    settings = XclassSettings(encoder=encoder, classifier=classifier)
    assert build_classifier(settings, "cpu") == ("transformer", used)


def test_the_size_of_the_classifier(monkeypatch):
    """The preset ``paper`` leaves the published epochs to the default."""
    given = {}
    monkeypatch.setattr(
        "lops_adapters.runs.classifiers.text_probe", lambda kind, **options: given.update(options)
    )
    build_classifier(XclassSettings.preset("paper"), "cpu")
    assert (given["epochs"], given["batch_size"], given["learning_rate"]) == (3, 32, 5e-5)
    build_classifier(XclassSettings.preset("paper"), "cpu", probing=True)
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
    assert build_classifier(settings, "cpu", probing=True) == (classifier, {**wanted, "epochs": 4})
    name, given = build_classifier(replace(settings, epochs=3, learning_rate=None), "cpu")
    assert (name, given["epochs"], "learning_rate" in given) == (classifier, 3, False)
