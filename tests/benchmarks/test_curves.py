"""Curves: the smoke protocol's cells for real, and the numbers they are made of."""

import json

import numpy as np
import pytest

from benchmarks import collect, curves, nc_curves, runner
from lops_adapters.core import RULES, LopsError

pytestmark = pytest.mark.slow


def test_distributions_sum_to_one_and_know_never():
    probability, learnt = np.array([0.0, 0.19, 0.2, 0.95]), np.array([np.inf, 1.0, 2.0, 1.0])
    found = nc_curves.distributions(probability, learnt, np.array([False, True, True, True]), 2)
    assert found["probability"]["wrong"] == [1.0] + [0.0] * 9
    assert found["probability"]["correct"] == pytest.approx(
        [0, 1 / 3, 1 / 3, 0, 0, 0, 0, 0, 0, 1 / 3]
    )
    assert found["learnt_at"] == {
        "correct": pytest.approx([2 / 3, 1 / 3, 0]),
        "wrong": [0.0, 0.0, 1.0],
    }


def test_the_wrong_are_counted_and_the_surest_of_later_epochs_are_named():
    probability = np.array([0.95, 0.97, 0.96, 0.99, 0.5, 0.94])
    learnt = np.array([2.0, 2.0, 1.0, 2.0, np.inf, 3.0])
    codes, gold = np.array([0, 1, 0, 0, 1, 0]), np.array([1, 0, 1, 0, 0, 1])  # the fourth is right
    found = nc_curves.wrong_samples(probability, learnt, codes, gold, list("abcdef"), ["n", "m"], 3)
    assert found["counts"][9] == [1, 2, 1, 0]
    assert found["counts"][5] == [0, 0, 0, 1]
    assert sum(map(sum, found["counts"])) == 5
    assert [(row["id"], row["probability"], row["learnt_at"]) for row in found["examples"]] == [
        *(("b", 0.97, 2), ("a", 0.95, 2)),
        ("f", 0.94, 3),
        ("e", 0.5, None),
    ]
    assert found["examples"][0] | {"pseudo_label": "m", "gold": "n"} == found["examples"][0]


def test_a_ranking_by_how_often_right_is_above_wrong():
    codes, gold = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    numbers = nc_curves.curve_numbers(np.array([0.9, 0.5, 0.5, 0.1]), codes, gold)
    assert numbers["auroc"] == pytest.approx(3.5 / 4)
    assert nc_curves.curve_numbers(np.ones(4), codes, codes)["auroc"] is None


def test_shares_of_every_class_and_names_of_confidences(tmp_path):
    arguments = ["--every", "5", "--taus", "0.5", "--f1-at", "0.5", "--f1-even", "--also", "random"]
    of = "learning-order,learning-order/inside,probability,random"
    options = [*arguments, "--f1-of", of, "--device", "cpu", "--output", str(tmp_path / "run")]
    assert curves.main([*options, "--quiet"]) == 0
    found = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    kept = {row["by"]: row["kept"] for row in found["f1"]}
    assert list(kept) == [
        *("all", "learning-order", "learning-order, every 5 updates", "probability"),
        *("probability, per class", "random"),
    ]
    assert "o2u-net" not in found["confidences"]
    assert max(abs(share - 0.5) for name, share in kept.items() if name != "all") < 0.01
    for option in ("--f1-of", "--also"):
        with pytest.raises(LopsError, match=f"{option} names 'other'; pass some of"):
            curves.main([*options, option, "other"])


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The results of the smoke protocol's curves and heuristics, as files."""
    folder = tmp_path_factory.mktemp("smoke")
    with pytest.MonkeyPatch.context() as patch:
        for module in (runner, collect):
            patch.setattr(module, "RESULTS", folder / "results")
        for only in ("curves-*", "heuristics-*"):
            assert runner.run_protocol("smoke", only=only, work=folder / "work") == 0
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in folder.glob("results/smoke/*.json")
    }


def test_the_curves_of_smoke(smoke):
    item = smoke["curves-linear-demo-seed0"]
    assert item["about"]["command"].startswith(
        "python -m benchmarks.curves --dataset demo --classifier linear"
    )
    assert item["about"]["settings"]["every"] == 5
    result = item["result"]
    noise = result["pseudo_labels"]["noise"]
    confidences = result["confidences"]
    assert set(confidences) == {
        *("learning-order", "probability", "stability", "margin", "random", "o2u-net", "automatic"),
        *(f"{name}, every 5 updates" for name in ("learning-order", "stability", "margin")),
    }
    for numbers in confidences.values():
        assert numbers["noise"][-1] == pytest.approx(noise, abs=1e-4)
        assert numbers["aunc"] >= numbers["ideal"] - 1e-6
        assert numbers["seconds"] > 0
    assert confidences["probability"]["aunc"] < confidences["random"]["aunc"]
    rules = {(row["rule"], row["tau"], row["every"]): row for row in result["selections"]}
    assert set(rules) == {
        (rule, tau, every)
        for rule in RULES
        for tau in (0.5, 0.9)
        for every in ("epoch", "5 updates")
    } | {(None, None, result["selections"][-1]["every"])}
    assert rules["ranked", 0.5, "epoch"]["kept"] == pytest.approx(0.5, abs=0.01)
    assert rules["ranked", 0.5, "epoch"]["noise"] < noise
    assert result["selections"][-1]["method"] == "automatic"
    counts = np.array(result["wrong"]["counts"])
    assert counts.sum() == round(noise * result["pseudo_labels"]["count"])
    assert (counts.sum(axis=0) / counts.sum()).tolist() == pytest.approx(
        result["distributions"]["learnt_at"]["wrong"]
    )
    kept = {(row["by"], row["at"]): row["kept"] for row in result["f1"]}
    by_epoch = [("learning order above", 1 - epoch / 4) for epoch in (1, 2, 3, 4)]
    assert list(kept) == [
        ("all", 1.0),
        ("learning-order", 0.7),
        ("probability", 0.7),
        ("probability above", 0.3),
        *by_epoch,
    ]
    never = [result["distributions"]["learnt_at"][side][-1] for side in ("correct", "wrong")]
    assert kept[by_epoch[-1]] == pytest.approx(1 - (1 - noise) * never[0] - noise * never[1])
    assert all(0.3 < row["macro_f1"] < 1 for row in result["f1"])


def test_the_heuristics_of_smoke(smoke):
    result = smoke["heuristics-demo"]["result"]
    assert result["n_documents"] == 800
    assert set(result["heuristics"]) >= {"string-match", "exclusive-string-match"}
    assert (
        result["heuristics"]["string-match"]["noise"]
        == smoke["curves-linear-demo-seed0"]["result"]["pseudo_labels"]["noise"]
    )
