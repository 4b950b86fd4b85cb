"""A trained classifier for new texts: what a run predicted, it predicts again."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.runs.models import load

from ..framework_checks import (
    assert_one_at_a_time_is_the_same,
    assert_predicts,
    assert_predicts_odd_text,
    assert_wants_a_list_of_texts,
)
from .toys import CLASSES


@pytest.fixture(scope="module")
def models(finished):
    return {arm: load(finished.path, arm=arm, device="cpu") for arm in ("standard", "lops")}


@pytest.mark.parametrize("arm", ["standard", "lops"])
def test_predicts_what_the_run_predicted(models, finished, dataset, arm):
    assert_predicts(
        models[arm], finished.path / arm / "predictions.csv", dataset.corpus.texts, atol=1e-3
    )


def test_arms_differ_and_lops_is_the_usual_one(models, finished, dataset):
    standard, lops = (
        models[arm].predict_proba(dataset.corpus.texts) for arm in ("standard", "lops")
    )
    assert np.abs(standard - lops).max() > 1e-3
    for path in (finished.path, finished.path / "lops", finished.path / "lops" / "model"):
        np.testing.assert_array_equal(
            load(path, device="cpu").predict_proba(dataset.corpus.texts), lops
        )
    np.testing.assert_array_equal(
        load(finished.path / "standard", device="cpu").predict_proba(dataset.corpus.texts), standard
    )


def test_classes_in_the_order_of_columns(models, dataset):
    model = models["lops"]
    assert tuple(model.classes) == CLASSES
    texts = dataset.corpus.texts[:9]
    assert model.predict(texts) == [
        CLASSES[code] for code in model.predict_proba(texts).argmax(axis=1)
    ]


def test_one_text_at_a_time_is_the_same(models, dataset):
    assert_one_at_a_time_is_the_same(models["lops"], dataset.corpus.texts[:6], atol=1e-4)


@pytest.mark.parametrize("text", ["", "  \n", "the", "...", "$ 日本語 ☃", "zyzzyva quux"])
def test_texts_without_a_known_word(models, text):
    """They get what the classifier says of nothing, alone and among others."""
    nothing = models["lops"].predict_proba([""])
    np.testing.assert_allclose(assert_predicts_odd_text(models["lops"], text), nothing, atol=1e-6)


def test_what_is_no_list_of_texts(models):
    assert_wants_a_list_of_texts(models["lops"])


def test_senses_and_phrases_are_remembered(models, finished):
    model = models["lops"]
    assert model.phrases == ["oil painting"]
    assert "court" in model.centres
    assert model.settings == finished.settings
    words = set(model.classifier.vectors.words)
    assert {f"court${sense}" for sense in range(len(model.centres["court"]))} <= words
    assert any(word.startswith("oil_painting") for word in words)


def test_saved_again_it_is_the_same(models, dataset, tmp_path):
    models["lops"].save(tmp_path)
    again = load(tmp_path, device="cpu")
    np.testing.assert_array_equal(
        again.predict_proba(dataset.corpus.texts),
        models["lops"].predict_proba(dataset.corpus.texts),
    )


def test_an_unfinished_run_has_no_classifier(head_start):
    with pytest.raises(
        LopsError, match=r"no trained classifier in .*killed .*wanted the folder of a finished run"
    ):
        load(head_start)
