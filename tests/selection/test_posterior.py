"""How probable a label is to be right: by hand, and with noise that is known."""

import numpy as np
import pytest

from lops_adapters.selection import posterior as room
from lops_adapters.selection.posterior import (
    SHARPNESS,
    estimate_noise,
    label_distribution,
    least_kept,
    posterior,
    posterior_given,
)


def noisy(n=3000, k=3, wrong=0.2, seed=0, even=1.0):
    """Views of n samples that know the true class fairly well, and labels of which some are wrong.

    Views are the true posterior probabilities, made too even by the exponent ``even``.
    """
    rng = np.random.default_rng(seed)
    gold = np.arange(n) % k
    seen = rng.normal(size=(n, k)) + 2.5 * np.eye(k)[gold]
    rows = np.exp(2.5 * seen)
    rows = (rows / rows.sum(axis=1, keepdims=True)) ** even
    codes = np.where(rng.uniform(size=n) < wrong, (gold + 1) % k, gold)
    return rows / rows.sum(axis=1, keepdims=True), codes, gold


def by_hand(rows, codes, sharpness, rounds=200):
    n, k = rows.shape
    given = np.array([[0.9 if i == j else 0.1 / (k - 1) for j in range(k)] for i in range(k)])
    for _ in range(rounds):
        found = np.array([rows[s] ** sharpness * given[codes[s]] for s in range(n)])
        found /= found.sum(axis=1, keepdims=True)
        given = np.array(
            [
                (found[codes == i].sum(axis=0) + 0.5) / ((codes == i).sum() + 0.5 * k)
                for i in range(k)
            ]
        )
    return found, given


@pytest.mark.parametrize("sharpness", [1.0, 3.0])
def test_expectation_maximisation_by_hand(sharpness):
    rows, codes, _ = noisy(60)
    for found, expected in zip(
        posterior(rows, codes, sharpness), by_hand(rows, codes, sharpness), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=5e-3)
        np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.3])
def test_noise_that_is_known_is_found(wrong):
    rows, codes, gold = noisy(wrong=wrong, even=1 / SHARPNESS)
    found = estimate_noise(rows, codes)
    rate = (codes != gold).mean()
    assert abs(found.rate - rate) < 0.02
    assert 0 <= found.low <= found.rate <= found.high <= 1
    assert found.low - 0.01 <= rate <= found.high + 0.01
    moved = [[np.mean(gold[codes == i] == j) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(found.true_given_label, moved, atol=0.03)


def test_the_label_counts_as_evidence():
    """The same views beside a mostly right and beside a noisy label."""
    doubtful = np.tile([0.45, 0.55], (10, 1))
    for share, kept in ((0.02, True), (0.45, False)):
        rows, codes, _ = noisy(2000, 2, share)
        both = np.concatenate([rows, doubtful]), np.concatenate([codes, np.zeros(10, dtype=int)])
        found, _ = posterior(*both, sharpness=1.0)
        assert (found[-1, 0] > 0.8) == kept


def test_many_samples_are_estimated_from_some(monkeypatch):
    rows, codes, _ = noisy(900)
    usual = posterior(rows, codes)[0]
    monkeypatch.setattr(room, "_MOST", 300)
    found, _ = posterior(rows, codes)
    assert found.shape == usual.shape
    assert np.abs(found - usual).mean() < 0.01


def test_zeros_and_one_class():
    rows, codes, _ = noisy(90)
    rows[:5] = np.eye(3)[[0, 1, 2, 0, 1]]
    assert np.isfinite(posterior(rows, codes)[0]).all()
    found, given = posterior(np.ones((4, 1)), np.zeros(4, dtype=int))
    assert found.tolist() == [[1.0]] * 4
    assert given.tolist() == [[1.0]]


def test_labels_that_cannot_be_checked_are_believed():
    rows, codes, _ = noisy(300)
    codes[:2] = 3
    rows = np.column_stack([rows, np.zeros(300)])
    given = label_distribution(rows, codes, least=3)
    found = posterior_given(rows, codes, given)
    assert found[:2, 3].tolist() == [1, 1]
    assert found[2:, 3].max() < 1e-6
    usual, _ = posterior(rows, codes)
    np.testing.assert_allclose(found[2:], usual[2:], atol=1e-6)
    mixed = rows[np.random.default_rng(0).permutation(300)]
    given = label_distribution(mixed, codes, least=3)  # the members cannot tell
    for each in (mixed, rows):
        found = posterior_given(each, codes, given)
        np.testing.assert_allclose(found, np.eye(4)[codes], atol=1e-99)


def test_a_label_that_is_no_evidence():
    rows, codes, _ = noisy(300)
    given = label_distribution(rows, codes, least=3, count_label=False)
    found = posterior_given(rows, codes, given)
    expected = rows**SHARPNESS
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-6)
    again = label_distribution(rows, (codes + 1) % 3, least=3, count_label=True)
    assert np.abs(posterior_given(rows, codes, again) - found).max() > 0.1


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


def test_few_labels_are_rejected_above_the_average_or_when_nearly_certain():
    assert least_kept(np.full(10, 0.96)) == 0.95
    right = np.array([0.1] * 9 + [0.7])
    assert (right >= least_kept(right)).sum() == 1
    assert least_kept(np.full(10, 0.01)) == 0.5


@pytest.mark.parametrize("value", [0.6, 0.7, 0.9])
def test_equal_probabilities_are_kept(value):
    right = np.full(1001, value)
    assert (right >= least_kept(right)).all()
