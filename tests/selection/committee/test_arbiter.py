"""What is learnt from checked rows: how far to believe each member and each label."""

from dataclasses import replace

import numpy as np
import pytest

from lops_adapters.selection.committee.arbiter import held_out_share, learn
from lops_adapters.selection.committee.posterior import label_distribution, posterior_given

K, NONE, EQUAL = 3, np.zeros((600, 0)), (1.0, 1.0)  # no vectors; equal weights of two members


def world(n=600, seed=0, blind=0.5):
    """A good member, one that guesses, vectors; a label that is applied too often."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, K, n)
    codes = np.where(rng.random(n) < blind, 0, true)
    good = np.full((n, K), 0.1)
    good[np.arange(n), np.where(rng.random(n) < 0.7, true, rng.integers(0, K, n))] += 0.5
    poor = rng.dirichlet(np.ones(K), n)
    likelihoods = [one / one.sum(axis=1, keepdims=True) for one in (good, poor)]
    vectors = rng.normal(size=(n, 5)) + 2 * np.eye(5)[true]
    given = label_distribution(np.mean(likelihoods, axis=0), codes, 3)
    return likelihoods, codes, given, true, vectors


def accuracy(probabilities, true, rows):
    others = np.setdiff1d(np.arange(len(true)), rows)
    return (probabilities.argmax(axis=1) == true)[others].mean()


@pytest.mark.parametrize("weights", [EQUAL, (1.0, 0.5)])
def test_without_checked_rows_it_is_the_committee(weights):
    likelihoods, codes, given, _, _ = world()
    none = np.array([], dtype=np.int64)
    arbiter = learn(likelihoods, codes, given, none, none, NONE, weights)
    logs = [np.log(np.maximum(one, 1e-4)) for one in likelihoods]
    mean = np.exp(np.average(logs, axis=0, weights=weights))
    expected = posterior_given(mean, codes, np.maximum(given, 1e-3))
    np.testing.assert_allclose(arbiter.probabilities(likelihoods, codes, NONE), expected, atol=1e-6)


def test_checked_rows_teach_and_vectors_add_to_it():
    likelihoods, codes, given, true, vectors = world()
    rows, scores = np.random.default_rng(1).permutation(600)[:100], []
    for checked, used in ((rows[:0], NONE), (rows, NONE), (rows, vectors)):
        arbiter = learn(likelihoods, codes, given, checked, true[checked], used, EQUAL)
        scores.append(accuracy(arbiter.probabilities(likelihoods, codes, used), true, rows))
        weights = arbiter.weights
        # The good member, and the one that guesses.
        assert weights[0] > 1.2 * weights[1] or not len(checked)
    assert scores[1] > scores[0] + 0.03
    assert scores[2] > scores[1] + 0.01


def test_vectors_add_their_coefficients():
    likelihoods, codes, given, true, vectors = world()
    rows = np.arange(100)
    arbiter = learn(likelihoods, codes, given, rows, true[rows], vectors, EQUAL)
    without = replace(arbiter, of_vectors=np.zeros((5, K)))
    logs = [np.log(one.probabilities(likelihoods, codes, vectors)) for one in (arbiter, without)]
    added, expected = logs[0] - logs[1], vectors @ arbiter.of_vectors
    np.testing.assert_allclose(added - added[:, :1], expected - expected[:, :1], atol=1e-6)
    assert np.diag(arbiter.of_vectors[:K]).min() > 0.1  # the class shifts this part of its vectors


def test_labels_that_are_never_right_are_not_believed():
    """Members that cannot tell, and a label that checked rows contradict."""
    n = 300
    rng = np.random.default_rng(0)
    codes = np.arange(n) % K
    true = np.where(codes == 0, 1, codes)
    likelihoods = [rng.dirichlet(np.full(K, 9), n)]
    given = np.full((K, K), 0.05) + 0.85 * np.eye(K)
    rows = rng.permutation(n)[:60]
    arbiter = learn(likelihoods, codes, given, rows, true[rows], NONE[:n], [1.0])
    said = arbiter.probabilities(likelihoods, codes, NONE[:n]).argmax(axis=1)
    assert (said[codes == 0] == 1).mean() > 0.7
    assert (said[codes == 2] == 2).mean() > 0.9


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_a_few_rows_of_one_or_two_classes(count):
    likelihoods, codes, given, true, vectors = world()
    rows = np.flatnonzero(true == 1)[:count]
    arbiter = learn(likelihoods, codes, given, rows, true[rows], vectors, EQUAL)
    probabilities = arbiter.probabilities(likelihoods, codes, vectors)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert arbiter.few_shot is None


def test_the_same_rows_in_another_order_teach_the_same():
    likelihoods, codes, given, true, vectors = world()
    rows = np.random.default_rng(1).permutation(600)[:50]
    one, other = (
        learn(likelihoods, codes, given, order, true[order], vectors, EQUAL)
        for order in (np.sort(rows), np.sort(rows)[::-1])
    )
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-3)


def test_a_class_that_few_rows_miss_by_chance_is_kept():
    """Two rows of two classes say nothing of the third, also where all vectors are alike."""
    likelihoods, codes, given, true, vectors = world(blind=0.1)
    vectors = vectors + 5
    rows = np.array([np.flatnonzero(true == c)[0] for c in (0, 1)])
    arbiter = learn(likelihoods, codes, given, rows, true[rows], vectors, EQUAL)
    assert arbiter.missing.tolist() == [False, False, True]
    suggested = arbiter.probabilities(likelihoods, codes, vectors).argmax(axis=1)
    before = learn(likelihoods, codes, given, rows[:0], true[:0], NONE, EQUAL)
    preferred = before.probabilities(likelihoods, codes, NONE).argmax(axis=1)
    of_third = true == 2
    assert (suggested == 2)[of_third].mean() >= (preferred == 2)[of_third].mean()
    assert (suggested == true).mean() > (preferred == true).mean() - 0.02


def test_an_arbiter_counts_as_little_as_explains_the_checked_rows():
    """Not at all where the probabilities are right already; where they say nothing, it does."""
    true = np.arange(60) % K
    given, rows, none = np.full((K, K), 0.05) + 0.85 * np.eye(K), np.arange(40), NONE[:60]
    right, nothing = 0.01 + 0.97 * np.eye(K)[true], np.full((60, K), 1 / K)
    assert held_out_share(right, true, given, rows, true[rows], none) == 0
    assert held_out_share(nothing, true, given, rows, true[rows], none) > 0.5
