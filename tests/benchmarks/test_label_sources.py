"""The benchmark of label sources: its tables, label models, measures and page."""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks import (
    kept,
    label_models,
    select_command,
    source_constants,
    source_guard,
    source_measures,
    sources,
)
from benchmarks.label_models import Combined
from benchmarks.pages import common
from benchmarks.pages import label_sources as page
from benchmarks.source_tables import FAMILIES, TABLES, VotedTable, load_voted, simulated
from benchmarks.speed.generated import documents
from lops_adapters.selection.votes import source_model

from ..noisy import noisy_texts
from .stored import about, write_result

DATA = Path(os.environ.get("LOPS_DATA", "/nowhere"))
needs_data = pytest.mark.skipif(
    not (DATA / "real-noise").is_dir(), reason="LOPS_DATA names no folder with real-noise"
)


def coded(labels):
    return np.array([int(label[-1]) for label in labels])


def toy(n=240, accuracies=(0.9, 0.8, 0.7, 0.4), coverage=0.7):
    """Three classes; the texts hold their names' words, the sources err on their own."""
    texts, _, gold = noisy_texts(n=n, k=3)
    others, _, of_others = noisy_texts(n=60, k=3, seed=1)
    votes = simulated(coded(gold), 3, accuracies, coverage)
    names = tuple(f"source {number}" for number in range(len(accuracies)))
    classes = ("class 0", "class 1", "class 2")
    return VotedTable(texts, votes, coded(gold), classes, names, others, coded(of_others))


@needs_data
@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("youtube-rules", (1942, 10), 2),
        ("questions-rules", (5033, 68), 6),
        ("sms-rules", (4662, 73), 2),
        ("newsbias-llm", (3020, 13), 2),
    ],
)
def test_tables_of_given_votes(name, shape, n_classes):
    table = load_voted(name, DATA)
    assert table.votes.shape == shape
    assert len(table.texts) == len(table.gold) == len(table.votes)
    assert len(table.classes) == n_classes
    assert set(np.unique(table.votes)) == set(range(-1, n_classes))
    assert 0.3 < table.voted.mean() <= 1
    assert len(table.test_texts) == len(table.test_gold) > 200


@needs_data
def test_every_seed_word_is_a_source():
    table = load_voted("agnews-seeds", DATA)
    assert table.votes.shape == (7600, 20)
    column = table.votes[:, table.sources.index("politics: government")]
    assert set(column) == {-1, table.classes.index("politics")}
    assert all("government" in table.texts[row].lower() for row in np.flatnonzero(column >= 0))
    unvoted = {table.texts[row] for row in np.flatnonzero(~table.voted)}
    assert set(table.test_texts) <= unvoted


@needs_data
def test_simulated_annotators():
    table = load_voted("annotators-copied", DATA)
    assert table.votes.shape == (4000, 14)
    assert (table.votes[:, 10:] == table.votes[:, :1]).all()
    some = table.votes >= 0
    right = (table.votes == table.gold[:, None]).sum(axis=0) / some.sum(axis=0)
    assert np.abs(right[:10] - np.linspace(0.35, 0.9, 10)).max() < 0.05
    assert np.abs(some.mean(axis=0) - 0.4).max() < 0.03
    assert not set(table.texts) & set(table.test_texts)
    unequal = load_voted("annotators-unequal", DATA)
    assert np.bincount(unequal.gold).tolist() == [1330, 380, 133, 57]


@pytest.mark.parametrize(
    ("module", "way"),
    [
        ("snorkel", lambda votes: label_models.snorkel(votes, 3, seed=0)),
        ("hyperlm", lambda votes: label_models.hyper(votes, 3)),
        ("crowdkit", lambda votes: label_models.crowd_kit("DawidSkene", votes, 3)),
        ("crowdkit", lambda votes: label_models.crowd_kit("OneCoinDawidSkene", votes, 3)),
    ],
)
def test_label_models_find_the_unlike_source(module, way):
    pytest.importorskip(module, reason="the extra label-models is not installed")
    table = toy(n=600)
    table.votes[:, 3] = np.where(np.arange(600) % 5 == 0, table.votes[:, 3], -1)
    combined = way(np.column_stack([table.votes, [-1] * 600]))
    assert combined.probabilities.shape == (600, 3)
    assert combined.accuracies.shape == (5,)
    assert np.isnan(combined.accuracies[4])  # no votes
    assert combined.accuracies[0] > combined.accuracies[2]
    right = combined.probabilities.argmax(axis=1) == table.gold
    assert right[table.voted].mean() > 0.8


