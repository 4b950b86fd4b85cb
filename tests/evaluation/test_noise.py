"""Noise, coverage and their curve, against hand-made cases and brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc

from lops_adapters.core import LopsError
from lops_adapters.evaluation import (
    area_under_noise_coverage,
    ideal_curve,
    noise,
    noise_coverage_curve,
)

samples = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, -math.inf]), *[st.integers(0, 2)] * 2),
    min_size=1,
)


class TestNoise:
    def test_nothing_selected(self):
        assert math.isnan(noise([], []))
        assert math.isnan(noise(np.array([], dtype=object), []))

    def test_names_of_every_array_kind_compare(self):
        assert noise(np.array(["a", "bb"]), np.array(["a", "bb"], dtype=object)) == 0.0
        assert noise(["a"], ["a\0"]) == 1.0

    @pytest.mark.parametrize(
        ("given", "gold", "message"),
        [
            ([1, 2], [1], r"pseudo_labels has 2, gold has 1"),
            (
                ["1"],
                [1],
                r"pseudo_labels holds strings, gold holds integers; pass all as class names or all",
            ),
            (
                ["a", 1],
                ["a", "b"],
                r"pseudo_labels holds labels of type int, str; pass only strings or only integers",
            ),
            (["a"], [float("nan")], r"gold holds labels of type float"),
            (["a"], [None], r"gold holds labels of type NoneType"),
            ("a", ["a"], r"pseudo_labels is the string 'a'"),
            ([[1], [2]], [1, 2], r"pseudo_labels has shape \(2, 1\)"),
        ],
    )
    def test_bad_input(self, given, gold, message):
        with pytest.raises(LopsError, match=message):
            noise(given, gold)


class TestCurve:
    @given(samples)
    def test_against_brute_force(self, rows):
        confidence, given_labels, gold = (list(column) for column in zip(*rows, strict=True))
        curve = noise_coverage_curve(confidence, given_labels, gold)
        expected = []
        for threshold in sorted(set(confidence), reverse=True):
            chosen = [i for i, value in enumerate(confidence) if value >= threshold]
            wrong = sum(given_labels[i] != gold[i] for i in chosen)
            expected.append((threshold, len(chosen) / len(rows), wrong / len(chosen)))
        assert list(zip(curve.thresholds, curve.coverage, curve.noise, strict=True)) == expected
        assert curve.noise[-1] == noise(given_labels, gold)

    @pytest.mark.parametrize(
        ("confidence", "given", "gold", "message"),
        [
            (
                [0.1, math.nan],
                [1, 1],
                [1, 1],
                r"confidence is nan for 1 samples, first at position 1",
            ),
            ([0.1], [1, 1], [1, 1], r"confidence has 1, pseudo_labels has 2"),
            ([0.1, 0.2], [1, 1], [1], r"pseudo_labels has 2, gold has 1"),
            ([], [], [], r"there is no sample"),
            ([[0.1]], [1], [1], r"confidence has shape \(1, 1\)"),
            (["high"], [1], [1], r"confidence is not a flat sequence of numbers"),
        ],
    )
    def test_bad_input(self, confidence, given, gold, message):
        with pytest.raises(LopsError, match=message):
            noise_coverage_curve(confidence, given, gold)


class TestIdealCurve:
    @given(st.lists(st.booleans(), min_size=1, max_size=30))
    def test_it_is_the_curve_of_a_perfect_ranking(self, correct):
        """All correct samples first, in single steps, then the wrong ones."""
        gold = sorted(int(not c) for c in correct)
        curve = noise_coverage_curve(-np.arange(len(gold)), np.zeros(len(gold), dtype=int), gold)
        np.testing.assert_allclose(
            ideal_curve(curve.coverage, np.mean(correct)), curve.noise, atol=1e-12
        )

    @given(samples)
    def test_no_ranking_is_below_it(self, rows):
        confidence, given_labels, gold = (list(column) for column in zip(*rows, strict=True))
        curve = noise_coverage_curve(confidence, given_labels, gold)
        assert np.all(curve.noise >= ideal_curve(curve.coverage, 1 - curve.noise[-1]) - 1e-12)

    def test_bad_input(self):
        with pytest.raises(LopsError, match=r"correct_share is 1\.5"):
            ideal_curve([0.5], 1.5)
        with pytest.raises(
            LopsError, match=r"coverage holds \[0\.0, 2\.0\]; pass fractions in \(0, 1\]"
        ):
            ideal_curve([0.0, 0.5, 2.0], 0.5)


class TestArea:
    @given(samples)
    def test_against_scikit_learn(self, rows):
        curve = noise_coverage_curve(*(list(column) for column in zip(*rows, strict=True)))
        area = area_under_noise_coverage(curve)
        if len(curve) < 2:
            assert math.isnan(area)
        else:
            assert area == pytest.approx(auc(curve.coverage, curve.noise), abs=1e-12)
