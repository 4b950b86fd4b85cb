import csv
import json

import numpy as np
import pytest

from lops_adapters.core import ClassReport, Selection
from lops_adapters.runs.files import (
    add_arm,
    arm_metrics,
    finished_arms,
    selection_metrics,
    write_predictions,
    write_sample_labels,
    write_selection,
)
from lops_adapters.runs.folder import RunFolder


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle))


@pytest.fixture
def selection():
    report = {
        "law": ClassReport(3, 1, 2, 2, 1.5, "closed"),
        "arts": ClassReport(1, 1, 0, 0, None, "never"),
    }
    confidence = np.array([0.5, -1 / 3, 1.0, 0.123456789])
    return Selection(
        np.array([1, 0, 1, 0]),
        np.array([1.5, np.inf, 1.0, 12.25]),
        confidence,
        report,
        "released",
        "all closed",
    )


def test_pseudo_labels(tmp_path):
    write_sample_labels(
        tmp_path / "a.csv", ["d,1", 'd"2', "d\n3"], ["law", "arts", "ä"], [2, 0.85, 1 / 3]
    )
    assert rows(tmp_path / "a.csv") == [
        ["id", "pseudo_label", "score"],
        ["d,1", "law", "2"],
        ['d"2', "arts", "0.85"],
        ["d\n3", "ä", "0.333333"],
    ]


def test_selection(tmp_path, selection):
    write_selection(tmp_path / "a.csv", "abcd", ["law", "law", "law", "arts"], selection)
    assert rows(tmp_path / "a.csv") == [
        ["id", "pseudo_label", "learnt_at", "confidence", "selected"],
        ["a", "law", "1.5", "0.5", "1"],
        ["b", "law", "", "-0.333333", "0"],
        ["c", "law", "1", "1", "1"],
        ["d", "arts", "12.25", "0.123457", "0"],
    ]


def test_predictions(tmp_path):
    probabilities = np.array([[0.2, 0.7, 0.1], [0.4, 0.2, 0.4], [0, 0, 1]], dtype=np.float32)
    write_predictions(tmp_path / "a.csv", ["x", "y", "z"], ["law", "arts", "sport"], probabilities)
    assert rows(tmp_path / "a.csv") == [
        ["id", "predicted", "probability"],
        ["x", "arts", "0.700000"],
        ["y", "law", "0.400000"],  # of equals the first
        ["z", "sport", "1.000000"],
    ]


def test_columns_of_different_length_write_nothing(tmp_path, selection):
    for ids in ("abc", "abcde"):
        with pytest.raises(ValueError, match="argument"):
            write_sample_labels(tmp_path / "a.csv", ids, "abcd", range(4))
        with pytest.raises(ValueError, match="argument"):
            write_selection(tmp_path / "a.csv", ids, "abcd", selection)
        with pytest.raises(ValueError, match="argument"):
            write_predictions(tmp_path / "a.csv", ids, "x", np.ones((4, 1)))
    assert list(tmp_path.iterdir()) == []


def test_metrics_of_a_selection(selection):
    law = {"count": 3, "threshold": 1, "learnt": 2, "kept": 2, "closed_at": 1.5, "why": "closed"}
    arts = {"count": 1, "threshold": 1, "learnt": 0, "kept": 0, "closed_at": None, "why": "never"}
    found = selection_metrics(selection)
    assert found == {
        "selected": 2,
        "rule": "released",
        "stopped": "all closed",
        "per_class": {"law": law, "arts": arts},
    }
    assert json.loads(json.dumps(found)) == found


def iteration(number, seconds, f1=0.5):
    return {
        "iteration": number,
        "micro_f1": f1,
        "macro_f1": f1 / 2,
        "selected": 10 + number,
        "selected_noise": None,
        "seconds": seconds,
    }


def test_an_arm_is_its_last_iteration_and_the_time_of_all():
    iterations = (iteration(0, 1.5, f1=0.9), iteration(1, 2, f1=0.7))
    assert arm_metrics(iterations) == {
        "micro_f1": 0.7, "macro_f1": 0.35, "selected": 11, "selected_noise": None, "seconds": 3.5,
        "iterations": list(iterations),
    }  # fmt: skip


def test_arms_of_earlier_calls_stay(tmp_path):
    run, path = RunFolder(tmp_path), tmp_path / "metrics.json"
    assert finished_arms(run) == {}
    lops, standard, again = (arm_metrics([iteration(0, seconds)]) for seconds in (1, 2, 3))
    first = {"dataset": "toy", "old": 1, "arms": {"lops": lops}}
    assert add_arm(run, {"dataset": "toy", "old": 1}, "lops", lops) == first
    assert json.loads(path.read_text()) == first
    about = {"dataset": "toy", "seconds": {"vectors": np.float64(1.5)}, "kappa": [float("inf")]}
    arms = {"standard": standard, "lops": lops}
    assert list(add_arm(run, about, "standard", standard)["arms"].items()) == list(arms.items())
    stored = json.loads(path.read_text())
    about = {"dataset": "toy", "seconds": {"vectors": 1.5}, "kappa": [None]}
    assert stored == {**about, "arms": arms}
    for arm in ("lops-all", "standard"):
        add_arm(run, about, arm, again)
    stored = json.loads(path.read_text())["arms"]
    assert list(stored.items()) == [("standard", again), ("lops", lops), ("lops-all", again)]
