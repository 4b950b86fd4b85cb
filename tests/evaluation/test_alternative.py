"""The alternative annotator test against a plain re-computation, row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from lops_adapters.evaluation.alternative import LEAST_ROWS, left_out


def by_hand(votes, source, people, margin, ordered):
    """Rows, advantage and p-value per person, by loops; then the rank that Benjamini-Yekutieli
    accepts."""
    found = {}
    for person in people:
        near, behind = [], []
        for row in votes.tolist():
            others = [row[one] for one in people if one != person and row[one] >= 0]
            if row[source] < 0 or row[person] < 0 or not others:
                continue

            def close(label, others=others):
                if ordered:
                    return -(np.mean([(label - one) ** 2 for one in others]) ** 0.5)
                return np.mean([label == one for one in others])

            first, second = close(row[source]), close(row[person])
            near.append(first >= second)
            behind.append(int(second >= first) - int(first >= second))
        if len(near) >= LEAST_ROWS:
            p = ttest_1samp(behind, margin, alternative="less").pvalue
            found[person] = len(near), np.mean(near), p
    order = sorted(found, key=lambda one: (found[one][2], one))
    m, accepted = len(order), 0
    harmonic = sum(1 / i for i in range(1, m + 1))
    for rank, person in enumerate(order, 1):
        if found[person][2] <= rank / m * 0.05 / harmonic:
            accepted = rank
    return found, set(order[:accepted])


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_loops_find(ordered, seed):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, 120)
    votes = np.stack([np.where(rng.random(120) < right, true, rng.integers(0, 3, 120))
                      for right in (0.9, 0.8, 0.6, 0.5, 0.8)], axis=1)  # fmt: skip
    votes[rng.random(votes.shape) < 0.2] = -1
    votes[20:, 3] = -1  # too few rows
    tests = left_out(votes, 4, [0, 1, 2, 3], 0.15, ordered)
    found, wins = by_hand(votes, 4, [0, 1, 2, 3], 0.15, ordered)
    assert [one.person for one in tests] == [0, 1, 2] == sorted(found)
    for one in tests:
        rows, advantage, p = found[one.person]
        assert (one.rows, one.advantage) == (rows, pytest.approx(advantage))
        assert one.p == pytest.approx(p, rel=1e-6)
        assert one.wins == (one.person in wins)


def test_false_discoveries_are_controlled_over_all_people():
    """Of three people, a p-value of 0.02 is below 0.05 and above 0.05 / 3 / (1 + 1/2 + 1/3)."""
    votes = np.zeros((60, 4), dtype=int)
    votes[:2, 3] = 1  # the source is apart twice
    tests = left_out(votes, 3, [0, 1, 2], 0.05)
    assert {round(one.advantage, 3) for one in tests} == {round(58 / 60, 3)}
    assert all(one.p > 0.05 / 3 / (11 / 6) for one in tests)
    assert not any(one.wins for one in tests)
    assert all(one.wins for one in left_out(votes, 3, [0, 1, 2], 0.15))


@given(st.integers(0, 1000), st.floats(0, 0.9))
@settings(max_examples=20, deadline=None)
def test_a_larger_margin_wins_as_often_or_more(seed, margin):
    votes = np.random.default_rng(seed).integers(-1, 3, (90, 4))
    one, other = (left_out(votes, 3, [0, 1, 2], at) for at in (margin, margin + 0.1))
    assert all(a.p >= b.p for a, b in zip(one, other, strict=True))
    assert sum(a.wins for a in one) <= sum(b.wins for b in other)


def test_a_source_that_is_as_close_everywhere_or_never():
    votes = np.zeros((40, 4), dtype=int)
    assert [one.p for one in left_out(votes, 3, [0, 1, 2], 0.1)] == [0, 0, 0]
    votes[:, 3] = 1
    assert [one.p for one in left_out(votes, 3, [0, 1, 2], 0.1)] == [1, 1, 1]


@pytest.mark.parametrize("rows", [LEAST_ROWS - 1, LEAST_ROWS])
def test_a_person_with_as_many_rows_as_are_needed(rows):
    votes = np.zeros((rows, 4), dtype=int)
    assert len(left_out(votes, 3, [0, 1, 2], 0.1)) == (3 if rows == LEAST_ROWS else 0)
