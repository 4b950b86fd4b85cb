"""What a committee says about labels: suggestions, the noise, corrections."""

import numpy as np
import pytest

from lops_adapters.selection.posterior import estimate_noise, posterior
from lops_adapters.texts.judged import Judged, corrections

VIEWS = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 5, dtype=np.float32)
CODES = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])


def test_suggestions_are_the_most_probable_true_classes():
    judged = Judged(10)
    judged(VIEWS)
    assert judged.noise is None
    judged.settle(CODES)
    found, _ = posterior(VIEWS, CODES)
    np.testing.assert_array_equal(judged.codes, found.argmax(axis=1))
    np.testing.assert_array_equal(judged.probability, found.max(axis=1))
    assert judged.codes.tolist() == [0] * 5 + [1] * 5
    expected = estimate_noise(VIEWS, CODES)
    assert (judged.noise.rate, judged.noise.low) == (expected.rate, expected.low)
    np.testing.assert_array_equal(judged.right, found[np.arange(10), CODES])
    judged = Judged(10)
    judged(VIEWS)
    judged.settle(CODES, trusted=False)
    assert judged.noise is None


def test_rows_may_come_in_any_order_and_in_parts():
    whole, parts = Judged(10), Judged(10)
    whole(VIEWS)
    order = np.array([3, 1, 9, 0, 2, 8, 7, 6, 5, 4])
    for rows in (order[:4], order[4:]):
        parts(VIEWS[rows], rows)
    for judged in (whole, parts):
        judged.settle(CODES)
    np.testing.assert_array_equal(parts.codes, whole.codes)
    np.testing.assert_array_equal(parts.probability, whole.probability)


def test_before_the_labels_it_says_what_the_views_say():
    judged = Judged(3)
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
