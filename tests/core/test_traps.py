"""Small and degenerate classes, and thresholds that floating point gets wrong."""

import numpy as np
import pytest

from lops_adapters.core import RULES, LearningOrder, LopsError, LopsWarning, tie_hash

NOTHING_IN_B = (
    r"(?s)nothing was learnt in 1 of 2 classes within 1 checkpoint.*'b' \(2 samples, {} kept\).*"
    "Train the probe longer"
)


def test_class_of_one_sample_survives_being_mispredicted_once():
    """In the released code its threshold is 0: it closes at once with nothing and vanishes."""
    order = LearningOrder(["a", "a", "b"])
    order.observe(["a", "a", "a"])
    assert not order.done
    assert order.undecided.tolist() == [2]
    order.observe(["a", "a", "b"])
    assert order.done
    selection = order.select()
    assert selection.kept.tolist() == [0, 1, 2]
    assert selection.per_class["b"] == (1, 1, 1, 1, 2.0, "threshold reached")


@pytest.mark.parametrize(
    ("rule", "b_kept"),
    [("released", 2), ("algorithm1", 0), ("stop-and-take-all", 0), ("ranked", 1)],
)
def test_nothing_learnt_in_one_class(rule, b_kept):
    order, strict = (
        LearningOrder(["a", "a", "b", "b"], rule=rule),
        LearningOrder(["a", "a", "b", "b"], rule=rule, strict=True),
    )
    for watch in (order, strict):
        watch.observe(["a", "a", "a", "a"])
    with pytest.warns(LopsWarning, match=NOTHING_IN_B.format(b_kept)) as caught:
        selection = order.select()
    assert caught[0].filename == __file__  # it points at the caller
    assert sum(selection.kept >= 2) == selection.per_class["b"].kept == b_kept
    assert selection.confidence[2:].tolist() == [-0.25, -0.25]
    with pytest.raises(LopsError, match=NOTHING_IN_B.format(b_kept)):
        strict.select()


@pytest.mark.parametrize(
    ("rule", "kept"),
    [("released", 10), ("algorithm1", 4), ("stop-and-take-all", 10), ("ranked", 4)],
)
def test_all_learnt_at_once(rule, kept):
    order = LearningOrder(["a", "b"] * 5, rule=rule, tau=0.4)
    order.observe(["a", "b"] * 5)
    assert order.done
    assert order.undecided.tolist() == []
    selection = order.select()
    assert len(selection.kept) == kept  # ceil(0.4 * 5) = 2 of each class
    assert selection.learnt_at.tolist() == [1.0] * 10
    assert selection.stopped == "every class reached its threshold within 1 checkpoint"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("tau", "count", "floor", "ceiling"),
    [
        (0.29, 100, 29, 29),  # int(0.29 * 100) is 28
        (0.1, 30, 3, 3),  # ceil(0.1 * 30) is 4 where 0.1 is read as its binary value
        (0.07, 100, 7, 7),  # ceil(0.07 * 100) is 8
        (0.57, 100, 57, 57),
        (1e-05, 100000, 1, 1),
        (np.float64(0.7), 10, 7, 7),
        (0.5, 7, 3, 4),
        (0.01, 3, 1, 1),
        (0.99, 100, 99, 99),
        (1, 9, 9, 9),
    ],
)
def test_thresholds_are_exact_decimals(rule, tau, count, floor, ceiling):
    order = LearningOrder(["a"] * count, tau=tau, rule=rule)
    order.observe(["a"] * count)
    selection = order.select()
    threshold = floor if rule == "released" else ceiling
    assert selection.per_class["a"].threshold == threshold
    assert len(selection.kept) == (threshold if rule in ("algorithm1", "ranked") else count)


def test_infinite_scores_still_decide_ties():
    """Log-probabilities may be -inf; the larger score wins also then."""
    order = LearningOrder(["a", "a"], rule="ranked", classes=["a", "b"], seed=1)
    order.observe([[-1.0, -np.inf], [-2.0, -3.0]])
    assert order.select().kept.tolist() == [0]


def test_tie_hash_is_splitmix64():
    """Reference outputs of splitmix64 started at 0; any integer is a seed."""
    assert tie_hash(np.arange(3), seed=0).tolist() == [
        16294208416658607535,
        7960286522194355700,
        487617019471545679,
    ]
    assert tie_hash(np.array([[0], [1]]), seed=0).shape == (2, 1)
    for seed in (-1, 2**63, 2**80):
        assert len(set(tie_hash(np.arange(1000), seed).tolist())) == 1000
    assert tie_hash(np.arange(1000), seed=1).tolist() != tie_hash(np.arange(1000), seed=2).tolist()
