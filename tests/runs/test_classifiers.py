"""What is built for which settings, of any framework."""

import pytest

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.hybrid import HybridProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.runs.classifiers import build_classifier
from lops_adapters.self_training.settings import SelfTrainingSettings
from lops_adapters.xclass.settings import XclassSettings

from ..framework_checks import assert_has
from ..framework_tools import letter_pieces, save_bert


def test_a_linear_classifier_trains_longer_than_a_linear_probe():
    usual = SelfTrainingSettings(classifier="linear")
    for probe in ("same", "linear"):
        settings = SelfTrainingSettings(classifier="linear", probe=probe)
        assert build_classifier(settings, "cpu", probing=True) == LinearProbe()
    assert build_classifier(usual, "cpu") == LinearProbe(epochs=20)


def test_what_the_settings_say_holds_for_both_but_not_for_a_probe_of_another_kind():
    chosen = {"classifier": "linear", "epochs": 3, "batch_size": 7, "learning_rate": 0.5}
    expected = LinearProbe(epochs=3, batch_size=7, learning_rate=0.5)
    assert (
        build_classifier(SelfTrainingSettings(**chosen), "cpu")
        == build_classifier(SelfTrainingSettings(**chosen), "cpu", probing=True)
        == expected
    )
    assert (
        build_classifier(SelfTrainingSettings(**chosen, probe="linear"), "cpu", probing=True)
        == LinearProbe()
    )


def test_a_transformer_is_trained_by_its_recipe_or_as_the_settings_say(tmp_path):
    settings = SelfTrainingSettings(classifier=save_bert(tmp_path, letter_pieces()), max_tokens=99)
    for found in (
        build_classifier(settings, "cpu"),
        build_classifier(settings, "cpu", probing=True),
    ):
        assert_has(
            found, kind="transformer", epochs=4, batch_size=32, learning_rate=2e-5, max_tokens=99
        )
    other = build_classifier(
        SelfTrainingSettings(
            classifier=settings.classifier, epochs=2, batch_size=5, learning_rate=0.1
        ),
        "cpu",
    )
    assert (other.epochs, other.batch_size, other.learning_rate) == (2, 5, 0.1)


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(
        LopsError,
        match=(
            "needs PyTorch, which is not installed; run: pip install "
            r"'lops_adapters\[transformers\]'"
        ),
    ):
        build_classifier(SelfTrainingSettings(encoder="minilm"), "cpu")
    for kind in ("linear", "embedding", "hybrid"):
        build_classifier(SelfTrainingSettings(classifier=kind), "cpu")
    for kind in ("embedding", "hybrid"):
        with pytest.raises(LopsError, match=f"The classifier {kind} needs PyTorch"):
            build_classifier(SelfTrainingSettings(classifier=kind, encoder="minilm"), "cpu")


@pytest.mark.parametrize(
    ("kind", "probe"), [("embedding", EmbeddingProbe), ("hybrid", HybridProbe)]
)
def test_classifiers_on_a_frozen_encoder(kind, probe):
    settings = SelfTrainingSettings(classifier=kind, encoder="some/encoder", max_tokens=99)
    usual = {"encoder": "some/encoder", "max_tokens": 99, "device": "cpu"}
    assert build_classifier(settings, "cpu") == probe(epochs=20, **usual)
    assert build_classifier(settings, "cpu", probing=True) == probe(**usual)
    chosen = {"epochs": 3, "batch_size": 7, "learning_rate": 0.5}
    settings = SelfTrainingSettings(classifier=kind, **chosen)
    assert build_classifier(settings, "cpu") == probe(device="cpu", **chosen)
    other = SelfTrainingSettings(classifier=kind, probe="linear")
    assert build_classifier(other, "cpu", probing=True) == LinearProbe()


def test_a_misspelt_classifier_is_not_looked_up():
    with pytest.raises(LopsError, match="did you mean 'linear'"):
        build_classifier(SelfTrainingSettings(classifier="liner"), "cpu")
    with pytest.raises(LopsError, match="did you mean 'embedding'"):
        build_classifier(SelfTrainingSettings(classifier="embeding"), "cpu")


def test_a_misspelt_classifier_of_any_framework_is_refused():
    with pytest.raises(LopsError, match="did you mean 'hybrid'"):
        build_classifier(XclassSettings(classifier="hybird"), "cpu")


def test_a_recipe_replaces_the_settings():
    settings = SelfTrainingSettings(classifier="linear", epochs=3)
    built = build_classifier(settings, "cpu", recipe={"epochs": 7, "max_tokens": 9})
    assert built == LinearProbe(epochs=7)
