"""Any function of samples and labels as a selector."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection import FunctionSelector, trusted_positions

TEXTS = ["a", "abc", "ab", "abcd", "abcde", "abcdef"]
LABELS = ["x", "x", "x", "y", "y", "y"]


def lengths(texts, labels):
    return [float(len(text)) for text in texts]


@pytest.mark.parametrize(
    ("function", "settings", "kept"),
    [
        (lengths, {}, [3, 4, 5]),
        (lengths, {"keep": 0.2}, [4, 5]),
        (lengths, {"keep": 0.34, "per_class": True}, [1, 2, 4, 5]),
        (lambda texts, labels: [len(text) > 2 for text in texts], {}, [1, 3, 4, 5]),
        (lambda texts, labels: np.array([4, 0]), {}, [0, 4]),
        (
            lambda texts, labels: [i for i, label in enumerate(labels) if label == "y"],
            {},
            [3, 4, 5],
        ),
        (lambda texts, labels: [], {}, []),
    ],
)
def test_scores_a_mask_or_positions(function, settings, kept):
    selection = FunctionSelector(function, **settings)(TEXTS, LABELS)
    assert selection.kept.tolist() == kept
    assert selection.rule == "function"
    counts = {label: report.kept for label, report in selection.per_class.items()}
    assert counts == {name: sum(LABELS[i] == name for i in kept) for name in "xy"}
    if {LABELS[i] for i in kept} == {"x", "y"}:
        assert trusted_positions(selection, LABELS).tolist() == kept


def test_confidence_is_the_score():
    selection = FunctionSelector(lengths, name="length")(TEXTS, LABELS)
    assert selection.confidence.tolist() == [1, 3, 2, 4, 5, 6]
    assert (selection.rule, selection.stopped) == ("length", "selected by length")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([1.0, 2.0], r"shape \(2,\) and type float64; wanted 6 truth values, 6 numbers with a"),
        ([True], r"shape \(1,\) and type bool"),
        ([1.0] * 5 + [float("nan")], "type float64 with NaN"),
        ([0, 6], "positions from 0 to 5"),
        ([-1], "positions from 0 to 5"),
        ([[0, 1]], r"shape \(1, 2\)"),
        (["yes"] * 6, "type <U3"),
    ],
)
def test_other_answers_are_refused(answer, words):
    with pytest.raises(LopsError, match=words):
        FunctionSelector(lambda texts, labels: answer)(TEXTS, LABELS)


@pytest.mark.parametrize("keep", [0, 1.5, "auto"])
def test_keep_is_a_fraction(keep):
    with pytest.raises(LopsError, match="wanted a fraction above 0 and at most 1"):
        FunctionSelector(lengths, keep)
