"""Counts over blocks, and the page of a table from them."""

from dataclasses import replace

import numpy as np
import pytest

import lops_adapters
from lops_adapters.labels.classes import NO_GOLD, OTHER_GOLD
from lops_adapters.report.totals import Totals, suggestions

from ..noisy import noisy_texts

RNG = np.random.default_rng(0)
CODES, GOLD = RNG.integers(0, 3, 200), RNG.integers(-2, 3, 200)
KEPT, RIGHT, SUGGESTED = RNG.uniform(size=200) < 0.7, RNG.uniform(size=200), RNG.integers(0, 3, 200)


def counted(*parts, gold=GOLD):
    totals = Totals.of(3)
    for part in parts:
        columns = (
            (CODES, KEPT, RIGHT, SUGGESTED)
            if gold is None
            else (CODES, KEPT, RIGHT, SUGGESTED, gold)
        )
        totals.count(*(column[part] for column in columns))
    return totals


def test_counts_by_hand():
    totals = counted(np.arange(200))
    for code in range(3):
        own = code == CODES
        assert totals.rows[code] == own.sum()
        assert totals.kept[code] == (own & KEPT).sum()
        assert totals.with_gold[code] == (own & (GOLD != NO_GOLD)).sum()
        wrong = own & (GOLD != NO_GOLD) & (code != GOLD)
        assert totals.wrong[code] == wrong.sum()
        assert totals.wrong_kept[code] == (wrong & KEPT).sum()
        assert (GOLD[wrong] == OTHER_GOLD).any()
    pairs = suggestions(totals.corrections, "abc")
    assert all(label != other for label, other, _ in pairs)
    first, second, count = pairs[0]
    own = ("abc".index(first) == CODES) & ("abc".index(second) == SUGGESTED)
    assert count == (own & ~KEPT).sum() == max(count for *_, count in pairs)


def test_blocks_add_up():
    whole = counted(np.arange(200))
    parts = [counted(np.arange(70)), counted(np.arange(70, 200))]
    joined = parts[0] + parts[1]
    for name, counts in vars(whole).items():
        np.testing.assert_array_equal(getattr(joined, name), counts)
    assert counted(np.arange(200), gold=None).with_gold.sum() == 0


def test_the_page_of_a_sample_that_is_the_table():
    texts, weak, gold = noisy_texts(n=90, k=2)
    found = lops_adapters.select(texts, weak, encoder=None)
    classes = list(found.per_class)
    codes = np.array([classes.index(label) for label in weak])
    suggested = np.array([classes.index(label) for label in found.suggested])
    true = np.array([classes.index(label) for label in gold])
    totals = Totals.of(2)
    totals.count(codes, found.mask, found.confidence, suggested, true)
    page = found.page(gold)
    of_table = found.page(gold, totals=totals)
    assert of_table.estimate == pytest.approx(page.estimate)  # doubts are in millionths
    assert replace(of_table, estimate=page.estimate) == page
    assert [r.kept for r in totals.reports(found.per_class).values()] == [
        r.kept for r in found.per_class.values()
    ]


def test_a_kept_row_that_a_person_corrected_is_right():
    """Two rows with the label 0, kept, of class 1; a person corrected the first one."""
    zeros = np.zeros(2, dtype=np.int64)
    totals, kept = Totals.of(2), np.ones(2, dtype=bool)
    totals.count(zeros, kept, np.ones(2), zeros, np.array([1, 1]), checked=np.array([1, 0]))
    assert (totals.wrong.tolist(), totals.gold_kept.tolist()) == ([2, 0], [2, 0])
    assert totals.wrong_kept.tolist() == [1, 0]
