"""Trained classifiers for new texts: what a run predicted, they predict again."""

import shutil
from contextlib import suppress

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.runs.classifiers import TextClassifier
from lops_adapters.runs.models import load

from ..framework_checks import assert_predicts


@pytest.fixture(scope="module")
def models(case, whole):
    with case.small():
        return {arm: load(whole.path, arm=arm, device="cpu") for arm in case.arms}


@pytest.fixture(scope="module")
def predicted(models, stand):
    """What each arm's classifier says of the corpus."""
    return {arm: model.predict_proba(stand.texts) for arm, model in models.items()}


def test_predicts_what_the_run_predicted(models, predicted, stand, whole):
    for arm, model in models.items():
        assert isinstance(model, TextClassifier)
        assert tuple(model.classes) == stand.case.toys.CLASSES
        table = whole.path / arm / "predictions.csv"
        assert_predicts(model, table, stand.texts, stand.case.atol, predicted[arm])


def test_arms_differ_and_the_best_is_the_default(predicted, stand, whole):
    for arm in set(predicted) - {"standard", *stand.case.alike}:
        assert np.abs(predicted["standard"] - predicted[arm]).max() > 1e-5, arm
    best = "lops-documents" if "lops-documents" in predicted else "lops"
    again = load(whole.path, device="cpu").predict_proba(stand.texts)
    np.testing.assert_array_equal(again, predicted[best])


ODD = ["", "  \n", "...", "$ 日本語 ☃", "\x00 \ufeff", "the " * 200]


def test_one_text_at_a_time_is_the_same(models, stand):
    """Odd texts, too."""
    model, texts = models["lops"], [*stand.texts[:6], *ODD]
    one_by_one = np.concatenate([model.predict_proba([text]) for text in texts])
    atol = max(stand.case.atol / 10, 1e-5)
    np.testing.assert_allclose(one_by_one, model.predict_proba(texts), atol=atol)
    np.testing.assert_allclose(one_by_one.sum(axis=1), 1, atol=1e-5)
    assert {*model.predict(ODD)} <= {*model.classes}


def test_what_is_no_list_of_texts(models):
    """No text gives nothing; an array of texts is as good as a list."""
    model = models["lops"]
    assert model.predict([]) == []
    assert model.predict_proba([]).shape == (0, len(model.classes))
    assert model.predict(np.array(["The judge said."])) == model.predict(["The judge said."])
    with pytest.raises(LopsError, match="found one string; wanted a list of texts"):
        model.predict("The judge said.")
    with pytest.raises(LopsError, match="found None among the texts"):
        model.predict(["The judge said.", None])


def test_saved_again_it_is_the_same(models, predicted, stand, tmp_path):
    models["lops"].save(tmp_path)
    again = load(tmp_path, device="cpu").predict_proba(stand.texts)
    np.testing.assert_array_equal(again, predicted["lops"])


def test_a_model_folder_can_be_moved(predicted, stand, whole, tmp_path, monkeypatch):
    """What it holds is all that prediction needs."""
    place = whole.path / "lops" / "model"
    place.rename(tmp_path / "moved")
    try:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nothing"))
        moved = load(tmp_path / "moved", device="cpu").predict_proba(stand.texts)
        np.testing.assert_array_equal(moved, predicted["lops"])
    finally:
        (tmp_path / "moved").rename(place)


@pytest.mark.parametrize("case", ["conwea", "xclass"], indirect=True)
def test_a_classifier_made_again_leaves_the_model_of_the_last_round(stand, tmp_path):
    """As after a resume that tells of a damaged stage."""
    run, options = tmp_path / "run", ["--arms", "lops", "--classifier", "linear", "--rounds", "2"]
    assert stand.command(run, *options).status == 0
    weights = run / "lops" / "model" / "classifier" / "linear.npz"
    before = weights.read_bytes()
    for stage in [run / "metrics.json", *run.glob("work/lops*-classifier.npz")]:
        stage.unlink()
    assert stand.command(run, *options, "--resume").status == 0
    assert weights.read_bytes() == before


DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "one bit": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "other": lambda content: b"{}",
    "missing": None,
}
OPTIONAL = {"tokenizer_config.json", "special_tokens_map.json", "generation_config.json"}
PARSED = (".json", ".npz", ".safetensors", ".keras")


def copies(place, tmp_path):
    """A model folder with one of its files damaged, once per file and kind of damage."""
    for file in sorted(path for path in place.rglob("*") if path.is_file()):
        for kind, change in DAMAGES.items():
            copy = tmp_path / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            damaged = copy / file.relative_to(place)
            if change is None:
                damaged.unlink()
            else:
                damaged.write_bytes(change(damaged.read_bytes()))
            yield kind, damaged, copy


def test_a_damaged_file_is_one_sentence(whole, tmp_path):
    place = whole.path / "lops" / "model"
    for kind, damaged, copy in copies(place, tmp_path):
        unread = kind in ("cut", "empty") and damaged.suffix in PARSED
        may_load = kind == "one bit" or damaged.suffix not in PARSED or damaged.name in OPTIONAL
        with suppress(LopsError) if may_load and not unread else pytest.raises(LopsError) as error:
            load(copy, device="cpu")
        if unread:
            assert str(copy) in str(error.value), (kind, damaged)
            assert "damaged" in str(error.value)
            assert len(str(error.value)) < 400 + len(str(copy))
