"""How probable a label is to be right: by hand, and with noise that is known."""

import numpy as np
import pytest

from lops_adapters.selection import posterior as room
from lops_adapters.selection.posterior import SHARPNESS, average, estimate_noise, posterior


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


def test_the_estimate_for_other_shares_of_the_classes():
    """The second class has the errors."""
    rows = np.array([[0.95, 0.05]] * 60 + [[0.05, 0.95]] * 20 + [[0.95, 0.05]] * 20)
    noise = estimate_noise(rows, np.array([0] * 60 + [1] * 40))
    counts = np.array([60, 40])
    assert noise.among(counts, counts) == noise
    more = noise.among(np.array([10, 90]), counts)
    right = np.diag(noise.true_given_label)
    assert more.rate == pytest.approx(noise.rate + 0.5 * (right[0] - right[1]))
    assert noise.rate < more.rate <= more.high <= 1
    assert more.low == pytest.approx(noise.low + more.rate - noise.rate)


def test_the_average_has_the_largest_difference_of_shares():
    """Among calibrated probabilities: wrong labels found minus right labels lost."""
    rng = np.random.default_rng(0)
    right = rng.beta(2, 0.7, size=20_000)
    wrong = rng.random(20_000) > right

    def difference(threshold):
        rejected = right < threshold
        return rejected[wrong].mean() - rejected[~wrong].mean()

    best = difference(average(right))
    assert all(best > difference(t) - 0.004 for t in np.linspace(0.05, 0.95, 19))
    assert best > max(difference(0.5), difference(0.9)) + 0.03


@pytest.mark.parametrize("value", [0.6, 0.7, 0.9])
def test_equal_probabilities_reach_their_average(value):
    right = np.full(1001, value)
    assert (right >= average(right)).all()
