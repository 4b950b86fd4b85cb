"""An outcome: all that a method says, moved as one."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection import Choice, Corrected, Outcome, decide
from lops_adapters.selection.outcome import Predicted

from ..noisy import noisy_texts

TEXTS, LABELS, _ = noisy_texts(n=60, k=3)
LABELLED = Labelled.of(TEXTS, LABELS)


def outcome():
    predicted = Predicted(4)
    predicted.note(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 2]))
    how = {"rule": "toy", "stopped": "counted", "why": ["one", "two"]}
    mask, labels = np.array([True, False, True, False]), np.array([0, 0, 1, 1])
    return Outcome.of(mask, np.arange(4.0), labels, 2, **how, predicted=predicted)


def test_all_that_is_said_of_rows_moves_together():
    """Any field with one value per row, also one that is added later."""
    whole, order = outcome(), np.array([2, 0, 3, 1])
    moved = whole.at(order)
    of_rows = [one.name for one in fields(Outcome) if np.shape(getattr(whole, one.name)) == (4,)]
    assert len(of_rows) == 6
    for name in of_rows:
        np.testing.assert_array_equal(getattr(moved, name), getattr(whole, name)[order])
    assert moved.reports == whole.reports


def test_it_never_changes():
    with pytest.raises(FrozenInstanceError):
        outcome().mask = None


def test_what_users_see():
    selection = outcome().selection(["a", "b"])
    assert selection.kept.tolist() == [0, 2]
    assert [(one.count, one.kept, one.why) for one in selection.per_class.values()] == [
        (2, 1, "one"), (2, 1, "two"),
    ]  # fmt: skip
    corrected = outcome().selection(["a", "b"], np.array([1, 0, 1, 1]))
    assert isinstance(corrected, Corrected)
    assert corrected.labels.tolist() == ["a", "a", "b", "b"]
    assert corrected.before.tolist() == ["b", "a", "b", "b"]


def test_labels_to_train_on():
    """Kept, else suggested; of a row that is kept with certainty, what the person said."""
    whole = outcome()
    assert whole.corrected(has_checks=False).tolist() == [0, -1, 1, -1]
    certain = Outcome.of(
        whole.mask, np.ones(4), whole.labels, 2, rule="", stopped="", why="",
        predicted=Predicted.of(np.array([[0.1, 0.9]] * 4)),
    )  # fmt: skip
    assert certain.corrected(has_checks=True).tolist() == [1, 1, 1, 1]


def test_the_committee_is_fitted_only_if_it_is_asked_for():
    assert decide(LABELLED, Choice(encoder=None)).fitted is None
    fitted = decide(LABELLED, Choice(encoder=None, score_unseen=True)).fitted
    assert fitted.probabilities(TEXTS[:2]).shape == (2, 3)
    with pytest.raises(LopsError, match="random has no option 'score_unseen'; its options are"):
        decide(LABELLED, Choice("random", score_unseen=True))


def test_an_option_of_a_method_is_a_field_of_it():
    choice = Choice("o2u-net", keep=0.5, probe="linear")
    paper, released = (decide(LABELLED, choice, variant=name) for name in ("paper", "released"))
    assert paper.stopped != released.stopped
    with pytest.raises(LopsError, match="o2u-net has no option 'folds'; its options are: variant"):
        decide(LABELLED, choice, folds=3)
