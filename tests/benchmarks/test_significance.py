"""The bootstrap against a plain loop and against theory."""

import numpy as np
import pytest

from benchmarks import significance
from benchmarks.significance import (
    paired_bootstrap,
    paired_bootstrap_over_seeds,
    share_of_gap_closed,
)
from lops_adapters.core import LopsError

CLASSES = ["arts", "law", "sport", "war"]


def predictions(gold, wrong, seed):
    """Predictions of which this share is redrawn from all classes."""
    rng = np.random.default_rng(seed)
    redrawn = rng.random(len(gold)) < wrong
    return np.where(redrawn, rng.integers(0, len(CLASSES), len(gold)), gold)


def scores(gold, predicted):
    """Micro and macro-F1, by their definitions."""
    right = gold == predicted
    pairs = [(gold == code, predicted == code) for code in range(len(CLASSES))]
    each = [2 * (right & a).sum() / (a.sum() + b.sum()) for a, b in pairs if a.any() or b.any()]
    return np.array([right.mean(), np.mean(each)])


@pytest.fixture(scope="module")
def gold():
    return np.random.default_rng(0).choice(4, 600, p=[0.5, 0.3, 0.19, 0.01])


def test_the_difference_is_that_of_the_scores(gold):
    one, other = predictions(gold, 0.2, 1), predictions(gold, 0.4, 2)
    found = paired_bootstrap(gold, one, other, range(4), resamples=10)
    micro, macro = scores(gold, one) - scores(gold, other)
    assert found.micro.difference == pytest.approx(micro)
    assert found.macro.difference == pytest.approx(macro)


def test_it_is_what_a_plain_loop_finds(gold):
    """Drawing documents one by one gives the same interval, up to chance.

    The rarest class is missing from some resamples.
    """
    one, other = predictions(gold, 0.2, 1), predictions(gold, 0.3, 2)
    rng, differences = np.random.default_rng(5), []
    for _ in range(1000):
        rows = rng.integers(0, len(gold), len(gold))
        differences.append(scores(gold[rows], one[rows]) - scores(gold[rows], other[rows]))
    found = paired_bootstrap(gold, one, other, range(4), resamples=4000)
    bounds = np.quantile(differences, [0.025, 0.975], axis=0)
    assert [found.micro.low, found.macro.low] == pytest.approx(bounds[0], abs=0.012)
    assert [found.micro.high, found.macro.high] == pytest.approx(bounds[1], abs=0.012)


def test_p_values_are_two_sided_and_know_what_is_no_difference(gold):
    good, bad = predictions(gold, 0.1, 1), predictions(gold, 0.5, 2)
    one = paired_bootstrap(gold, good, bad, range(4)).micro
    other = paired_bootstrap(gold, bad, good, range(4)).micro
    assert one.difference == -other.difference > 0
    assert one.p_value == other.p_value == pytest.approx(2 / 1001)
    same = paired_bootstrap(gold, good, good, range(4))
    assert same == ((0, 0, 0, 1), (0, 0, 0, 1))


def test_names_and_numbers_order_and_seed(gold):
    one, other = predictions(gold, 0.2, 1), predictions(gold, 0.25, 2)
    names = np.array(CLASSES, dtype=object)
    numbers = paired_bootstrap(gold, one, other, range(4))
    assert numbers == paired_bootstrap(list(names[gold]), names[one], names[other], CLASSES)
    order = np.random.default_rng(1).permutation(len(gold))
    assert numbers == paired_bootstrap(gold[order], one[order], other[order], range(4))
    assert numbers != paired_bootstrap(gold, one, other, range(4), seed=1)
    wide, narrow = (
        paired_bootstrap(gold, one, other, range(4), confidence=level).macro
        for level in (0.99, 0.5)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_blocks_change_nothing_but_the_draws(gold, monkeypatch):
    one, other = predictions(gold, 0.2, 1), predictions(gold, 0.3, 2)
    whole = paired_bootstrap(gold, one, other, range(4))
    monkeypatch.setattr(significance, "_CELLS_AT_ONCE", 100)
    blocks = paired_bootstrap(gold, one, other, range(4))
    assert blocks.micro.difference == whole.micro.difference
    assert blocks.micro[1:3] == pytest.approx(whole.micro[1:3], abs=0.01)


def test_over_seeds_is_the_mean_and_wider_where_seeds_differ(gold):
    good, bad = predictions(gold, 0.1, 1), predictions(gold, 0.4, 2)
    one, other = [good, bad, good], [bad, good, bad]
    found = paired_bootstrap_over_seeds(gold, one, other, range(4))
    single = paired_bootstrap(gold, good, bad, range(4))
    assert found.micro.difference == pytest.approx(single.micro.difference / 3)
    assert found.micro.low < -single.micro.difference / 2  # seeds 2, 2 and 2 may be drawn
    assert found.micro.p_value > 0.2
    alike = paired_bootstrap_over_seeds(gold, [good] * 3, [bad] * 3, range(4))
    assert alike.micro[1:3] == pytest.approx(single.micro[1:3], abs=0.01)
    assert alike.micro.p_value < 0.01


def test_share_of_the_gap():
    assert share_of_gap_closed(0.6, 0.7, 0.8) == pytest.approx(0.5)
    assert share_of_gap_closed(0.6, 0.9, 0.8) == pytest.approx(1.5)
    assert share_of_gap_closed(0.6, 0.5, 0.8) == pytest.approx(-0.5)
    assert share_of_gap_closed(0.6, 0.7, 0.6) is None
    assert share_of_gap_closed(0.6, 0.7, 0.5) is None
    assert share_of_gap_closed(float("nan"), 0.7, 0.5) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": ["a"]}, "gold has 2, prediction 0 has 1, prediction 1 has 2"),
        ({"second": ["a", "x"]}, r"prediction 1 holds \['x'\], not among the classes"),
        ({"second": [0, 1]}, "prediction 1 holds integers"),
        ({"gold": [], "first": [], "second": []}, "there is no document"),
        ({"classes": ["a", "b", "a"]}, "name every class once"),
        ({"resamples": 0}, "resamples is 0"),
        ({"confidence": 1}, "confidence 1; wanted"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(LopsError, match=message):
        paired_bootstrap(
            **{
                "gold": ["a", "b"],
                "first": ["a", "b"],
                "second": ["b", "b"],
                "classes": ["a", "b"],
                **change,
            }
        )


def test_runs_that_cannot_be_paired():
    with pytest.raises(LopsError, match="found 2 runs of the first side and 1 of the second"):
        paired_bootstrap_over_seeds(["a"], [["a"], ["a"]], [["a"]], ["a"])
    with pytest.raises(LopsError, match="found 0 runs"):
        paired_bootstrap_over_seeds(["a"], [], [], ["a"])
