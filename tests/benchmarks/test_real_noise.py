"""The benchmark of real noise: its tables, its measures, and its page."""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_noise
from benchmarks.pages import real_noise as page
from benchmarks.real_tables import REAL, TABLES, Table, load_table
from lops_adapters.selection.committee import calibration

from ..noisy import noisy_texts
from .stored import about, write_result

DATA = Path(os.environ.get("LOPS_DATA", "/nowhere"))
needs_data = pytest.mark.skipif(
    not (DATA / "real-noise").is_dir(), reason="LOPS_DATA names no folder with real-noise"
)


def toy():
    gold = np.array(["a"] * 12 + ["b"] * 11, dtype=object)
    labels = gold.copy()
    labels[[0, 12]] = "b", "a"
    return Table(["text"] * 23, labels, gold, [], np.array([], dtype=object))


def test_measures_by_hand():
    mask = np.ones(23, dtype=bool)
    mask[[0, 1, 13]] = False  # one wrong label, and a right one of each class
    scores = np.linspace(0.5, 1, 23)
    scores[[0, 12]] = 0.1, 0.2
    found = real_noise.measured(scores, mask, toy())
    assert found["auroc"] == 1.0
    assert found["right_lost"] == 2 / 21
    assert found["smallest_lost"] == 1 / 10
    assert found["wrong_found"] == 1 / 2
    assert found["noise_kept"] == 1 / 20
    clean = toy()._replace(labels=toy().gold)
    assert real_noise.measured(scores, mask, clean)["auroc"] is None


def test_rows_without_gold_labels_do_not_count():
    table = toy()
    gold = table.gold.copy()
    gold[[0, 1]] = ""  # a wrong label and a right one
    mask = np.ones(23, dtype=bool)
    mask[[0, 1, 2]] = False
    found = real_noise.measured(np.linspace(0, 1, 23), mask, table._replace(gold=gold))
    assert found["kept"] == 20 / 21
    assert found["right_lost"] == 1 / 20
    assert found["wrong_found"] == 0.0


def test_correction_and_weights_are_measured_with_coefficients_of_other_tables(monkeypatch):
    texts, labels, gold = noisy_texts(n=240, k=3, noise=0.2)
    others, _, of_others = noisy_texts(n=60, k=3, seed=1)
    labels, gold, of_others = (np.array(part, dtype=object) for part in (labels, gold, of_others))
    table = Table(texts, labels, gold, others, of_others, "yelp-rules")
    asked = []
    learnt = calibration.coefficients()
    monkeypatch.setattr(real_noise, "SEEDS", 1)
    monkeypatch.setattr(real_noise, "coefficients", lambda name: asked.append(name) or learnt)
    found = real_noise.run(table)
    assert asked == ["yelp-rules"]
    assert found["noise"] == pytest.approx((labels != gold).mean())
    (run,) = found["runs"]
    assert run["ways"].keys() == set(page._WAYS)
    for way in ("select", "cleanlab, static"):
        assert run["ways"][way]["labels_gained"] > 0.05
    assert run["ways"]["select"]["low"] <= run["ways"]["select"]["estimate"]
    assert set(page._ARMS) == run["macro_f1"].keys() | found["macro_f1"].keys()


def test_coefficients_without_a_family_differ():
    own = real_noise.coefficients("yelp-rules")
    assert own.keys() == calibration.coefficients().keys()
    assert "yelp-rules" not in own["families"]
    assert own["texts"]["offset"] != calibration.coefficients()["texts"]["offset"]


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_real_tables(name):
    table = load_table(name, DATA)
    assert len(table.texts) == len(table.labels) == len(table.gold)
    assert set(table.test_gold) <= set(table.gold)
    assert 0.05 < (table.labels != table.gold).mean() < 0.6
    shared = set(table.test_texts) & set(table.texts)
    assert len(shared) < 0.1 * len(table.test_texts)  # some comments and sentences occur twice


@needs_data
@pytest.mark.parametrize("name", ["agnews-random", "agnews-oneway", "agnews-unequal-large"])
def test_corrupted_tables(name):
    table = load_table(name, DATA)
    wrong = table.labels != table.gold
    assert 0.03 < wrong.mean() < 0.25
    if name != "agnews-random":
        assert len(set(table.labels[wrong])) == 1
    again = load_table(name, DATA)
    assert again.texts == table.texts
    assert (again.labels == table.labels).all()


def test_the_page_of_one_table(results):
    own = {"auroc": 0.9, "average_precision": 0.5, "right_lost": 0.02, "smallest_lost": 0.1}
    own |= {"wrong_found": 0.4, "kept": 0.95, "processor_seconds": 1.25, "estimate": 0.05}
    own |= {"low": 0.03, "high": 0.1, "labels_gained": 0.02}
    score = {"plain": 60.0, "balanced": 70.0}
    runs = [
        {"ways": dict.fromkeys(page._WAYS, own), "macro_f1": {"random": score, "kept": score}},
        {
            "ways": {way: {**own, "auroc": 0.8} for way in page._WAYS},
            "macro_f1": {"random": score, "kept": {"plain": 64.0, "balanced": 74.0}},
        },
    ]
    result = {"n": 1450, "noise": 0.125, "classes": {"a": 1, "b": 2}, "seeds": 2, "runs": runs}
    result["macro_f1"] = {"all": score, "only right": score}
    write_result(results / "real-noise" / "youtube-rules.json", result, about("youtube-rules"))
    text = page.ranking().text
    assert "| youtube-rules | 1,450 | 2 | 12.5 | 0.850 ± 0.050 / 0.500 ± 0.000 |" in text
    assert "| youtube-rules | 12.5 | 0.850 / " in page.compared().text
    assert "| youtube-rules | 12.5 | 2.0 / 10.0 / 40.0 |" in page.decisions().text
    assert "| 70.0 | 70.0 ± 0.0 | 72.0 ± 2.0 | - |" in page.classifiers("balanced").text
    head = "| mean of 1 tables | 12.5 | 0.850 | 0.850 | +2.0 | +2.0 | 0 of 1 | 0 of 1 |"
    assert head in page.headline().text
    assert "| youtube-rules | 12.5 | 5.0 (3.0-10.0) | 5.0 |" in page.estimates().text
    assert "mean, real" not in page.ranking().text
    assert "commits abcdef0123: `python -m benchmarks.real_noise" in page.ranking().text
    assert set(REAL) <= set(TABLES)
