"""How many are kept, and who among equals."""

from fractions import Fraction

import numpy as np
import pytest

from lops_adapters.core import LopsError, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection import Choice
from lops_adapters.selection.methods.ranked import best, keep_best, shares, total


def test_total():
    assert [total(10, n, 0.5) for n in (1, 9, 10, 11)] == [1, 9, 10, 10]
    assert [total(100, None, tau) for tau in (0.29, 0.07, 0.001, 1.0)] == [29, 7, 1, 100]


def test_shares():
    rng = np.random.default_rng(0)
    for _ in range(200):
        k = int(rng.integers(1, 6))
        codes = np.concatenate([np.arange(k), rng.integers(0, k, int(rng.integers(0, 30)))])
        counts, n = np.bincount(codes), int(rng.integers(1, len(codes) + 5))
        kept = shares(codes, k, n, 0.5)
        assert kept.sum() == min(n, len(codes))
        exact = [Fraction(int(count) * min(n, len(codes)), len(codes)) for count in counts]
        pairs = list(zip(kept.tolist(), exact, strict=True))
        assert all(abs(found - share) < 1 for found, share in pairs)
        up, down = (
            {share % 1 for found, share in pairs if (found > share) == is_up and found != share}
            for is_up in (True, False)
        )
        assert not up or not down or min(up) >= max(down)
    of_equal_remainders = shares(np.array([0, 0, 1, 1]), 2, 3, 0.5)
    assert of_equal_remainders.tolist() == [2, 1]  # the first class


def test_best():
    scores, codes = np.array([0.3, 0.9, 0.5, 0.5, 0.5, 0.1]), np.array([0, 0, 1, 1, 1, 1])
    by_hash = min([2, 3, 4], key=lambda i: tie_hash(np.array([i]), 7)[0])
    assert np.flatnonzero(best(scores, codes, 2, seed=7)).tolist() == sorted([1, by_hash])
    assert np.flatnonzero(best(scores, codes, np.array([2, 1]), seed=7)).tolist() == sorted(
        [0, 1, by_hash]
    )
    assert best(scores, codes, np.array([0, 0]), seed=7).sum() == 0
    two = best(scores, codes, 2, seed=7)
    assert best(scores, codes, np.int64(2), seed=7).tolist() == two.tolist()
    assert len({tuple(best(scores, codes, 2, seed)) for seed in range(20)}) == 3


def test_a_score_that_is_no_number():
    nan = np.array([1.0, np.nan])
    with pytest.raises(LopsError, match="mine: a score is NaN; the probe's training has diverged"):
        keep_best(Labelled.of(["a", "b"], ["x", "y"]), Choice("mine", n=1), nan, "")
