"""The benchmark of rows without a label, on a toy table."""

import numpy as np

from benchmarks import unlabelled
from lops_adapters.selection.committee import calibration
from lops_adapters.texts import rest

from .stored import noisy_table


def test_a_toy_table(monkeypatch):
    table = noisy_table(tests=30, n=150, k=3, noise=0.1)
    labels, gold = table.labels, table.gold
    labels[2::4], gold[:6] = "", ""  # of row 2, neither is known
    learnt, share = calibration.coefficients(), rest.SHARE
    monkeypatch.setattr(unlabelled, "coefficients", lambda name: learnt)
    monkeypatch.setattr(unlabelled, "SEEDS", 1)
    result = unlabelled.run(table)
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
