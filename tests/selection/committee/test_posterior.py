"""How probable a label is to be right: against a slow plain EM, at the edges, and what is kept."""

import numpy as np
import pytest

from lops_adapters.selection.committee import posterior as module
from lops_adapters.selection.committee.posterior import (
    estimate,
    label_distribution,
    least_kept,
    posterior_given,
)

from .oracles import plain_posterior


def case(n=240, k=3, noise=0.2, skill=0.6, seed=0):
    """Views that prefer the true class, labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, k, n)
    gold[:k] = np.arange(k)
    views = rng.dirichlet(np.ones(k), n) * (1 - skill) + skill * np.eye(k)[gold]
    labels = np.where(rng.uniform(size=n) < noise, (gold + 1) % k, gold)
    labels[:k] = np.arange(k)
    return views / views.sum(axis=1, keepdims=True), labels, gold


def posterior(views, labels):
    given = estimate(views, labels)
    return posterior_given(views, labels, given), given


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 2, "noise": 0},
        {"k": 7, "noise": 0.4, "skill": 0.3},
        {"n": 12, "k": 4},
        {"skill": 0, "noise": 0.5},
        {"skill": 1},
    ],
)
def test_it_is_what_a_slow_plain_em_finds(options):
    views, labels, _ = case(**options)
    found, given = posterior(views, labels)
    slow_found, slow_given = plain_posterior(views, labels)
    np.testing.assert_allclose(found, slow_found, atol=1e-9)
    np.testing.assert_allclose(given, slow_given, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(given.sum(axis=1), 1)


def test_some_rows_stand_for_all(monkeypatch):
    views, labels, _ = case(n=3000)
    order = np.argsort(labels)
    whole, _ = posterior(views[order], labels[order])
    monkeypatch.setattr(module, "_MOST", 700)
    some, given = posterior(views[order], labels[order])
    assert some.shape == whole.shape
    assert np.abs(some - whole).mean() < 0.01
    assert (np.diag(given) > 0.6).all()  # every class was among them


def test_small_classes():
    """One sample per class is neither lost nor does it make others doubtful."""
    views, labels, _ = case(n=200, k=3, noise=0)
    wide = np.hstack([views * 0.99, np.full((200, 2), 0.005)])
    alone = np.array([[0.1, 0.1, 0.1, 0.7, 0.0], [0.25, 0.25, 0.25, 0.0, 0.25]])
    found, given = posterior(np.vstack([wide, alone]), np.append(labels, [3, 4]))
    assert np.isfinite(found).all()
    assert (given > 0).all()
    assert found[200].argmax() == 3
    np.testing.assert_allclose(found[:200, 3:], 0, atol=1e-3)
    assert (found[np.arange(200), labels] > 0.5).mean() > 0.95


@pytest.mark.parametrize(
    ("views", "labels"),
    [
        (np.full((20, 2), 0.5), [0, 1] * 10),
        (np.eye(2)[[0, 1] * 10], [1, 0] * 10),  # certain, and always against the label
        (np.eye(2)[[0, 1] * 10], [0, 1] * 10),
        (np.zeros((20, 2)), [0, 1] * 10),
        (np.full((20, 2), 1e-300), [0, 1] * 10),
        (np.ones((4, 1)), [0] * 4),
        (np.array([[1.0, 0.0]]), [0]),
        (np.full((20, 2), 0.5, dtype=np.float32), [0, 1] * 10),
    ],
)
def test_extreme_views(views, labels):
    found, given = posterior(views, np.array(labels))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(given.sum(axis=1), 1)


def test_nothing_is_changed_in_place():
    views, labels, _ = case()
    before = views.copy(), labels.copy()
    posterior(views, labels)
    np.testing.assert_array_equal(views, before[0])
    np.testing.assert_array_equal(labels, before[1])


def test_labels_that_cannot_be_checked_are_believed():
    rows, codes, _ = case(300)
    codes[:2] = 3
    rows = np.column_stack([rows, np.zeros(300)])
    given = label_distribution(rows, codes, least=3)
    found = posterior_given(rows, codes, given)
    assert found[:2, 3].tolist() == [1, 1]
    assert found[2:, 3].max() < 1e-6
    usual, _ = posterior(rows, codes)
    np.testing.assert_allclose(found[2:], usual[2:], atol=1e-6)
    mixed = rows[np.random.default_rng(0).permutation(300)]
    given = label_distribution(mixed, codes, least=3, tells=False)
    for each in (mixed, rows):
        found = posterior_given(each, codes, given)
        np.testing.assert_allclose(found, np.eye(4)[codes], atol=1e-99)


def test_as_many_are_rejected_as_are_expected_to_be_wrong():
    rng = np.random.default_rng(0)
    for a, b in ((2, 0.7), (5, 0.3), (1, 1)):
        right = rng.beta(a, b, size=20_000)
        rejected = right < least_kept(right)
        assert rejected.sum() <= max(round((1 - right).sum()), (right < 0.5).sum())
        assert rejected[right < 0.5].all()
        assert right[rejected].max() <= right[~rejected].min()
    clean = rng.beta(30, 0.5, size=20_000)  # where labels are mostly right, few are lost
    lost = clean < least_kept(clean)
    assert lost.mean() == pytest.approx(1 - clean.mean(), abs=0.002)


@pytest.mark.parametrize("value", [0.6, 0.7, 0.9])
def test_equal_probabilities_are_kept(value):
    right = np.full(1001, value)
    assert (right >= least_kept(right)).all()


@pytest.mark.parametrize(
    ("right", "least"),
    [
        # Expected wrong: 1 + .2 + .4 = 1.6, so 2; but .8 is above the average of .733.
        ([0.0, 0.8, 0.9, 0.9, 0.9, 0.9], 4.4 / 6),
        # Expected wrong: .4 + .3 + .05 = .75, so 1, not 0.
        ([0.6, 0.7, 0.95], 0.7),
        # 2 + .045 + .03 + .6 = 2.675, so 3; .955 is below the average of .958, and above .95.
        ([0.0, 0.0, 0.955, 0.97, *[0.99] * 60], 0.95),
        # None is kept that is more probably wrong than right, also below the average.
        ([0.1, 0.2, 0.3, 0.45], 0.5),
        # All but one may be expected to be wrong.
        ([0.51, 0.52, 0.5], 0.51),
        ([0.0, 0.0, 0.0], 0.5),
        ([0.01] * 10, 0.5),
        # Nearly certain: none is above 0.95.
        ([0.96] * 10, 0.95),
    ],
)
def test_the_bounds_of_what_is_kept(right, least):
    assert least_kept(np.array(right)) == pytest.approx(least, abs=1e-8)


def test_as_many_samples_as_folds_can_be_checked():
    """Three of four labels of a class are denied: believed with 5 folds, not with 4."""
    rows = np.array([[0.99, 0.01]] * 8 + [[0.99, 0.01]] * 3 + [[0.01, 0.99]])
    codes = np.array([0] * 8 + [1] * 4)
    np.testing.assert_allclose(label_distribution(rows, codes, least=5)[1], [0, 1], atol=1e-9)
    assert label_distribution(rows, codes, least=4)[1, 0] > 0.3
