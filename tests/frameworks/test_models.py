"""Trained classifiers for new texts: what a run predicted, they predict again."""

import numpy as np
import pytest

from lops_adapters.runs.models import TextClassifier, load

from ..framework_checks import (
    assert_one_at_a_time_is_the_same,
    assert_predicts,
    assert_predicts_odd_text,
    assert_wants_a_list_of_texts,
)


@pytest.fixture(scope="module")
def models(case, whole):
    with case.small():
        return {arm: load(whole.path, arm=arm, device="cpu") for arm in case.arms}


def test_predicts_what_the_run_predicted(models, stand, whole):
    for arm, model in models.items():
        assert isinstance(model, TextClassifier)
        assert tuple(model.classes) == stand.case.toys.CLASSES
        table = whole.path / arm / "predictions.csv"
        assert_predicts(model, table, stand.texts, atol=stand.case.atol)


def test_arms_differ_and_lops_is_the_default(models, stand, whole):
    found = {arm: model.predict_proba(stand.texts) for arm, model in models.items()}
    for arm in set(found) - {"standard"}:
        assert np.abs(found["standard"] - found[arm]).max() > 1e-5, arm
    for path in (whole.path, whole.path / "lops", whole.path / "lops" / "model"):
        again = load(path, device="cpu").predict_proba(stand.texts)
        np.testing.assert_array_equal(again, found["lops"])
    again = load(whole.path / "standard", device="cpu").predict_proba(stand.texts)
    np.testing.assert_array_equal(again, found["standard"])


def test_one_text_at_a_time_is_the_same(models, stand):
    atol = max(stand.case.atol / 10, 1e-5)
    assert_one_at_a_time_is_the_same(models["lops"], stand.texts[:6], atol)


@pytest.mark.parametrize("text", ["", "  \n", "...", "$ 日本語 ☃", "\x00 \ufeff", "the " * 200])
def test_odd_texts(models, text):
    assert_predicts_odd_text(models["lops"], text)


def test_what_is_no_list_of_texts(models):
    assert_wants_a_list_of_texts(models["lops"])


def test_saved_again_it_is_the_same(models, stand, tmp_path):
    models["lops"].save(tmp_path)
    again, wanted = load(tmp_path, device="cpu"), models["lops"].predict_proba(stand.texts)
    np.testing.assert_array_equal(again.predict_proba(stand.texts), wanted)


def test_a_model_folder_can_be_moved(models, stand, whole, tmp_path, monkeypatch):
    """What it holds is all that prediction needs."""
    place = whole.path / "lops" / "model"
    place.rename(tmp_path / "moved")
    try:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nothing"))
        moved = load(tmp_path / "moved", device="cpu").predict_proba(stand.texts)
        np.testing.assert_array_equal(moved, models["lops"].predict_proba(stand.texts))
    finally:
        (tmp_path / "moved").rename(place)
