"""Which rows to check, and the noise that checks of random rows tell."""

import numpy as np
import pytest

from lops_adapters.selection.committee.checking import check_order, next_rows, random_rate


def labelled(n=400, seed=0):
    """Codes of unequal classes, and probabilities that labels are right."""
    rng = np.random.default_rng(seed)
    return rng.choice(3, n, p=[0.6, 0.3, 0.1]), rng.beta(2, 0.5, n)


def test_the_order_holds_every_row_once_and_depends_on_the_seed():
    codes, right = labelled()
    order = check_order(codes, 0, right)
    assert sorted(order.tolist()) == list(range(400))
    np.testing.assert_array_equal(order, check_order(codes, 0, right))
    assert (order != check_order(codes, 1, right)).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_every_first_part_is_spread_over_the_classes(weighted):
    codes, right = labelled()
    weights = right * (1 - right) + 0.01 if weighted else np.ones(400)
    order = check_order(codes, 0, right if weighted else None)
    shares = np.bincount(codes, weights) / weights.sum()
    for count in (10, 20, 50):
        counts = np.bincount(codes[order[:count]], minlength=3)
        assert (np.abs(counts - count * shares) < 2).all()


def test_the_chance_of_a_row_is_its_share_of_the_weights():
    codes, right = np.repeat([0, 1], 30), np.tile([0.5, 0.5, 0.9], 20)
    weights = right * (1 - right) + 0.01
    early = np.zeros(60)
    for seed in range(800):
        early[check_order(codes, seed, right)[:6]] += 1 / 800
    expected = 6 * weights / weights.sum()
    assert np.abs(early - expected).max() < 5 * np.sqrt(0.12 / 800)


def test_certain_rows_are_also_checked():
    order = check_order(np.zeros(50, dtype=int), 0, np.ones(50))
    assert sorted(order.tolist()) == list(range(50))


def test_further_rows_do_not_repeat():
    order = np.array([3, 1, 2, 0])
    assert next_rows(order, 2).tolist() == [3, 1]
    assert next_rows(order, 2, checked=[3, 2]).tolist() == [1, 0]
    assert next_rows(order, 9, checked=[0]).tolist() == [3, 1, 2]


@pytest.mark.parametrize("count", [30, 100])
def test_the_interval_of_random_rows_holds(count):
    wrong = np.random.default_rng(0).random(1000) < 0.2
    inside = []
    for seed in range(300):
        rows = check_order(np.zeros(1000, dtype=int), seed)[:count]
        rate = random_rate(int(wrong[rows].sum()), count, 1000)
        inside.append(rate.low <= wrong.mean() <= rate.high)
    assert np.mean(inside) >= 0.92


def test_the_rate_of_random_rows_by_hand():
    """2 of 10 checked rows of 20 are wrong: as many as 10 * 19 / 10 = 19 rows of a large table say.

    Wilson with n = 19, p = .2, z = 1.96: centre .3011, half .2063, both over 1.2022.
    """
    assert random_rate(2, 10, 20)[:3] == pytest.approx((0.2, 0.07883, 0.42208), abs=2e-4)
    assert random_rate(2, 10, 2000)[:3] == pytest.approx((0.2, 0.0567, 0.5098), abs=2e-3)
    assert random_rate(1, 4, 4) == (0.25, 0.25, 0.25, 4)
    assert random_rate(0, 0, 9) is None
