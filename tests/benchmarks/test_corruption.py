"""Wrong labels found in corrupted gold labels: what is measured."""

import numpy as np
import pytest

from benchmarks import corruption
from lops_adapters.datasets import Corpus, Dataset, GoldLabels

from ..noisy import noisy_texts


def test_right_labels_lost_at_a_recall():
    scores, wrong = np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([True, False, True, False, False])
    assert corruption.lost_at_recall(scores, wrong, 0.5) == 0
    assert corruption.lost_at_recall(scores, wrong, 0.51) == 1 / 3
    assert corruption.lost_at_recall(scores, wrong, 1.0) == 1 / 3
    tied = np.zeros(5)
    assert corruption.lost_at_recall(tied, wrong, 0.5) == 1


def test_every_way_is_measured_at_the_recall_of_the_earlier_default(monkeypatch):
    """Views that learn from the gold labels are a bound for the same views."""
    texts, labels, gold = noisy_texts(300, noise=0.3)
    table = texts, np.array(labels, dtype=object), np.array(gold, dtype=object)
    build = corruption.build
    monkeypatch.setattr(
        corruption, "build", lambda *args, **own: build(*args, **{**own, "encoder": None})
    )
    right, mask = corruption.taught_by_gold(*table)
    wrong = table[1] != table[2]
    assert corruption.measured(right, mask, wrong, 10)["auroc"] > 0.95
    assert corruption.lost_at_recall(right, wrong, 0.9) < 0.05


def test_the_table_with_a_rare_class():
    classes = ("a", "b", "c")
    gold = [classes[i % 3] for i in range(300)]
    texts = tuple(f"text {i}" for i in range(300))
    corpus = Corpus("toy", texts, texts, classes, {})
    rng = np.random.default_rng(0)
    texts, labels, own = corruption.with_rare_class(Dataset(corpus, GoldLabels(tuple(gold))), rng)
    assert len(texts) == len(labels) == len(own) == 210
    assert [gold[int(text.split()[1])] for text in texts] == own.tolist()
    assert labels[:10].tolist() == own[:10].tolist() == ["a"] * 10
    assert set(labels[10:]) == {"b", "c"}
    assert (labels != own).mean() == pytest.approx(0.2, abs=0.06)
