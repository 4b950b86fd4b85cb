"""Which rows to check, and the noise that checked rows tell."""

import numpy as np
import pytest

from lops_adapters.selection.committee.checking import check_order, next_rows, noise_rate


def labelled(n=400, seed=0):
    """Codes of unequal classes, suggestions that differ for a tenth, true codes."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    suggested = np.where(rng.random(n) < 0.1, (codes + 1) % 3, codes)
    differs = suggested != codes
    wrong = rng.random(n) < np.where(differs, 0.7, 0.05)
    return codes, suggested, np.where(wrong, (codes + 1) % 3, codes)


def test_the_order_holds_every_row_once_and_takes_turns():
    codes, suggested, _ = labelled()
    order = check_order(codes, suggested, seed=0)
    assert sorted(order.tolist()) == list(range(400))
    differs = (suggested != codes)[order]
    total = int(differs.sum())
    assert differs[: 2 * total : 2].all()
    assert not differs[1 : 2 * total : 2].any()
    np.testing.assert_array_equal(order, check_order(codes, suggested, seed=0))
    assert (order != check_order(codes, suggested, seed=1)).any()


def test_every_first_part_is_spread_over_the_classes():
    codes, suggested, _ = labelled()
    order = check_order(codes, suggested, seed=0)
    agreed = order[(suggested == codes)[order]]
    shares = np.bincount(codes[agreed]) / len(agreed)
    for count in (20, 50, 100):
        counts = np.bincount(codes[agreed[:count]], minlength=3)
        assert (np.abs(counts - count * shares) < 2).all()


def test_every_row_of_a_stratum_is_as_likely_to_come_early():
    codes, suggested, _ = labelled(n=60)
    early = np.zeros(60)
    for seed in range(600):
        early[check_order(codes, suggested, seed)[:20]] += 1 / 600
    differs = suggested != codes
    for stratum in (differs, ~differs):
        chance = early[stratum].mean()
        assert np.abs(early[stratum] - chance).max() < 5 * np.sqrt(0.25 / 600)


def test_further_rows_do_not_repeat():
    order = np.array([3, 1, 2, 0])
    assert next_rows(order, 2).tolist() == [3, 1]
    assert next_rows(order, 2, checked=[3, 2]).tolist() == [1, 0]
    assert next_rows(order, 9, checked=[0]).tolist() == [3, 1, 2]


@pytest.mark.parametrize("count", [30, 100])
def test_the_estimate_is_unbiased_and_its_interval_holds(count):
    codes, suggested, true = labelled(n=1000)
    noise = (true != codes).mean()
    rates = []
    for seed in range(300):
        rows = next_rows(check_order(codes, suggested, seed), count)
        rates.append(noise_rate(codes, suggested, rows, true[rows]))
    values = np.array([rate.value for rate in rates])
    assert abs(values.mean() - noise) < 3 * values.std() / np.sqrt(300)
    assert np.mean([rate.low <= noise <= rate.high for rate in rates]) >= 0.93
    assert {rate.checked for rate in rates} == {count}


def test_the_plain_share_of_checked_rows_is_not_the_estimate():
    """Half of the rows come from the few whose suggestion differs, so they count less."""
    codes, suggested, true = labelled(n=1000)
    rows = next_rows(check_order(codes, suggested, 0), 60)
    assert (true != codes)[rows].mean() > 2 * noise_rate(codes, suggested, rows, true[rows]).value


def test_a_table_that_is_checked_completely_has_no_interval():
    codes, suggested, true = labelled(n=50)
    rate = noise_rate(codes, suggested, np.arange(50), true)
    assert rate.low == pytest.approx(rate.value) == pytest.approx(rate.high)
    assert rate.value == pytest.approx((true != codes).mean())


def test_a_class_of_its_own_and_one_without_checked_rows():
    codes, suggested, true = labelled(n=1000)
    rows = next_rows(check_order(codes, suggested, 0), 200)
    rate = noise_rate(codes, suggested, rows, true[rows], codes == 0)
    assert rate.low <= (true != codes)[codes == 0].mean() <= rate.high
    assert rate.checked == (codes[rows] == 0).sum()
    assert noise_rate(codes, suggested, rows[:0], true[:0]) is None
    assert noise_rate(codes, suggested, rows, true[rows], np.zeros(1000, dtype=bool)) is None


def test_a_stratum_without_checked_rows_leaves_it_open():
    codes, suggested, true = labelled(n=1000)
    differs = np.flatnonzero(suggested != codes)
    rate = noise_rate(codes, suggested, differs, true[differs])
    assert rate.high - rate.low > 0.8


def test_the_interval_of_a_finite_stratum_by_hand():
    """2 of 10 checked rows of 20 are wrong: as many as 10 * 19 / 10 = 19 rows of a large table say.

    Wilson with n = 19, p = .2, z = 1.96: centre .3011, half .2063, both over 1.2022.
    """
    codes = np.zeros(20, dtype=np.int64)
    true = np.array([1, 1, *[0] * 8])
    found = noise_rate(codes, codes, np.arange(10), true)
    assert found[:3] == pytest.approx((0.2, 0.07883, 0.42208), abs=2e-4)
    wide = noise_rate(np.zeros(2000, dtype=np.int64), np.zeros(2000), np.arange(10), true)
    assert wide[:3] == pytest.approx((0.2, 0.0567, 0.5098), abs=2e-3)


def test_the_interval_of_two_strata_by_hand():
    """The stratum above, and as many rows again that are all checked and right.

    So half of its share, and half as far from it as its own interval goes.
    """
    codes, suggested = np.zeros(40, dtype=np.int64), np.repeat([0, 1], 20)
    rows = np.array([*range(10), *range(20, 40)])
    true = np.array([1, 1, *[0] * 28])
    found = noise_rate(codes, suggested, rows, true)
    expected = (0.1, 0.1 - (0.2 - 0.07883) / 2, 0.1 + (0.42208 - 0.2) / 2)
    assert found[:3] == pytest.approx(expected, abs=2e-4)
