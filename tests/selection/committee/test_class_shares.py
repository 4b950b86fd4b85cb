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


CODES = np.array([0, 1, 1, 1, 2])
NAMES = ["spam", "ham", "news"]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"ham": 95, "spam": 5, "news": 0}, [0.05, 0.95, 0]),
        ({"ham": 2000, "spam": 1000, "news": 1000}, [0.25, 0.5, 0.25]),
        ({"spam": 20}, [0.2, 0.6, 0.2]),
        ({"spam": 0.2}, [0.2, 0.6, 0.2]),
        ({"spam": 20, "news": 60}, [0.2, 0.2, 0.6]),
    ],
)
def test_shares_of_some_classes_or_of_all(shares, expected):
    check_shares(shares)
    np.testing.assert_allclose(shares_of(shares, NAMES, CODES), expected)


def test_names_of_classes_that_are_numbers():
    assert shares_of({"4": 30, 5: 70}, [4, 5], np.array([0, 1])).tolist() == [0.3, 0.7]


@pytest.mark.parametrize("shares", ["spam 5", {}, {"a": -1}, {"a": "b"}, {"a": 0}, {"a": True}])
def test_what_is_no_share_is_refused(shares):
    with pytest.raises(LopsError, match=r"class.shares is .*; wanted how frequent each class is"):
        check_shares(shares)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"Spam": 5}, "names 'Spam', which no row has as its label; the classes are spam, ham"),
        ({"spam": 50, "ham": 60}, "sum to 110 and leave nothing for news; give each class a num"),
        ({"spam": 1}, "sum to 1 and leave nothing for ham, news"),
    ],
)
def test_shares_that_do_not_suit_the_classes(shares, message):
    with pytest.raises(LopsError, match=message):
        shares_of(shares, NAMES, CODES)
