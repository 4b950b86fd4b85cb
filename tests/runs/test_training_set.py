"""The set that is selected from and added to; classes are numbered among all of them, whichever are
present.
"""

import numpy as np
import pytest

from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.training_set import POOL, TrainingSet, fading_classes

CLASSES = ("arts", "law", "sport")


@pytest.fixture
def training():
    """Six documents, of which 1, 2 and 5 are labelled, and none as arts."""
    codes = np.array([2, 1, 2])
    return TrainingSet.start(
        PseudoLabels(np.array([1, 2, 5]), codes, np.array([3.0, 1.0, 2.0]), 6, CLASSES)
    )


def table(labels):
    return list(
        zip(labels.positions.tolist(), labels.labels.tolist(), labels.scores.tolist(), strict=True)
    )


def sure(*rows):
    """Probabilities of six documents: (document, class, probability), the others undecided."""
    found = np.full((6, 3), 1 / 3)
    for document, code, probability in rows:
        found[document] = (1 - probability) / 2
        found[document, code] = probability
    return found


def test_the_start(training):
    assert table(training.pseudo_labels()) == [(1, "sport", 3), (2, "law", 1), (5, "sport", 2)]
    assert training.since.tolist() == [POOL, 0, 0, POOL, POOL, 0]
    labels = training.pseudo_labels()
    assert (labels.n_documents, labels.classes, labels.empty_classes) == (6, CLASSES, ("arts",))
    assert labels.codes.tolist() == [2, 1, 2]


def test_a_missing_class_moves_no_number(training):
    """With classes numbered anew where arts is missing, sport would be 1 and a bootstrapped law
    would join it.
    """
    moved = training.bootstrap(sure((0, 1, 0.9), (3, 2, 0.8)), 0.6, 0)
    assert table(moved) == [(0, "law", 0.9), (3, "sport", 0.8)]
    assert table(training.pseudo_labels()) == [
        (0, "law", 0.9),
        (1, "sport", 3),
        (2, "law", 1),
        (3, "sport", 0.8),
        (5, "sport", 2),
    ]
    assert training.pseudo_labels().codes.tolist() == [1, 2, 1, 2, 2]


def test_the_rejected_return_and_may_come_back_otherwise(training):
    training.reject(np.array([1, 5]))
    assert table(training.pseudo_labels()) == [(2, "law", 1)]
    assert training.codes[[1, 5]].tolist() == [-1, -1]
    assert table(training.bootstrap(sure((1, 0, 0.7), (2, 0, 0.9)), 0.6, 0)) == [
        (1, "arts", 0.7)
    ]  # 2 is no longer in the pool
    assert training.since.tolist() == [POOL, 1, 0, POOL, POOL, POOL]
    assert table(training.bootstrap(sure((0, 0, 0.7)), 0.6, 1)) == [(0, "arts", 0.7)]
    assert training.since.tolist() == [2, 1, 0, POOL, POOL, POOL]


def test_nothing_left_and_nothing_sure(training):
    assert len(training.bootstrap(sure(), 0.6, 0)) == 0
    training.bootstrap(sure(*((i, 0, 0.9) for i in range(6))), 0.6, 0)
    assert (training.since >= 0).all()
    assert len(training.bootstrap(sure((0, 1, 1.0)), 0.6, 1)) == 0


def test_bootstrapping_by_rank(training):
    """The pool is 0, 3 and 4; all are predicted as sport, never sure of law.

    Shares of law: 1/3 of the first set, 0 of the predictions, 1/2 even: 5/18 on average. So law
    gets 0 and 3, which have three times the odds of 4, and the better of them moves.
    """
    law = np.array([0.45, 0.2, 0.2, 0.48, 0.2, 0.2])
    moved = training.bootstrap_by_rank(np.stack([0 * law, law, 1 - law], axis=1), 0.5, 0)
    assert moved.positions.tolist() == [3, 4]
    assert moved.labels.tolist() == ["law", "sport"]
    assert training.since.tolist() == [POOL, 0, 0, 1, 1, 0]
    assert training.pseudo_labels().codes.tolist() == [2, 1, 1, 2, 2]


def test_by_rank_a_class_without_pseudo_labels_stays_without(training):
    """It would get its share of documents, though nothing was learnt of it."""
    noise = np.array([0.4, 0.01, 0.01, 0.01, 0.01, 0.01])
    found = np.stack([noise, (1 - noise) / 2, (1 - noise) / 2], axis=1)
    assert "arts" not in training.bootstrap_by_rank(found, 1.0, 0).labels
    assert (training.since >= 0).all()


def test_a_class_fades_when_its_share_falls_below_half():
    law, sport = 1, 2
    initial = PseudoLabels(np.arange(8), np.repeat([law, sport], 4), np.ones(8), 8, CLASSES)
    at_half = np.repeat([law, sport], [1, 3])
    assert fading_classes(initial, at_half) == []
    assert fading_classes(initial, np.repeat([law, sport], [1, 4])) == [("law", 0.5, 0.2)]
    assert fading_classes(initial, np.repeat([sport], 9)) == [("law", 0.5, 0.0)]
    gone_from_the_start = PseudoLabels(np.arange(4), np.full(4, law), np.ones(4), 8, CLASSES)
    assert fading_classes(gone_from_the_start, at_half) == [("law", 1.0, 0.25)]


@pytest.mark.parametrize(("drop", "moved"), [(False, [1, 3]), (True, [3])])
def test_a_dropped_document_does_not_come_back(training, drop, moved):
    training.reject(np.array([1]), drop=drop)
    found = training.bootstrap(sure((1, 2, 0.9), (3, 2, 0.9)), 0.5, 0)
    assert found.positions.tolist() == moved
