"""Checked documents in a run: what they say of pseudo-labels, and which ones come next."""

import numpy as np
import pytest

from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.files import noise_metrics, write_to_check

from ..framework_tools import read_rows

N, CLASSES = 400, ("arts", "law")
POSITIONS = np.arange(0, N, 2)
LABELS = np.array(CLASSES, dtype=object)[np.arange(len(POSITIONS)) % 2]
CORPUS = Corpus("toy", [f"d{i}" for i in range(N)], [f"text {i}" for i in range(N)], CLASSES)


def test_the_noise_by_checked_documents():
    """Half of "arts" is law or nothing; document 1 has no pseudo-label."""
    checked = {0: "arts", 4: "law", 8: "arts", 12: None, 2: "law", 1: "law"}
    found = noise_metrics(Evaluator(None, checked), POSITIONS, LABELS)
    assert found["noise"] is None
    assert (found["checked_noise"]["checked"], found["checked_noise"]["value"]) == (5, 2 / 5)
    per_class = found["checked_noise_per_class"]
    assert {label: rate["value"] for label, rate in per_class.items()} == {"arts": 0.5, "law": 0}
    assert per_class["arts"]["low"] < 0.3
    assert per_class["arts"]["high"] > 0.7


def test_nothing_checked_says_nothing():
    assert noise_metrics(Evaluator(LABELS), np.arange(200), LABELS) == {"noise": 0}
    found = noise_metrics(Evaluator(None, {1: "law"}), POSITIONS, LABELS)
    assert (found["checked_noise"], found["checked_noise_per_class"]) == (None, {})


def test_an_evaluator_of_some_documents_has_their_checks():
    some = Evaluator(None, {3: "law", 5: None}).at(np.array([5, 9, 3]))
    assert some.checked == {0: None, 2: "law"}


@pytest.mark.parametrize("seed", [0, 1])
def test_documents_to_check(tmp_path, seed):
    labels = PseudoLabels(POSITIONS, LABELS, np.ones(len(POSITIONS)), N, CLASSES)
    write_to_check(tmp_path / "first.csv", CORPUS, labels, [], seed)
    first = read_rows(tmp_path / "first.csv")
    assert [*first[0]][1:] == ["label", "checked", "text"]
    ids = [next(iter(row.values())) for row in first]
    assert len(set(ids)) == 50
    assert sum(row["label"] == "arts" for row in first) == 25
    assert {row["text"] for row in first} == {f"text {name[1:]}" for name in ids}
    write_to_check(tmp_path / "next.csv", CORPUS, labels, [int(name[1:]) for name in ids], seed)
    later = [next(iter(row.values())) for row in read_rows(tmp_path / "next.csv")]
    assert not set(later) & set(ids)
