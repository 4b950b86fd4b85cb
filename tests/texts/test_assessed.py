"""What a committee says about labels: suggestions, the noise, corrections."""

import numpy as np
import pytest

from lops_adapters.selection.posterior import estimate_noise, posterior
from lops_adapters.texts.assessed import Assessed, corrections

LIKELY = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 5)
CODES = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])


def test_suggestions_are_the_most_probable_true_classes():
    judged = Assessed(10)
    judged(LIKELY)
    assert judged.noise is None
    judged.settle(CODES)
    found, _ = posterior(LIKELY, CODES)
    np.testing.assert_array_equal(judged.codes, found.argmax(axis=1))
    np.testing.assert_array_equal(judged.probability, found.max(axis=1))
    assert judged.codes.tolist() == [0] * 5 + [1] * 5
    expected = estimate_noise(LIKELY, CODES)
    assert (judged.noise.rate, judged.noise.low) == (expected.rate, expected.low)
    np.testing.assert_array_equal(judged.right, found[np.arange(10), CODES])


def test_likelihoods_that_cannot_tell_are_not_believed():
    """They prefer six of ten labels, and five by chance."""
    judged = Assessed(10)
    judged(LIKELY)
    codes = np.array([0, 0, 0, 1, 1, 0, 0, 1, 1, 1])
    judged.settle(codes)
    assert judged.noise is None
    np.testing.assert_array_equal(judged.codes, codes)
    np.testing.assert_array_equal(judged.right, 1)


def test_a_class_that_is_too_small_to_check_is_believed():
    judged, likely = Assessed(12), np.zeros((12, 3))
    likely[:10, :2] = LIKELY
    likely[10:] = [0.9, 0.1, 0.0]
    judged(likely)
    judged.settle(np.array([*CODES, 2, 2]))
    assert judged.codes.tolist() == [0] * 5 + [1] * 5 + [2, 2]
    assert judged.right[10:].tolist() == [1, 1]
    assert judged.right[[4, 9]].max() < 0.5


def test_rows_may_come_in_any_order_and_in_parts():
    whole, parts = Assessed(10), Assessed(10)
    whole(LIKELY)
    order = np.array([3, 1, 9, 0, 2, 8, 7, 6, 5, 4])
    for rows in (order[:4], order[4:]):
        parts(LIKELY[rows], rows)
    for judged in (whole, parts):
        judged.settle(CODES)
    np.testing.assert_array_equal(parts.codes, whole.codes)
    np.testing.assert_array_equal(parts.probability, whole.probability)


def test_before_the_labels_it_says_what_the_members_say():
    judged = Assessed(3)
    judged(np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]))
    assert judged.codes.tolist() == [1, 0, 0]
    assert judged.probability.tolist() == [0.75, 0.5, 1.0]


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
    assert corrections(labels, suggested, np.array(rejected, dtype=int)) == expected
