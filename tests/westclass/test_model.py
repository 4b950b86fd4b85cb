"""A trained classifier for new texts: what a run predicted, it predicts again."""

import numpy as np
import pytest

from lops_adapters.runs.models import load

from ..framework_checks import assert_predicts, assert_says_of_nothing

KINDS = ("cnn", "han", "faithful")


@pytest.fixture(scope="module")
def runs(finished, dataset, go, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    small = {"pretrain_epochs": 8, "max_iterations": 3}
    return {
        "cnn": finished,
        "han": go(dataset, folder / "han", ["standard"], network="han", **small),
        "faithful": go(dataset, folder / "faithful", ["standard"], faithful=True, **small),
    }


@pytest.fixture(scope="module")
def models(runs):
    return {kind: load(done.path, device="cpu") for kind, done in runs.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_predicts_what_the_run_predicted(models, runs, dataset, kind):
    model, arm = models[kind], "lops" if kind == "cnn" else "standard"
    probabilities = assert_predicts(
        model, runs[kind].path / arm / "predictions.csv", dataset.corpus.texts, atol=1e-6
    )
    assert np.ptp(probabilities, axis=0).min() > 0.01
    with np.load(runs[kind].path / "work" / f"{arm}-self-training.npz") as stored:
        np.testing.assert_allclose(probabilities, stored["probabilities"], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_without_a_known_word(models, kind):
    odd = ["  \n", "?", "$ 日本語 ☃", "zyzzyva quux", "\x00 \ufeff"]
    assert_says_of_nothing(models[kind], odd)


def test_texts_are_cut_into_tokens_as_the_run_did(models):
    """To the original's tokens an underscore belongs to the word."""
    text, cut, nothing = (["judge_trial judge_trial"], ["judge trial judge trial"], [""])
    for kind in ("cnn", "han"):
        np.testing.assert_allclose(
            models[kind].predict_proba(text), models[kind].predict_proba(cut), atol=1e-6
        )
    faithful = models["faithful"]
    np.testing.assert_allclose(
        faithful.predict_proba(text), faithful.predict_proba(nothing), atol=1e-6
    )
    assert np.abs(faithful.predict_proba(cut) - faithful.predict_proba(nothing)).max() > 1e-4


def test_words_of_the_corpus_are_remembered(models):
    words = {kind: set(model.network.vectors.words) for kind, model in models.items()}
    assert words["cnn"] == words["han"]
    assert words["faithful"] == words["cnn"] | {"<PAD/>"}