def test_the_best_source_by_hand():
    """The second is right twice; its vote is taken where it votes, the majority elsewhere."""
    votes, gold = np.array([[0, 1], [1, 1], [0, -1]]), np.array([1, 1, 1])
    found = label_models.best_source(votes, gold, 2)
    assert found.probabilities.tolist() == [[0, 1], [0, 1], [1, 0]]


def test_members_are_scored_once(tmp_path):
    table = toy(n=60)
    first = sources.by_select(1, table)[0]
    with kept.members_kept(tmp_path):
        second = sources.by_select(1, table)[0]
        count = len(list(tmp_path.iterdir()))
        third = sources.by_select(1, table)[0]
    assert count == len(list(tmp_path.iterdir())) == 1  # with checked rows, too
    for one in (second, third):
        np.testing.assert_array_equal(one.combined.probabilities, first.combined.probabilities)
        np.testing.assert_array_equal(one.checked[0], first.checked[0])
    assert kept.kept(tmp_path, ("a", 1), lambda: 2) == 2
    assert kept.kept(tmp_path, ("a", 1), lambda: 3) == 2


def test_measures_by_hand():
    votes = np.array([[0, 0], [0, -1], [1, 0], [1, 1], [-1, -1]] * 5)
    gold = np.array([0, 1, 1, 1, 0] * 5)
    text = [""] * 25
    table = VotedTable(text, votes, gold, ("a", "b"), ("one", "two"), [], gold[:0])
    majority = source_measures.JoinedLabels(label_models.majority(votes, 2))
    found = sources.measured(majority, table)
    assert found["accuracy"] == (1 + 0 + 0.5 + 1) / 4
    assert found["auroc_majority"] == 0.5  # the shares of all majority labels are 1
    assert found["accuracies"] == [7 / 8, 5 / 6]  # half right where they differ
    assert found["spearman"] == pytest.approx(1)  # 3 of 4, and 2 of 3
    assert "kept" not in found
    right = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.2, 0.8], [0, 0]] * 5)
    ranges = np.array([[0.7, 0.8], [0, 0.1]])
    kept = np.arange(25) % 5 == 0
    own = source_measures.JoinedLabels(Combined(right, np.array([0.5, 0.6])), kept, ranges)
    found = sources.measured(own, table)
    assert found["accuracy"] == 3 / 4
    assert found["auroc_majority"] == 1
    assert found["spearman"] == pytest.approx(-1)
    assert (found["kept"], found["accuracy_kept"]) == (1 / 4, 1)
    assert found["in_range"] == 1 / 2


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    every = sources.ways(tmp_path_factory.mktemp("kept"))
    chosen = ("majority", "best source", "one label, static", "select, static")
    return sources.run(toy(), {name: every[name] for name in chosen})


def test_select_is_better_than_the_majority(result):
    plain, own = result["ways"]["majority"], result["ways"]["select, static"]
    assert own["accuracy"] > plain["accuracy"] + 0.05
    assert result["ways"]["one label, static"]["accuracy"] > plain["accuracy"] + 0.05
    assert own["accuracy_kept"] >= own["accuracy"]
    assert own["auroc_majority"] > plain["auroc_majority"]
    assert own["spearman"] == 1
    assert own["accuracy_checked"] >= own["corrected"] >= own["accuracy"] > 0.9
    assert len(own["seeds"]) == 3
    assert np.mean(own["seeds"]) == pytest.approx(own["accuracy"])
    assert [source["name"] for source in result["sources"]] == list(toy().sources)


