"""The benchmark of two ideas for pseudo-labels, on toy texts."""

import numpy as np

from benchmarks import hidden_seeds, name_sentences
from benchmarks.hidden_seeds import Deletion, Seeded
from lops_adapters.selection.committee import calibration

from .stored import noisy_table


def test_seed_words_are_deleted_or_as_many_at_random():
    deletion = Deletion({"a": ("goal",), "b": ("好吃", "bank rate")})
    left = deletion("Goal, goals and a bank rate", 0, random=False)
    assert left.split() == [",", "goals", "and", "a"]
    assert deletion("很好吃的", 0, random=False).split() == ["很", "的"]
    text = "goal one two three four five six goal"
    random = {deletion(text, draw, random=True) for draw in range(5)}
    assert len(random) > 1
    assert {len(one.split()) for one in random} == {6}
    assert deletion(text, 3, random=True) == deletion(text, 3, random=True)
    few = Deletion({"a": ("goal",)})("goal " + "word " * 1000, 0, random=False, left=0.1)
    assert 60 < len(few.split()) < 140
    stems = Deletion({"a": ("change", "bill")}, stems=True)
    assert stems("bills to change", 0, random=False).split() == ["to"]


def test_members_do_not_see_the_words(monkeypatch):
    table = noisy_table(tests=30, n=90, k=3, noise=0.1)
    learnt = calibration.coefficients()
    monkeypatch.setattr(hidden_seeds, "coefficients", lambda name: learnt)
    monkeypatch.setattr(hidden_seeds, "SEEDS", 1)
    words = {
        label: (table.texts[table.labels.tolist().index(label)].split()[0],)
        for label in sorted(set(table.gold))
    }
    result = hidden_seeds.run("toy", Seeded(table, words))
    (run,) = result["runs"]
    assert set(run) == {"members without words", *hidden_seeds.ways("toy", 0)}
    assert min(one["auroc"] for one in run.values()) > 0.8
    assert {way for way in run if "macro_f1" in run[way]} == set(hidden_seeds.CLASSIFIED)


def test_clusters_are_matched_with_names_one_to_one():
    said = np.array([0, 0, 0, 1, 1, 0])
    clusters = np.array([1, 1, 1, 0, 0, 0])
    assert name_sentences.matched(clusters, said, 2).tolist() == [0, 0, 0, 1, 1, 1]
    rng = np.random.default_rng(0)
    names = np.eye(8)[:3]
    gold = np.arange(120) % 3
    vectors = names[gold] + rng.normal(scale=0.2, size=(120, 8))
    found = dict(name_sentences.ways(vectors.astype(np.float32), names))
    for way, codes in found.items():
        accuracy = name_sentences.measured(codes, gold)["accuracy"]
        assert accuracy > (0.3 if way.endswith("random start") else 0.9), way
