"""Answers of language models, and the classes that they name."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.labels.reader import read_labels

CLASSES = ["spam", "ham", "toxic", "not toxic", "sports", "04"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Spam.", "spam"),
        ("it is SPAM!", "spam"),
        ("spam, spam", "spam"),
        ("It is not toxic", "not toxic"),
        ("Not toxic.", "not toxic"),
        ("toxic", "toxic"),
        ("4", "04"),
        ("4.0", "04"),
    ],
)
def test_answers_that_name_a_class(answer, expected):
    assert read_labels([answer, "spam", "ham"], classes=CLASSES).shown[0] == expected


@pytest.mark.parametrize(
    "answer",
    [
        *("Not spam.", "non-spam", "no spam here", "isn't sports", "it isn\u2019t sports"),
        *("kein Spam", "neither spam", "cannot be spam", "spam or ham", "toxic, not toxic"),
        *("it is not not toxic", "unclear"),
    ],
)
def test_answers_that_name_none(answer):
    """A negation is no class, unless a class is named so."""
    with pytest.raises(LopsError, match=r"1 label names .*\(positions 1, 2\); correct them"):
        read_labels(["ham", answer, answer], classes=CLASSES)


def test_numbers_with_a_sign_are_distinct():
    given = read_labels(["-1.0", "1"], classes=["-1", "1"])
    assert given.shown == ["-1", "1"]


def test_a_double_s_is_no_plural():
    assert read_labels(["bosses", "Boss."], classes=["bosse", "boss"]).shown == ["bosse", "boss"]
    with pytest.raises(LopsError, match="1 label names none"):
        read_labels(["bos", "boss"], classes=["ham", "boss"])