def test_the_page_of_one_table(result, results):
    for make in page.TABLES_OF_PAGE.values():
        assert make() is common.HOLE
    stored = {**result, "voted": 1.0, "versions": {"snorkel": "0.10.0"}}
    write_result(results / "sources" / "agnews-seeds.json", stored, about("agnews-seeds"))
    shown = {name: make().text for name, make in page.TABLES_OF_PAGE.items()}
    accuracy = [100 * result["ways"][way]["accuracy"] for way in result["ways"]]
    cells = " | ".join(f"{share:.1f}" for share in accuracy[1:])
    row = f"| agnews-seeds | {accuracy[0]:.1f} |{' - |' * 6} {cells} |"
    assert row in shown["sources-accuracy"]
    assert "mean" not in shown["sources-accuracy"]  # of tables that are not there
    assert "snorkel 0.10.0, CPU (P), commits abcdef0123" in shown["sources-tables"]
    rank = result["ways"]["select, static"]["spearman"]
    assert shown["sources-ranks"].splitlines()[2].endswith(f"| {rank:.2f} |")
    assert "| agnews-seeds | 4 seed words | 240 | 3 |" in shown["sources-tables"]
    assert "| agnews-seeds |" in shown["sources-seconds"]
    assert "agnews" not in shown["sources-checked"]  # of votes as they were given
    assert set(page._GROUPS["mean, all"]) == set(TABLES) == set(FAMILIES)


def test_constants_are_tried_one_at_a_time(monkeypatch):
    """Accuracies per constant, and sources in ranges that grow with the factors."""
    values = {"ANCHOR": source_constants.CONSTANTS["ANCHOR"]}
    monkeypatch.setattr(source_constants, "CONSTANTS", values)
    table = toy(n=120)
    table.votes[:, 3] = np.where(table.votes[:, 3] == 1, 1, -1)  # a rule for one class
    found = source_constants.measure(table)
    assert list(found["accuracies"]) == ["", "ANCHOR 1", "ANCHOR 10"]
    assert found["accuracies"][""] > 0.85
    assert source_model.ANCHOR == 3.0
    for kind, count in (("one class", 1), ("several classes", 3)):
        rows = [row for row in found["ranges"] if row["kind"] == kind]
        assert len(rows) == 64
        assert {row["sources"] for row in rows} == {count}
        assert rows[0]["width"] < rows[-1]["width"]
        assert rows[0]["inside"] <= rows[-1]["inside"]
    monkeypatch.setattr(source_constants, "LARGE", 119)
    assert [*source_constants.settings(120)] == [("", None)]


def test_votes_of_the_command_repeat_the_labels():
    corpus, labels = documents(2000, classes=4, noise=0)
    columns = select_command.voted(corpus, labels, 3)
    assert list(columns) == ["text", "source1", "source2", "source3"]
    for name, accuracy in (("source1", 0.5), ("source3", 0.9)):
        said = [(vote, label) for vote, label in zip(columns[name], labels, strict=True) if vote]
        assert len(said) == pytest.approx(200, abs=50)
        assert np.mean([vote == label for vote, label in said]) == pytest.approx(accuracy, abs=0.1)


def test_a_guard_compares_joined_labels_with_dawid_and_skene(monkeypatch):
    """Sources that err on their own; and three that say the same, which predict each other."""
    monkeypatch.setattr(source_guard, "DRAWS", 1)
    table = toy(accuracies=(0.9, 0.8, 0.7, 0.6, 0.6))
    draws = source_guard.measure(table)["draws"]
    assert all(3 <= one["sources"] <= 4 and np.isfinite(one["errors"]) for one in draws)
    assert np.mean([one["select"] for one in draws]) > np.mean([one["majority"] for one in draws])
    three = np.array([[0, 0, 0]] * 9 + [[1, 1, 1]] * 9)
    prior, logs = source_guard.dawid_skene(three, 2)
    assert ((prior + logs.sum(axis=1)).argmax(axis=1) == three[:, 0]).all()
    others = source_guard.predicted(three, prior, logs)
    assert (others > 0).all()
    assert (source_guard.predicted(three, prior, 0 * logs) < others).all()
