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
from .conftest import ARMS
from .toys import CLASSES


@pytest.fixture(scope="module")
def models(finished):
    return {arm: load(finished.path, arm=arm, device="cpu") for arm in ARMS}


@pytest.mark.parametrize("arm", ARMS)
def test_predicts_what_the_run_predicted(models, finished, dataset, arm):
    assert_predicts(
        models[arm], finished.path / arm / "predictions.csv", dataset.corpus.texts, atol=1e-5
    )
    assert tuple(models[arm].classes) == CLASSES


def test_arms_differ_and_lops_is_the_usual_one(models, finished, dataset):
    found = {arm: models[arm].predict_proba(dataset.corpus.texts) for arm in ARMS}
    assert np.abs(found["standard"] - found["lops"]).max() > 1e-3
    assert np.abs(found["standard"] - found["lops-refresh"]).max() > 1e-5
    for path in (finished.path, finished.path / "lops", finished.path / "lops" / "model"):
        np.testing.assert_array_equal(
            load(path, device="cpu").predict_proba(dataset.corpus.texts), found["lops"]
        )


def test_one_text_at_a_time_is_the_same(models, dataset):
    assert_one_at_a_time_is_the_same(models["lops"], dataset.corpus.texts[:6])


@pytest.mark.parametrize(
    "text", ["", "  \n", "...", "$ \u65e5\u672c\u8a9e \u2603", "the " * 200, "[MASK] [SEP]"]
)
def test_odd_texts(models, text):
    assert_predicts_odd_text(models["lops"], text)


def test_what_is_no_list_of_texts(models):
    assert_wants_a_list_of_texts(models["lops"])


def test_saved_again_it_is_the_same(models, dataset, tmp_path):
    models["lops"].save(tmp_path)
    again = load(tmp_path, device="cpu")
    np.testing.assert_array_equal(
        again.predict_proba(dataset.corpus.texts),
        models["lops"].predict_proba(dataset.corpus.texts),
    )


def test_trained_afresh_it_starts_where_the_run_started(models, finished):
    """Not where training ended: its encoder is the language model's."""
    network = models["lops"].network
    assert network.encoder != str(finished.path / "lops" / "model" / "network")
    assert (network.epochs, network.batch_size) == (
        finished.settings.epochs,
        finished.settings.batch_size,
    )


def test_it_can_be_moved(finished, dataset, models, tmp_path, monkeypatch):
    """What a model folder holds is all that prediction needs."""
    (finished.path / "lops" / "model").rename(tmp_path / "moved")
    try:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nothing"))
        moved = load(tmp_path / "moved", device="cpu")
        np.testing.assert_array_equal(
            moved.predict_proba(dataset.corpus.texts),
            models["lops"].predict_proba(dataset.corpus.texts),
        )
    finally:
        (tmp_path / "moved").rename(finished.path / "lops" / "model")


def test_an_unfinished_run_has_no_classifier(head_start):
    with pytest.raises(
        LopsError, match=r"no trained classifier in .*killed .*wanted the folder of a finished run"
    ):
        load(head_start)
