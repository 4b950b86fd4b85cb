"""Soft labels from Snorkel's label model."""

import random

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.integrations.snorkel import label_model

from ..noisy import noisy_texts

CLASSES = ["class 0", "class 1"]
TEXTS, _, GOLD = noisy_texts()
TRUTH = np.array([CLASSES.index(label) for label in GOLD])
MISSING = "Snorkel is not installed: make test-integrations"


def votes(functions=4, seed=0):
    """Votes of functions that abstain on a third of the texts and are right on most others."""
    rng = np.random.default_rng(seed)
    shape = (len(TRUTH), functions)
    right = np.where(rng.uniform(size=shape) < 0.85, TRUTH[:, None], 1 - TRUTH[:, None])
    found = np.where(rng.uniform(size=shape) < 0.3, -1, right)
    found[:7] = -1
    return found


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 3)), r"votes are of type float64 and shape \(3, 3\); wanted a matrix of"),
        (np.full((3, 3), 2), "votes run from 2 to 2; wanted 0 to 1, or -1"),
        (np.full((3, 3), -2), "votes run from -2"),
        (np.zeros((3, 2), dtype=int), "found 2 labelling functions; .* pass model=MajorityLabel"),
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
    pytest.importorskip("pandas")
    pytest.importorskip("snorkel", reason=MISSING)
    before = states()
    found = label_model(votes(), CLASSES, epochs=100)
    assert states() == before
    assert list(found.columns) == CLASSES
    sums = found.to_numpy().sum(axis=1)
    assert (sums[:7] == 0).all()
    np.testing.assert_allclose(sums[sums > 0], 1)
    selection = select(TEXTS, soft_labels=found, encoder=None)
    assert 7 <= len(selection.abstained) < 20
    assert selection.abstained.tolist() == np.flatnonzero(sums == 0).tolist()
    wrong = np.array(selection.labels) != np.array(GOLD)
    wrong[selection.abstained] = False
    assert wrong[selection.kept].mean() < wrong.mean() / 2
    again = label_model(votes(), CLASSES, epochs=100)
    np.testing.assert_array_equal(again, found)


def test_a_trained_model_is_used_as_it_is():
    library = pytest.importorskip("snorkel.labeling.model", reason=MISSING)
    matrix = votes()
    model = library.LabelModel(cardinality=2, verbose=False)
    model.fit(matrix, n_epochs=50, seed=1, progress_bar=False)
    for used in (model, library.MajorityLabelVoter(cardinality=2)):
        found = label_model(matrix, CLASSES, model=used)
        expected = used.predict(matrix, tie_break_policy="abstain")
        expected[:7] = -1  # the label model gives them the most frequent class
        sums = found.to_numpy().sum(axis=1)
        np.testing.assert_array_equal(
            np.where(sums == 0, -1, found.to_numpy().argmax(axis=1)), expected
        )
    label_model(matrix[:, :2], CLASSES, model=library.MajorityLabelVoter(cardinality=2))
