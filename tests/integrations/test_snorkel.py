"""Labels from probabilities, and from Snorkel's label model."""

import random

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.integrations.snorkel import label_model, weak_labels

from ..noisy import noisy_texts

CLASSES = ["class 0", "class 1"]
TEXTS, _, GOLD = noisy_texts()
TRUTH = np.array([CLASSES.index(label) for label in GOLD])


def votes(functions=4, seed=0):
    """Votes of functions that abstain on a third of the texts and are right on most others."""
    rng = np.random.default_rng(seed)
    shape = (len(TRUTH), functions)
    right = np.where(rng.uniform(size=shape) < 0.85, TRUTH[:, None], 1 - TRUTH[:, None])
    found = np.where(rng.uniform(size=shape) < 0.3, -1, right)
    found[:7] = -1
    return found


def test_rows_without_a_class_are_left_out():
    found = [[0.2, 0.8, 0], [0.5, 0.5, 0], [np.nan] * 3, [0, 0, 0], [0, 0, 1], [4, 1, 5]]
    weak = weak_labels(found, ["a", "b", "c"])
    assert weak.positions.tolist() == [0, 4, 5]
    assert weak.labels == ["b", "c", "c"]
    np.testing.assert_allclose(weak.probabilities[2], [0.4, 0.1, 0.5])
    for rows in (list("uvwxyz"), np.array(list("uvwxyz"))):
        assert weak.of(rows) == ["u", "y", "z"]
    assert weak_labels([[1, 0]], [7, 8]).labels == [7]  # of the type of the names


@pytest.mark.parametrize(
    ("found", "classes", "message"),
    [
        ([[1, 0]], ["a"], r"shape \(1, 2\) and 1 classes; wanted a row per sample"),
        ([[1], [1]], ["a"], "of at least 2 classes"),
        ([1, 0], ["a", "b"], r"shape \(2,\)"),
        ([[1, -1]], ["a", "b"], "negative or infinite"),
        ([[0, 0], [1, 1]], ["a", "b"], "none of 2 rows has a most probable class"),
    ],
)
def test_what_are_no_probabilities(found, classes, message):
    with pytest.raises(LopsError, match=message):
        weak_labels(found, classes)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 3)), r"votes are of type float64 and shape \(3, 3\); wanted a matrix of"),
        (np.full((3, 3), 2), "votes run from 2 to 2; wanted 0 to 1, or -1"),
        (np.full((3, 3), -2), "votes run from -2"),
    ],
)
def test_what_are_no_votes(matrix, message):
    with pytest.raises(LopsError, match=message):
        label_model(matrix, CLASSES)


def states():
    import torch

    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, keys.tobytes(), rest, torch.get_rng_state().tolist()


def test_the_label_model_and_a_selection_from_its_labels():
    pytest.importorskip("snorkel", reason="Snorkel is not installed: make test-integrations")
    before = states()
    weak = label_model(votes(), CLASSES, epochs=100)
    assert states() == before
    assert 100 < len(weak.positions) <= 113
    assert weak.positions.min() >= 7
    gold = weak.of(GOLD)
    wrong = np.array(weak.labels) != np.array(gold)
    assert 0.02 < wrong.mean() < 0.3
    selection = select(weak.of(TEXTS), weak.labels, encoder=None)
    assert wrong[selection.kept].mean() < wrong.mean() / 2
    again = label_model(votes(), CLASSES, epochs=100)
    np.testing.assert_array_equal(again.probabilities, weak.probabilities)


def test_a_trained_model_is_used_as_it_is():
    library = pytest.importorskip("snorkel.labeling.model", reason="Snorkel is not installed")
    found = votes()
    model = library.LabelModel(cardinality=2, verbose=False)
    model.fit(found, n_epochs=50, seed=1, progress_bar=False)
    weak = label_model(found, CLASSES, model=model)
    expected = model.predict(found[weak.positions], tie_break_policy="abstain")
    assert weak.labels == [CLASSES[code] for code in expected]
    voter = library.MajorityLabelVoter(cardinality=2)
    assert len(label_model(found[:, :2], CLASSES, model=voter).labels) < len(weak.labels)


def test_too_few_functions():
    pytest.importorskip("snorkel", reason="Snorkel is not installed: make test-integrations")
    with pytest.raises(LopsError, match="found 2 labelling functions"):
        label_model(votes(2), CLASSES)
