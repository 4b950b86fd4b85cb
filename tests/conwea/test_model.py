"""A trained classifier for new texts: what a run predicted, it predicts again."""

import pytest

from lops_adapters.runs.classifiers import ProbeClassifier
from lops_adapters.runs.models import load

from ..framework_checks import assert_says_of_nothing
from ..framework_tools import copy_killed, pretend_settings, read_rows


@pytest.fixture(scope="module")
def model(finished):
    return load(finished.path, device="cpu")


def test_texts_without_a_known_word(model):
    assert_says_of_nothing(model, ["  \n", "the", "...", "$ 日本語 ☃", "zyzzyva quux"])


def test_senses_and_phrases_are_remembered(model, finished):
    assert model.phrases == ["oil painting"]
    assert "court" in model.centres
    assert model.settings == finished.settings
    words = set(model.classifier.vectors.words)
    assert {f"court${sense}" for sense in range(len(model.centres["court"]))} <= words
    assert any(word.startswith("oil_painting") for word in words)


def test_a_classifier_of_texts_predicts_again_what_the_run_predicted(
    dataset, go, finished, tmp_path
):
    path = copy_killed(finished, tmp_path / "run", ["senses"])
    pretend_settings(path, classifier="linear")
    run = go(dataset, path, arms=["standard"], resume=True, classifier="linear")
    assert not (run.path / "work" / "word_vectors.npz").exists()  # only a HAN reads them
    model = load(run.path, device="cpu")
    assert isinstance(model, ProbeClassifier)
    rows = read_rows(run.path / "standard" / "predictions.csv")
    assert model.predict(dataset.corpus.texts) == [row["predicted"] for row in rows]
