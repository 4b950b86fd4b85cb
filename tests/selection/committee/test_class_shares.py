"""How frequent the classes truly are, by the user."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection.committee.calibration import calibration_of
from lops_adapters.selection.committee.class_shares import check_shares, shares_of, tilted
from lops_adapters.selection.committee.shifts import expit


def world(n=600, seed=0):
    """Labels of three classes; the first one is given too often, and members hardly tell."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 3, n)
    codes = np.where(rng.random(n) < 0.3, 0, gold)
    true = rng.dirichlet(np.ones(3), n) + 0.5 * np.eye(3)[gold] + np.eye(3)[codes]
    return true / true.sum(axis=1, keepdims=True), codes, gold


def expected(calibration, true, codes):
    wrong = expit(calibration.odds(true, codes))
    others = np.exp(calibration.others(true, codes))
    others /= others.sum(axis=1, keepdims=True)
    return (np.eye(3)[codes] * (1 - wrong)[:, None] + others * wrong[:, None]).mean(axis=0)


def test_labels_of_a_class_that_is_given_too_often_are_doubted():
    true, codes, gold = world()
    before = calibration_of(None, np.bincount(codes))
    shares = np.bincount(gold) / 600
    after = tilted(before, true, codes, shares)
    np.testing.assert_allclose(expected(after, true, codes), shares, atol=0.02)
    moved = after.offset - before.offset
    assert moved[0] > 0.3 + moved[1:].max()
    wrong = codes != gold
    apart = [
        p[wrong].mean() - p[~wrong].mean()
        for p in (expit(one.odds(true, codes)) for one in (before, after))
    ]
    assert apart[1] > apart[0] + 0.02


def test_shares_that_hold_already_change_hardly_anything():
    true, codes, _ = world()
    before = calibration_of(None, np.bincount(codes))
    after = tilted(before, true, codes, expected(before, true, codes))
    np.testing.assert_allclose(after.offset, before.offset, atol=1e-3)


def test_shares_are_numbers_of_any_size():
    check_shares({"spam": 5, "ham": 95})
    found = shares_of({"ham": 95, "other": 100, "spam": 5}, ["spam", "ham"])
    assert found.tolist() == [0.05, 0.95]


@pytest.mark.parametrize("shares", ["spam 5", {}, {"a": -1}, {"a": "b"}, {"a": 0}, {"a": True}])
def test_what_is_no_share_is_refused(shares):
    with pytest.raises(LopsError, match=r"class.shares is .*; wanted how frequent each class is"):
        check_shares(shares)


def test_a_class_without_a_share_is_named():
    with pytest.raises(LopsError, match="say nothing of 'ham'; wanted a number for each class"):
        shares_of({"spam": 5}, ["spam", "ham"])
