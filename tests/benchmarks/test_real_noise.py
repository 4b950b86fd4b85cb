"""The benchmark of real noise: its tables, its measures, and its page."""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_noise, real_noise_cleanlab
from benchmarks.pages import real_noise as page
from benchmarks.real_tables import REAL, TABLES, Table, load_table
from lops_adapters.selection.committee import calibration

from .stored import about, noisy_table, write_result

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
    clean = toy()._replace(labels=toy().gold)
    assert real_noise.measured(scores, mask, clean)["auroc"] is None


def test_rows_without_gold_labels_do_not_count():
    table = toy()
    gold = table.gold.copy()
    gold[[0, 1]] = ""  # a wrong label and a right one
    mask = np.ones(23, dtype=bool)
    mask[[0, 1, 2]] = False
    found = real_noise.measured(np.linspace(0, 1, 23), mask, table._replace(gold=gold))
    assert found["right_lost"] == 1 / 20
    assert found["wrong_found"] == 0.0


def test_correction_and_weights_are_measured_with_coefficients_of_other_tables(monkeypatch):
    table = noisy_table("yelp-rules", n=240, k=3, noise=0.2)
    asked = []
    learnt = calibration.coefficients()
    monkeypatch.setattr(real_noise, "coefficients", lambda name: asked.append(name) or learnt)
    found, rival = real_noise.run(table), real_noise_cleanlab.run(table)
    assert asked == ["yelp-rules"]
    assert found["noise"] == pytest.approx((table.labels != table.gold).mean())
    ways = found["ways"] | rival["ways"]
    assert ways.keys() == set(page._WAYS)
    for way in ("select", "cleanlab, static"):
        assert ways[way]["labels_gained"] > 0.05
    assert ways["select"]["low"] <= ways["select"]["estimate"]
    assert set(page._ARMS) == found["macro_f1"].keys() | rival["macro_f1"].keys()


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
    own = {"auroc": 0.85, "average_precision": 0.5, "right_lost": 0.02, "smallest_lost": 0.1}
    own |= {"wrong_found": 0.4, "estimate": 0.05}
    own |= {"low": 0.03, "high": 0.1, "labels_gained": 0.02}
    result = {"n": 1450, "noise": 0.125, "classes": {"a": 1, "b": 2}, "ways": {"select": own}}
    scores = {"all": 70.0, "train.csv": 72.0, "only right": 75.0}
    result["macro_f1"] = {arm: {"plain": 60.0, "balanced": one} for arm, one in scores.items()}
    rival = {"ways": {page._WAYS[1]: {**own, "auroc": 0.8}}}
    for folder, numbers in (("real-noise", result), ("real-noise-cleanlab", rival)):
        write_result(results / folder / "youtube-rules.json", numbers, about("youtube-rules"))
    text = page.ranking().text
    assert "| youtube-rules | 1,450 | 2 | 12.5 | 0.850 / 0.500 | 0.800 / 0.500 | - / - |" in text
    assert "| youtube-rules | 12.5 | 0.850 / 0.800 | 40.0 / 40.0 |" in page.compared().text
    decided = "| youtube-rules | 12.5 | 5.0 (3.0-10.0) | 2.0 / 10.0 / 40.0 |"
    assert decided in page.decisions().text
    text = page.classifiers("balanced").text
    assert "| youtube-rules | 70.0 | - | - | - | - | - | - | - | 72.0 | 75.0 |" in text
    assert "| development: gap closed, % |  | - | - | - | - | - | - | - | 40 | 100 |" in text
    assert "mean, development" not in page.ranking().text
    assert "commits abcdef0123: `python -m benchmarks.real_noise" in page.ranking().text
    assert set(REAL) <= set(TABLES)
