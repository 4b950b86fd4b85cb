"""What a score means in a table: diagnostics, and the calibrated log-odds."""

from dataclasses import replace

import numpy as np
import pytest

from lops_adapters.selection import build
from lops_adapters.selection.committee.calibration import (
    Diagnostics,
    calibration_of,
    coefficients,
    diagnose,
    scores,
)

from ...noisy import noisy_texts

LIKELY = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
CODES = np.array([0, 1, 2, 1])


def of_table(offset, slope, **parts):
    """A calibration that is the same for all of three classes."""
    return replace(calibration_of(None, np.ones(3)), offset=np.full(3, offset),
                   slope=np.full(3, slope), **parts)  # fmt: skip


def wrong(calibration, true, codes):
    return 1 / (1 + np.exp(-calibration.odds(true, codes)))


def test_diagnostics_by_hand():
    one, other = np.array([0, 1, 2, 0]), np.array([0, 2, 2, 0])
    found = diagnose([one, other], LIKELY, CODES)
    # The mean prefers 3 of 4 labels; the members agree on 3 of 4 rows.
    assert found.skill == found.agreement == pytest.approx((0.75 - 1 / 3) / (2 / 3))
    # ``one`` disputes row 3, and so does ``other``; ``other`` disputes rows 1 and 3, ``one`` row 3.
    assert found.repeats == pytest.approx((1 / 1 + 1 / 2) / 2)
    # Row 1, which ``other`` disputes, is confirmed by ``one``.
    assert found.confirms == pytest.approx(np.log(0.77) - np.log((0 + 1 / 2) / 2 + 0.02))
    assert found.rows == pytest.approx(np.log(4 / 3))
    assert found.classes == pytest.approx(np.log(3))


def test_diagnostics_without_disputes_and_with_classes_that_do_not_compete():
    likely = np.column_stack([LIKELY[:, :2], np.zeros(4)])
    found = diagnose([np.array([0, 1, 0, 1])] * 2, likely, np.array([0, 1, 0, 1]))
    assert np.isfinite(found).all()
    assert (found.agreement, found.repeats) == (1, 0)
    assert found.classes == pytest.approx(np.log(2))


def test_calibrated_log_odds_are_linear_in_those_of_the_posterior():
    true = np.array([[0.9, 0.06, 0.04], [0.3, 0.6, 0.1]])
    found = of_table(-1.0, 0.5).odds(true, np.array([0, 0]))
    np.testing.assert_allclose(found, -1 + 0.5 * np.log(np.array([0.1, 0.7]) / [0.9, 0.3]))


def test_the_order_stays_also_of_nearly_certain_rows():
    right, codes = np.array([1e-9, 1e-6, 0.2, 0.9, 1 - 1e-6, 1 - 1e-9]), np.zeros(6, dtype=int)
    true = np.column_stack([right, 1 - right])
    assert (np.diff(of_table(-1.0, 0.02).odds(true, codes)) < 0).all()
    assert (np.diff(scores(true, codes)) < 0).all()


def test_the_other_classes_are_less_uneven_than_members_say():
    true, codes = np.array([[0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]), np.array([0, 1])
    others = np.exp(of_table(0, 1, evenness=0.5).others(true, codes))
    others /= others.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        others, [[0, 2 / 3, 1 / 3], [2**0.5 / (1 + 2**0.5), 0, 1 / (1 + 2**0.5)]]
    )
    favour = np.array([0.0, 0.0, 9.0])
    assert of_table(0, 1, favour=favour).others(true, codes).argmax(axis=1).tolist() == [2, 2]


@pytest.mark.parametrize("kind", ["texts", "vectors"])
@pytest.mark.parametrize("number", Diagnostics._fields)
def test_numbers_outside_the_tables_of_the_calibration_count_as_the_nearest(number, kind):
    usual = Diagnostics(0.5, 0.6, 0.4, 0.3, 5.0, 1.1)
    place = Diagnostics._fields.index(number)
    for beyond, edge in ((-50, "least"), (50, "most")):
        far = usual._replace(**{number: float(beyond)})
        near = usual._replace(**{number: coefficients()[kind][edge][place]})
        own = 1.0
        if number == "rows":  # few samples count less, however few
            own, other = (r**2 / (r**2 + 144) for r in np.exp([far.rows, near.rows]))
            own /= other
        many = np.array([np.inf])
        slope = calibration_of(far, many, kind).slope
        assert slope == pytest.approx(own * calibration_of(near, many, kind).slope)
        assert slope > 0 or number == "rows"


@pytest.mark.parametrize("few", ["per class", "of the class"])
def test_the_fewer_rows_the_nearer_to_what_is_usual(few):
    """The share of wrong labels in other tables, and a score that means nothing."""
    usual = 1 / (1 + np.exp(-coefficients()["texts"]["usual"]))
    true, codes = np.array([[0.01, 0.99]]), np.array([0])
    found = []
    for rows in (100, 30, 10, 3, 1e-6):
        mean, own = (rows, 1e9) if few == "per class" else (100, rows)
        table = Diagnostics(0.7, 0.9, 0.75, 1.4, np.log(mean), 1.4)
        found.append(wrong(calibration_of(table, np.array([own])), true, codes)[0])
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.7
    assert found[-2] < 0.5
    assert found[-1] == pytest.approx(usual, abs=1e-4)


def test_a_class_that_is_small_next_to_others_by_hand():
    """100 rows per class and 25 of this one count as 12.5; a larger class as the mean."""
    table = Diagnostics(0.7, 0.9, 0.75, 1.4, np.log(100), 1.4)
    small, mean, large = calibration_of(table, np.array([25, 100, 400])).slope
    assert mean == large
    assert small / mean == pytest.approx((12.5**2 / (12.5**2 + 144)) / (100**2 / (100**2 + 144)))


def test_members_that_can_tell_reject_more_than_members_that_cannot():
    """The same score is believed where members agree with each other, not where they do not."""
    rows = np.array([1000, 1000])
    clear = calibration_of(Diagnostics(0.7, 0.9, 0.75, 1.4, 6.9, 1.4), rows)
    hard = calibration_of(Diagnostics(0.45, 0.5, 0.55, 0.2, 6.9, 0.7), rows)
    true = np.array([[0.05, 0.95]])
    assert wrong(clear, true, np.array([0]))[0] > 0.75
    assert wrong(hard, true, np.array([0]))[0] < 0.65


def test_little_changes_with_one_more_disputed_row():
    """No threshold at which the behaviour jumps."""
    texts, weak, _ = noisy_texts(n=240, k=3, noise=0.45)
    found = [build("committee", encoder=None)(texts, labels).confidence.mean()
             for labels in (weak, [weak[1], *weak[1:]])]  # fmt: skip
    assert abs(found[0] - found[1]) < 0.02
