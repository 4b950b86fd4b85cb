"""A trained classifier for new texts: what a run predicted, it predicts again."""

import csv

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.loading import load

from .conftest import ARMS
from .toys import CLASSES


@pytest.fixture(scope="module")
def models(finished):
    return {arm: load(finished.path, arm=arm, device="cpu") for arm in ARMS}


@pytest.mark.parametrize("arm", ARMS)
def test_predicts_what_the_run_predicted(models, finished, dataset, arm):
    with (finished.path / arm / "predictions.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    model = models[arm]
    probabilities = model.predict_proba(dataset.corpus.texts)
    assert probabilities.shape == (90, 3)
    assert probabilities.dtype == np.float32
    assert model.predict(dataset.corpus.texts) == [row["predicted"] for row in rows]
    np.testing.assert_allclose(probabilities.max(axis=1), [float(row["probability"]) for row in rows], atol=1e-5)
    assert tuple(model.classes) == CLASSES


def test_arms_differ_and_lops_is_the_usual_one(models, finished, dataset):
    found = {arm: models[arm].predict_proba(dataset.corpus.texts) for arm in ARMS}
    assert np.abs(found["standard"] - found["lops"]).max() > 1e-3
    assert np.abs(found["lops-all"] - found["lops"]).max() > 1e-3
    for path in (finished.path, finished.path / "lops", finished.path / "lops" / "model"):
        np.testing.assert_array_equal(load(path, device="cpu").predict_proba(dataset.corpus.texts), found["lops"])
    np.testing.assert_array_equal(load(finished.path / "lops-all", device="cpu").predict_proba(dataset.corpus.texts), found["lops-all"])


def test_one_text_at_a_time_is_the_same(models, dataset):
    texts = dataset.corpus.texts[:6]
    one_by_one = np.concatenate([models["lops"].predict_proba([text]) for text in texts])
    np.testing.assert_allclose(one_by_one, models["lops"].predict_proba(texts), atol=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "...", "$ 日本語 ☃", "the " * 200])
def test_odd_texts(models, text):
    alone = models["lops"].predict_proba([text])
    assert alone.sum() == pytest.approx(1, abs=1e-5)
    among = models["lops"].predict_proba(["The judge said the verdict.", text, "match"])
    np.testing.assert_allclose(among[1:2], alone, atol=1e-5)
    assert models["lops"].predict([text])[0] in CLASSES


def test_no_texts(models):
    assert models["lops"].predict([]) == []
    assert models["lops"].predict_proba([]).shape == (0, 3)


def test_no_list_of_texts(models):
    with pytest.raises(LopsError, match="found one string; wanted a list of texts"):
        models["lops"].predict("The judge said.")
    with pytest.raises(LopsError, match="found None among the texts"):
        models["lops"].predict(["The judge said.", None])


def test_saved_again_it_is_the_same(models, dataset, tmp_path):
    models["lops"].save(tmp_path)
    again = load(tmp_path, device="cpu")
    np.testing.assert_array_equal(again.predict_proba(dataset.corpus.texts), models["lops"].predict_proba(dataset.corpus.texts))


def test_an_unfinished_run_has_no_classifier(head_start):
    with pytest.raises(LopsError, match=r"no trained classifier in .*killed .*wanted the folder of a finished run"):
        load(head_start)
