"""What checked rows say of a table: against integrals and a plain optimum, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from lops_adapters.selection.committee import shifts as module
from lops_adapters.selection.committee.shifts import (
    SLIP,
    Frame,
    Shifts,
    Spreads,
    expit,
    integrated,
    leaning,
)

SPREADS = Spreads(1.0, 1.2, 0.6, 1.0)


def table(n=200, k=3, width=4, seed=0, spreads=SPREADS):
    """Rows of a table, its log-odds, and its vectors."""
    rng = np.random.default_rng(seed)
    odds, codes, vectors = (
        rng.normal(-1, 1.5, n),
        rng.integers(0, k, n),
        rng.normal(size=(n, width)),
    )
    return Frame.of(spreads, k, odds, vectors).rows(odds, codes, vectors)


def learnt(rows, places, wrong, k=3):
    return Shifts.learn(rows[np.array(places, dtype=int)], np.array(wrong, dtype=bool), k)


def test_without_checked_rows_the_probabilities_are_those_of_other_tables():
    rows = table()
    mean, variance = learnt(rows, [], []).odds(rows)
    np.testing.assert_allclose(integrated(mean, variance), expit(rows.odds))
    np.testing.assert_allclose(variance, rows.variance)


def test_the_features_by_hand():
    odds, codes = np.array([0.0, 2.0]), np.array([0, 1])
    vectors = np.array([[1.0, 0.0], [3.0, 0.0]])
    rows = Frame.of(SPREADS, 2, odds, vectors).rows(odds, codes, vectors)
    np.testing.assert_allclose(rows.shared, [[1, -0.6], [1, 0.6]])
    np.testing.assert_allclose(rows.own, [[1.2, -1, 0], [1.2, 1, 0]])
    np.testing.assert_allclose(rows.covariance(rows), [[3.8, 0.64], [0.64, 3.8]])


@pytest.mark.parametrize("answers", [[1], [0, 0, 0], [1, 1, 0, 1, 1]])
def test_one_shift_against_the_integral(answers):
    rows = table(spreads=Spreads(1.0, 0.0, 0.0, 0.0))
    places = np.arange(len(answers))
    mean, variance = learnt(rows, places, answers).odds(rows[5:])
    grid = np.linspace(-6, 6, 4001)
    said = SLIP + (1 - 2 * SLIP) * expit(rows.centre[places][:, None] + grid)
    density = np.exp(-(grid**2) / 2) * np.where(np.array(answers)[:, None], said, 1 - said).prod(0)
    density /= density.sum()
    expected = [density @ expit(centre + grid) for centre in rows.centre[5:]]
    np.testing.assert_allclose(integrated(mean, variance), expected, atol=0.03)


def test_the_shifts_are_the_most_probable_ones():
    rows, k = table(60), 3
    wrong = np.random.default_rng(1).random(30) < 0.4
    known = rows[:30]
    features = np.hstack(
        [known.shared, *(known.own * (known.codes == c)[:, None] for c in range(k))]
    )

    def loss(weights):
        said = SLIP + (1 - 2 * SLIP) * expit(known.centre + features @ weights)
        return weights @ weights / 2 - np.log(np.where(wrong, said, 1 - said)).sum()

    found = minimize(loss, np.zeros(features.shape[1]), method="L-BFGS-B").x
    mean, _ = learnt(rows, range(30), wrong).odds(known)
    np.testing.assert_allclose(mean, known.centre + features @ found, atol=2e-3)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(12)), st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_order_of_checked_rows_does_not_matter(order, wrong):
    rows = table(40)
    one = learnt(rows, range(12), wrong).odds(rows)
    other = learnt(rows, order, [wrong[i] for i in order]).odds(rows)
    np.testing.assert_allclose(one, other, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 30), st.booleans())
def test_nothing_jumps_with_one_more_row(count, answer):
    """From none to one row as from thirty to thirty-one: at most as far as the spreads allow."""
    rows, wrong = table(80), [i % 3 == 0 for i in range(31)]
    wrong[count] = answer
    before, after = (
        integrated(*learnt(rows, range(m), wrong[:m]).odds(rows[40:])) for m in (count, count + 1)
    )
    assert np.abs(after - before).max() < 0.3


def test_checked_rows_narrow_what_is_believed():
    rows, wrong = table(80), [i % 3 == 0 for i in range(40)]
    variances = [learnt(rows, range(m), wrong[:m]).odds(rows)[1].mean() for m in (0, 1, 5, 20, 40)]
    assert variances == sorted(variances, reverse=True)


def test_an_answer_moves_its_class_and_similar_texts_most():
    odds, codes = np.full(4, -0.5), np.array([0, 0, 0, 1])
    vectors = np.array([[1.0, 0], [1.0, 0], [-1.0, 0], [1.0, 0]])
    rows = Frame.of(SPREADS, 2, odds, vectors).rows(odds, codes, vectors)
    mean, _ = learnt(rows, [0], [True], k=2).odds(rows)
    moved = mean - rows.centre
    assert moved[1] > moved[3] > 0
    assert moved[1] > moved[2]


def test_one_slip_among_ten_rows_does_not_turn_a_table():
    rows = table(300)
    right = learnt(rows, range(10), [False] * 10).odds(rows)
    slipped = learnt(rows, range(10), [True] + [False] * 9).odds(rows)
    rejected = [(integrated(*one) > 0.5).mean() for one in (right, slipped)]
    assert rejected[0] <= rejected[1] < 0.15


def test_the_variance_of_a_sum():
    rows, weights = table(50), np.random.default_rng(2).random(50)
    for count in (0, 20):
        found = learnt(rows, range(count), [i % 2 == 0 for i in range(count)])
        narrowed = found.root @ found.known.covariance(rows)
        covariance = rows.covariance(rows) - narrowed.T @ narrowed
        expected = weights @ covariance @ weights
        assert found.variance_of_sum(rows, weights) == pytest.approx(expected)


def test_very_many_checked_rows_are_thinned_out(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 20)
    rows = table(200)
    found = learnt(rows, range(100), [i % 2 == 0 for i in range(100)])
    assert len(found.pull) == 20
    assert np.isfinite(found.odds(rows)).all()


def test_blocks_do_not_matter(monkeypatch):
    rows = table(100)
    found = learnt(rows, range(9), [True, False, False] * 3)
    whole = found.odds(rows)
    monkeypatch.setattr(module, "_BLOCK", 7)
    np.testing.assert_allclose(found.odds(rows), whole, atol=1e-12)


def test_classes_that_turn_out_to_be_right_are_suggested():
    rows, logs = table(30), np.log(np.full((30, 3), 1 / 3))
    some = rows[:6]
    lean = leaning(logs[:6], some.own, np.full(6, 2))
    favoured = logs + rows.own @ lean
    assert (favoured.argmax(axis=1) == 2).mean() > 0.9
    assert not leaning(logs[:0], some.own[:0], np.zeros(0, dtype=int)).any()
    assert leaning(logs[:6, :2], some.own, np.ones(6, dtype=int)).shape == (5, 2)
