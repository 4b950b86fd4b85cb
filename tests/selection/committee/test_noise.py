"""The share of wrong labels and its range."""

import numpy as np
import pytest

from lops_adapters.selection.committee.noise import Noise, Z, as_arrays
from lops_adapters.selection.committee.shifts import Frame, Shifts, Spreads, expit, integrated

NONE = Spreads(0.0, 0.0, 0.0, 0.0)


def noise_of(odds, codes, checked=None, spreads=NONE, certain=None):
    """The noise of a table, given position -> whether its label is wrong."""
    frame = Frame.of(spreads, int(codes.max()) + 1, odds, np.zeros((len(odds), 0)))
    rows = frame.rows(odds, codes, np.zeros((len(odds), 0)))
    places, wrong = as_arrays(checked or {})
    shifts = Shifts.learn(rows[places], wrong > 0, frame.k)
    probabilities = integrated(*shifts.odds(rows))
    probabilities[places] = wrong
    certain = np.zeros(len(odds), dtype=bool) if certain is None else certain
    probabilities[certain] = 0
    certain[places] = True
    return Noise.of(shifts, rows, probabilities, places, certain, True)


def test_without_shifts_the_range_is_that_of_counts():
    odds = np.full(400, np.log(0.1 / 0.9))
    found = noise_of(odds, np.zeros(400, dtype=int))
    width = Z * np.sqrt(0.1 * 0.9 / 400) / (0.1 * 0.9)
    expected = 0.1, expit(odds[0] - width), expit(odds[0] + width)
    assert (found.rate, found.low, found.high) == pytest.approx(expected)
    assert (found.total.checked, found.holds) == (0, True)


def test_every_class_has_its_own_share():
    odds, codes = np.array([-3.0] * 50 + [1.0] * 50), np.repeat([0, 1], 50)
    rare, often = noise_of(odds, codes, {0: 1, 60: 0, 70: 1}).of_classes
    assert (rare.value < 0.12, often.value > 0.6) == (True, True)
    assert (rare.checked, often.checked) == (1, 2)


def test_a_table_that_is_checked_completely_has_no_range():
    found = noise_of(np.zeros(4), np.zeros(4, dtype=int), {0: 1, 1: 0, 2: 0, 3: 0})
    assert found.low == found.rate == found.high == 0.25


def test_labels_that_are_believed_are_not_wrong():
    certain = np.array([True, False])
    found = noise_of(np.zeros(2), np.array([0, 1]), certain=certain)
    assert [rate.value for rate in found.of_classes] == pytest.approx([0, 0.5])
    assert found.rate == pytest.approx(0.25)


@pytest.mark.parametrize("count", [0, 5, 20, 80])
def test_tables_of_the_model_are_in_the_range_in_four_of_five_cases(count):
    spreads, inside, widths = Spreads(1.0, 1.0, 0.5, 0.0), [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        odds, codes = rng.normal(-1, 1.5, 300), rng.integers(0, 2, 300)
        frame = Frame.of(spreads, 2, odds, np.zeros((300, 0)))
        rows = frame.rows(odds, codes, np.zeros((300, 0)))
        drawn = rows.shared @ rng.normal(size=2) + rows.own[:, 0] * rng.normal(size=2)[codes]
        wrong = rng.random(300) < expit(rows.centre + drawn)
        found = noise_of(odds, codes, dict(enumerate(wrong[:count].astype(int))), spreads)
        inside.append(found.low <= wrong.mean() <= found.high)
        widths.append(found.high - found.low)
    assert 0.7 < np.mean(inside) < 0.92
    assert np.mean(widths) < {0: 0.5, 5: 0.35, 20: 0.22, 80: 0.12}[count]
