"""Arguments of odd types: accepted where they have one meaning, else one sentence."""

from fractions import Fraction

import numpy as np
import pytest

from lops_adapters import select
from lops_adapters.core import LopsError
from lops_adapters.selection.methods.ranked import total

from ..noisy import noisy_texts

TEXTS, WEAK, _ = noisy_texts(n=60)
CLASSES = ["class 0", "class 1"]
SOURCE = ["a", "b"] * 30


def chosen(labels=WEAK, **arguments):
    return select(TEXTS, labels, encoder=None, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": 5}, "source are one int; wanted a flat sequence of names"),
        ({"groups": 5}, "groups are one int; wanted a flat sequence of names"),
        ({"classes": 5, "source": SOURCE}, "classes are one int; wanted a flat sequence of class"),
        ({"classes": "class 0"}, "classes are one str; wanted a flat sequence of class names"),
        ({"labels": None, "source": SOURCE}, "labels are one NoneType; wanted a flat sequence"),
    ],
)
def test_no_sequence(arguments, message):
    with pytest.raises(LopsError, match=message):
        chosen(**arguments)


def same(one, other):
    assert one.labels == other.labels
    np.testing.assert_array_equal(one.mask, other.mask)
    np.testing.assert_array_equal(one.confidence, other.confidence)


def test_generators():
    usual = chosen(source=SOURCE, classes=CLASSES, groups=[i // 2 for i in range(60)])
    same(usual, chosen(source=iter(SOURCE), classes=iter(CLASSES),
                       groups=(i // 2 for i in range(60))))  # fmt: skip


def test_numbers_of_other_types(tmp_path):
    usual = chosen(sure=0.5)
    page = usual.report(tmp_path / "usual.html").read_bytes()
    for half in (Fraction(1, 2), np.float64(0.5), np.float32(0.5)):
        other = chosen(sure=half)
        same(usual, other)
        assert other.report(tmp_path / f"{type(half).__name__}.html").read_bytes() == page
        assert total(5, None, half) == 3


def test_lone_surrogates_in_frames():
    pytest.importorskip("pandas")
    texts, labels = list(TEXTS), [f"{label} \ud83d" for label in WEAK]
    texts[3] = "half \ud83d of an emoji"
    frame = select(texts, labels, encoder=None).to_frame()
    assert frame["text"][3] == "half � of an emoji"
    assert set(frame["label"]) == {"class 0 �", "class 1 �"}
