"""What a committee says about labels: suggestions, the noise, corrections."""

from types import SimpleNamespace

import numpy as np
import pytest

from lops_adapters.selection.posterior import (
    estimate_noise,
    label_distribution,
    posterior,
    posterior_given,
)
from lops_adapters.texts.assessed import Assessed
from lops_adapters.texts.result import TextSelection

LIKELY = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 5)
CODES = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])


def settled(likely, codes, checked=None):
    """What a committee tells: likelihoods, and the probabilities of the true classes."""
    assessed = Assessed(len(codes))
    assessed(likely)
    true = posterior_given(likely, codes, label_distribution(likely, codes, least=3))
    assessed.settle(likely, true, true, codes)
    checked, true = checked or {}, np.array([*(checked or {}).values()], dtype=int)
    assessed.finish([f"text {i}" for i in range(len(codes))], checked, true, seed=0)
    return assessed


def test_suggestions_are_the_most_probable_true_classes():
    assessed = settled(LIKELY, CODES)
    found, _ = posterior(LIKELY, CODES)
    np.testing.assert_array_equal(assessed.codes, found.argmax(axis=1))
    np.testing.assert_array_equal(assessed.probability, found.max(axis=1))
    assert assessed.codes.tolist() == [0] * 5 + [1] * 5
    expected = estimate_noise(LIKELY, CODES)
    assert (assessed.noise.rate, assessed.noise.low) == (expected.rate, expected.low)
    np.testing.assert_array_equal(assessed.right, found[np.arange(10), CODES])


def test_likelihoods_that_cannot_tell_are_not_believed():
    """They prefer six of ten labels, and five by chance."""
    codes = np.array([0, 0, 0, 1, 1, 0, 0, 1, 1, 1])
    assessed = settled(LIKELY, codes)
    assert assessed.noise is None
    np.testing.assert_array_equal(assessed.codes, codes)
    np.testing.assert_array_equal(assessed.right, 1)


def test_a_class_that_is_too_small_to_check_is_believed():
    likely = np.zeros((12, 3))
    likely[:10, :2] = LIKELY
    likely[10:] = [0.9, 0.1, 0.0]
    assessed = settled(likely, np.array([*CODES, 2, 2]))
    assert assessed.codes.tolist() == [0] * 5 + [1] * 5 + [2, 2]
    assert assessed.right[10:].tolist() == [1, 1]
    assert assessed.right[[4, 9]].max() < 0.5


def test_checked_rows_are_right_and_measure_the_noise():
    assessed = settled(LIKELY, CODES, {4: 0, 9: 1, 0: 0})
    assert assessed.right[[4, 9, 0]].tolist() == [1, 1, 1]
    assert assessed.rate.checked == 3
    assert assessed.rates[0].checked == 2  # rows 0 and 9 are labelled 0
    assert assessed.rates[0].value == pytest.approx(1 / 5)  # of five: the one that differs
    assert sorted(assessed.check_order.tolist()) == list(range(10))


def test_before_the_labels_it_says_what_the_members_say():
    assessed = Assessed(3)
    assessed(np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]))
    assert assessed.codes.tolist() == [1, 0, 0]
    assert assessed.probability.tolist() == [0.75, 0.5, 1.0]


@pytest.mark.parametrize(
    ("labels", "suggested", "rejected", "expected"),
    [
        ([], [], [], []),
        (["a", "b"], ["a", "b"], [0, 1], []),
        (["a", "b"], ["b", "a"], [], []),
        (["a", "b", "b"], ["b", "a", "a"], [0, 1, 2], [("b", "a", 2), ("a", "b", 1)]),
        (["b", "a"], ["a", "b"], [0, 1], [("a", "b", 1), ("b", "a", 1)]),  # ties by name
        ([2, 10], [10, 2], [0, 1], [(10, 2, 1), (2, 10, 1)]),
    ],
)
def test_corrections(labels, suggested, rejected, expected):
    columns = {"labels": labels, "suggested": np.array(suggested, dtype=object)}
    selection = SimpleNamespace(**columns, rejected=np.array(rejected, dtype=int))
    assert TextSelection.corrections(selection) == expected
