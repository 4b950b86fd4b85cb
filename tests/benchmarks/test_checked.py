"""The benchmark of checked rows: what it measures, and its page."""

import json
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from benchmarks import checked, record
from benchmarks.pages import checked as page
from benchmarks.pages import common
from benchmarks.real_tables import Table

from .stored import about, noisy_table, write_result


@pytest.fixture(scope="module")
def results_of_tables():
    """Results of a table whose labels were given, and of its gold labels."""
    noisy = noisy_table("youtube-rules", n=120, k=3, noise=0.3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checked, "DRAWS", 1)
        patched.setattr(checked, "COUNTS", (10, 20))
        return [checked.run(noisy), checked.run(noisy._replace(labels=noisy.gold, name="toy-gold"))]


def test_checked_rows_make_labels_more_accurate(results_of_tables):
    result, clean = results_of_tables
    ways = result["ways"]
    assert set(page._WAYS) | {"who labelled"} == set(ways)
    assert set(ways["to_check"]) == {"0", "10", "20"}
    for count in ("10", "20"):
        found = ways["to_check"][count]
        assert found["alone"] > 1 - result["noise"]
        assert found["accuracy"] > found["alone"]
        assert found["accuracy"] > found["few-shot"]
        assert found["low"] <= found["rate"] <= found["high"]
        assert found["gain"] > 0.1
        assert "macro_f1" in found
    assert ways["class shares"].keys() == ways["who labelled"].keys() == {"0"}
    assert set(clean["ways"]) == {"to_check"}
    assert clean["noise"] == 0
    assert clean["ways"]["to_check"]["20"]["right_lost"] < 0.1


def test_wrong_answers_are_as_frequent_as_they_should_be():
    gold = np.arange(4000) % 4
    data = mock.Mock(gold=gold, classes=np.arange(4))
    answers = checked.slipped(data, np.arange(4000), 0.1, draw=3)
    assert (answers != gold).mean() == pytest.approx(0.1, abs=0.02)
    assert set(answers) == set(range(4))
    assert (checked.slipped(data, np.arange(4000), 0.0, draw=3) == gold).all()


def test_the_pages_of_two_tables(results_of_tables, results, monkeypatch):
    monkeypatch.setattr(page, "COUNTS", ("0", "10", "20"))
    monkeypatch.setattr(page, "_FEW", ("0", "10", "20"))
    assert page.summary() == page.classifier() == common.HOLE
    for name, result in zip(("youtube-rules", "toy-gold"), results_of_tables, strict=True):
        write_result(results / "checked" / f"{name}.json", result, about(name))
    result = results_of_tables[0]
    noise, scores = 100 * result["noise"], result["macro_f1"]
    gain = 100 * result["ways"]["to_check"]["10"]["gain"]
    assert f"| youtube-rules | {noise:.1f} |" in page.per_table().text
    assert f"| youtube-rules | {scores['all']:.1f} |" in page.classifier().text
    assert f"{gain:+.1f}" in page.summary().text
    assert "the same rows corrected alone" in page.rivals().text
    assert "| random rows |" in page.ways().text
    assert "1 draws, static encoder, CPU (P), commits abcdef0123" in page.summary().text


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
