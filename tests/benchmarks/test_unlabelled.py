"""The benchmark of rows without a label, on a toy table."""

import numpy as np

from benchmarks import unlabelled
from benchmarks.real_tables import Table
from lops_adapters.selection.committee import calibration
from lops_adapters.texts import rest

from ..noisy import noisy_texts


def test_a_toy_table(monkeypatch):
    texts, labels, gold = noisy_texts(n=150, k=3, noise=0.1)
    test_texts, _, test_gold = noisy_texts(n=30, k=3, seed=1)
    labels, gold, test_gold = (np.array(part, dtype=object) for part in (labels, gold, test_gold))
    labels[2::4], gold[:6] = "", ""  # of row 2, neither is known
    learnt, share = calibration.coefficients(), rest.SHARE
    monkeypatch.setattr(unlabelled, "coefficients", lambda name: learnt)
    monkeypatch.setattr(unlabelled, "SEEDS", 1)
    result = unlabelled.run(Table(texts, labels, gold, test_texts, test_gold, "toy"))
    assert (result["n"], result["labelled"]) == (150, 113)
    known = (labels != "") & (gold != "")
    assert result["noise"] == np.mean(labels[known] != gold[known])
    (measures,) = result["runs"]
    assert set(measures["accuracy"]) == {"committee", "select", "at once"}
    accuracies = [result["accuracy"]["labels as given"], *measures["accuracy"].values()]
    assert min(accuracies) > 0.8
    np.testing.assert_allclose(np.rint(36 * np.array(accuracies)), 36 * np.array(accuracies))
    assert set(measures["macro_f1"]) == {"train.csv without them", "train.csv"}
    assert min(result["macro_f1"]["labels as given"], *measures["macro_f1"].values()) > 80
    assert share == rest.SHARE
