"""The labels of a table: counted, joined, numbered."""

from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.tables.classes import Labels
from lops_adapters.tables.columns import Wanted

PATH = Path("a.csv")


def test_very_many_labels_are_refused(monkeypatch):
    monkeypatch.setattr("lops_adapters.tables.classes.MOST", 3)
    labels = Labels()
    for label in "abcabc":
        assert labels.add(label, PATH, 1)
    with pytest.raises(LopsError, match="more than 3 different labels, such as 'd'; check --label"):
        labels.add("d", PATH, 1)


def test_equal_labels_of_other_types_are_refused():
    labels = Labels()
    for label in (1, 1.0, 2):
        labels.add(label, PATH, 1)
    with pytest.raises(LopsError, match=r"several types: int .*, float "):
        labels.numbered(Wanted("text", "weak"))


def test_a_label_that_is_no_class_may_have_another_type():
    labels, later = Labels(), Labels()
    for label in (1, "?"):
        labels.add(label, PATH, 1)
    for label in (2, "?", 1):
        later.add(label, PATH, 9)
    labels.join(later)
    classes = labels.numbered(Wanted("text", "weak", abstain=["?"]))
    assert (classes.names, classes.counts.tolist(), classes.abstained) == (("1", "2"), [2, 1], 2)
    with pytest.raises(LopsError, match=r"int \(1 in row 1\), str \('\?' in row 1\);"):
        labels.numbered(Wanted("text", "weak"))


def test_labels_that_are_joined():
    one, other = Labels(), Labels()
    for labels, found in ((one, ["a", "b", None]), (other, ["b", "c", " "])):
        for label in found:
            labels.add(label, PATH, 1)
    one.join(other)
    wanted = Wanted("text", "weak")
    classes = one.numbered(wanted)
    assert classes.settled(wanted).abstain == ("-1",)
    assert classes.names == ("a", "b", "c")
    assert classes.counts.tolist() == [1, 2, 1]
    assert classes.abstained == 2
    assert classes.codes(["b", "c", "", None, "a"]).tolist() == [1, 2, -1, -1, 0]
    assert classes.gold_codes(["b", None, "z"]).tolist() == [1, -2, -1]
