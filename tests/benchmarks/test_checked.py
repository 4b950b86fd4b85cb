"""The benchmark of checked rows: what it measures, and its page."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import checked, record
from benchmarks.pages import checked as page
from benchmarks.pages import common
from benchmarks.real_tables import Table

from ..noisy import noisy_texts
from .stored import about, write_result


@pytest.fixture(scope="module")
def result():
    texts, labels, gold = noisy_texts(n=240, k=3, noise=0.3)
    others, _, of_others = noisy_texts(n=60, k=3, seed=1)
    as_array = [np.array(part, dtype=object) for part in (labels, gold, of_others)]
    table = Table(texts, *as_array[:2], others, as_array[2], "youtube-rules")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checked, "DRAWS", 2)
        return checked.run(table)


def test_checked_rows_make_labels_more_accurate(result):
    assert result["accuracy"]["labels"] == pytest.approx(1 - result["noise"])
    runs = [run for run in result["runs"] if run["choice"] == "to_check"]
    assert {run["rows"] for run in runs} == set(checked.COUNTS)
    for run in runs:
        assert run["labels_as_given"] >= result["accuracy"]["labels"]
        assert run["accuracy"] >= run["labels_as_given"] - 0.01
        assert run["accuracy"] > result["accuracy"]["labels"]
        assert run["low"] <= run["rate"] <= run["high"]
    assert sum("macro_f1" in run for run in runs) == 4
    others = {run["rows"] for run in result["runs"] if run["choice"] == "random rows"}
    assert others == set(checked.CLASSIFIED)
    assert {run["choice"] for run in result["runs"]} == {
        "to_check",
        "random rows",
        "least trusted rows",
    }


def test_the_page_of_one_table(result, results):
    assert page.accuracy() is common.HOLE
    write_result(results / "checked" / "toy.json", {**result, "seeds": 2}, about())
    noise = 100 * result["noise"]
    assert f"| toy | {100 - noise:.1f} |" in page.accuracy().text
    assert f"| toy | {result['macro_f1']['all']:.1f} |" in page.classifier().text
    assert f"| toy | {noise:.1f} |" in page.interval().text
    assert "2 draws, static encoder, CPU (P), commits abcdef0123" in page.interval().text


def test_only_tables_without_a_result_are_measured(results, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["checked", "--data-dir", "data", "--tables", "old,new"])
    (results / "real-noise").mkdir()
    (results / "real-noise" / "old.json").write_text("")
    labels, nothing = np.array(["b", "a"], dtype=object), np.array([], dtype=object)

    def load(name, folder):
        assert (name, folder) == ("new", Path("data"))
        return Table(["one", "two"], labels, labels, [], nothing)

    measured = {"n": 2}
    record.measure_tables("real_noise", None, ["new"], load, lambda table: measured)
    written = json.loads((results / "real-noise" / "new.json").read_text())
    assert written["result"] == measured
    assert written["about"]["dataset"]["classes"] == ["a", "b"]
    assert "benchmarks.real_noise" in written["about"]["command"]
