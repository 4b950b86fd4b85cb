"""Classes get shares, and the best samples of each are chosen."""

import numpy as np
import pytest

from lops_adapters.selection.by_rank import best_by_rank, best_per_class, fitted_to_shares


def test_fitted_to_shares():
    """Odds of 9 / 4 and of 1 become even on average where both are times 2 / 3: 3 / 2 and 2 / 3."""
    fitted = fitted_to_shares(np.array([[9 / 13, 4 / 13], [0.5, 0.5]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(fitted, [[0.6, 0.4], [0.4, 0.6]], atol=2e-3)


def test_fitted_to_shares_sharpened_they_have_these():
    found = np.array([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.6, 0.2, 0.2], [0.3, 0.3, 0.4]])
    fitted = fitted_to_shares(found.astype(np.float32), np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(fitted.sum(axis=1), 1)

    def powered(probabilities, power):
        return probabilities**power / (probabilities**power).sum(axis=1, keepdims=True)

    powers = np.linspace(1, 10, 9001)
    power = powers[np.argmin([abs(powered(found, p).max(axis=1).mean() - 0.8) for p in powers])]
    np.testing.assert_allclose(powered(fitted, power).mean(axis=0), [0.2, 0.3, 0.5], atol=5e-4)
    factors = fitted / found  # one per class, except for the sum of a row
    np.testing.assert_allclose(factors[:, 1] / factors[:, 0], factors[0, 1] / factors[0, 0])


def test_fitted_to_shares_of_a_sure_classifier():
    np.testing.assert_allclose(fitted_to_shares(np.eye(2), np.full(2, 0.5)), np.eye(2), atol=1e-8)


def test_a_classifier_that_is_sure_enough_is_not_sharpened():
    """The mean of the largest is 0.85, so that plain means become even."""
    fitted = fitted_to_shares(np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(fitted.mean(axis=0), [0.5, 0.5], atol=2e-4)
    odds = fitted[:, 0] / fitted[:, 1]
    assert odds[0] / odds[1] == pytest.approx(9 / 4)


def test_the_best_of_each_class_are_taken():
    """Three of the first class and two of the second; the share is rounded up."""
    scores = np.array([[0.6, 0.4], [0.2, 0.8], [0.9, 0.1], [0.7, 0.3], [0.45, 0.55]])
    assert best_per_class(scores, 0.5).tolist() == [1, 2, 3]
    assert best_per_class(scores, 0.1).tolist() == [1, 2]
    assert best_per_class(scores, 1.0).tolist() == [0, 1, 2, 3, 4]
    assert best_per_class(np.zeros((0, 2)), 0.5).tolist() == []


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_ties_with_the_last_are_taken_in_any_order_of_rows(order):
    scores = np.array([[0.9, 0.1], [0.7, 0.3], [0.7, 0.3], [0.6, 0.4]])[order]
    assert sorted(order[row] for row in best_per_class(scores, 0.5)) == [0, 1, 2]


def test_a_row_between_two_classes_belongs_to_the_first():
    assert best_per_class(np.array([[0.5, 0.5], [0.8, 0.2]]), 0.5).tolist() == [1]


def test_shares_decide_the_class_of_a_row():
    """All rows lean to the first class; half of them belong to the second."""
    first = np.linspace(0.55, 0.95, 20)
    probabilities = np.column_stack([first, 1 - first])
    rows, fitted = best_by_rank(probabilities, np.arange(20), np.array([0.5, 0.5]), 1.0)
    assert rows.tolist() == list(range(20))
    assert 8 <= (fitted.argmax(axis=1) == 0).sum() <= 12
