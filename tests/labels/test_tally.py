"""The labels of a table or a list: counted, joined, made into classes."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.formats.cells import is_unlabelled
from lops_adapters.labels.classes import read_classes
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.missing import minus_one
from lops_adapters.labels.reader import read_labels
from lops_adapters.labels.tally import Tally
from lops_adapters.scale.engine import settled

COLUMNS = Columns("text", "weak")


class Lines(NamedTuple):
    """Rows of a file."""

    numbers: list
    path: Path = Path("a.csv")
    unit: str = "row"

    def place(self, row):
        return f"{self.path}, row {self.numbers[row]}"


def count(labels, *, gold=None, first=1):
    tally, where = Tally(), Lines(list(range(first, first + len(labels))))
    numbers = tally.numbers(labels, where)
    tally.count(numbers, where)
    if gold is not None:
        tally.count_gold(numbers, gold, where)
    return tally


def test_very_many_labels_are_refused(monkeypatch):
    monkeypatch.setattr("lops_adapters.labels.tally.MOST", 3)
    assert count("abcabc").counts.tolist() == [0, 2, 2, 2]
    with pytest.raises(LopsError, match="more than 3 different labels, such as 'd'; check label"):
        count("abcd")


def test_blank_cells_are_looked_up_once(monkeypatch):
    calls = []

    def is_none(label):
        calls.append(label)
        return is_unlabelled(label)

    monkeypatch.setattr("lops_adapters.labels.tally.is_unlabelled", is_none)
    nan = [float("nan"), float("nan")]  # each is another object, of which none is kept
    numbers = Tally().numbers(["", "a", "", *nan, "", "a"], Lines(range(7)))
    assert numbers.tolist() == [0, 1, 0, 0, 0, 0, 1]
    assert calls.count("") == 1


def test_equal_labels_of_other_types_are_refused():
    with pytest.raises(LopsError, match=r"several types: int .1 in row 1., bool .True in row 2."):
        read_classes(count([1, True, 2]), COLUMNS)


def test_a_label_that_is_no_class_may_have_another_type():
    tally, later = count([1, "?"]), count([2, "?", 1], first=9)
    tally.join(later)
    classes = read_classes(tally, Columns("text", "weak", abstain=["?"]))
    assert (classes.names, classes.counts.tolist(), classes.abstained) == (("1", "2"), [2, 1], 2)
    assert "Without a label: 2 rows (rows 2, 10), neither kept nor rejected." in classes.notes
    with pytest.raises(LopsError, match=r"int \(1 in row 1\), str \('\?' in row 2\);"):
        read_classes(tally, COLUMNS)


def test_labels_that_are_joined():
    one, other = count(["a", "b", None]), count(["b", "c", " "])
    one.join(other)
    classes = read_classes(one, COLUMNS)
    assert settled(COLUMNS, classes).abstain == ("-1",)
    assert classes.names == ("a", "b", "c")
    assert classes.counts.tolist() == [1, 2, 1]
    assert classes.abstained == 2
    assert classes.codes(["b", "c", "", None, "a"]).tolist() == [1, 2, -1, -1, 0]
    assert classes.given(np.array([2, -1])) == ["c", None]
    assert classes.gold_codes(["b", None, "z"]).tolist() == [1, -2, -1]


def test_gold_labels_of_rows_without_a_class_do_not_count():
    one, other = count([0, 1, -1], gold=[0, 1, 7]), count([1, None, 0], gold=[None, 8, 9])
    one.join(other)
    classes = read_classes(one, Columns("text", "weak", "true"))
    assert classes.problems == [
        "Never predicted: '9' (1 row), a gold label that is no row's label."
    ]
    assert "3 of 4 rows have a gold label; noise is measured on these." in classes.notes


def test_near_names_of_votes_are_counted_by_votes():
    """Most rows have another label, by a majority."""
    votes = [["Sports.", "art", "art"]] * 3 + [["sport", "sport", "Sports."]] * 2
    given = read_labels(votes, classes=["sport", "art"])
    assert given.notes == ["Read as classes: 'Sports.' as sport (5)."]


@pytest.mark.parametrize("joined", [False, True])
def test_rows_of_several_labels_are_shown_in_their_order(joined):
    """In a later block, row 4 is its first one."""
    tally, labels = count(["a", "a", "x"]), ["y", "x", "a"]
    if joined:
        tally.join(count(labels, first=4))
    else:
        where = Lines([4, 5, 6])
        tally.count(tally.numbers(labels, where), where)
    numbers = [tally.labels.index(label) for label in "xy"]
    assert tally.shown(numbers) == "rows 3, 4, 5"


def test_half_as_many_classes_as_rows_are_enough():
    assert len(read_classes(count([*range(10), *range(10)]), COLUMNS).names) == 10
    with pytest.raises(LopsError, match="found 11 different labels in 20 texts, such as '0'"):
        read_classes(count([*range(11), *range(9)]), COLUMNS)


def test_votes_of_parts_add_up():
    """As when workers count parts of a table."""
    parts = []
    for votes in ([["a", "b"], ["a", "a"]], [["b", "b"], ["a", "c"]]):
        tally, where = Tally(), Lines([1, 2])
        tally.count(tally.numbers(["a", "b"], where), where)
        tally.count_votes(votes, where)
        parts.append(tally)
    parts[0].join(parts[1])
    assert dict(zip(parts[0].labels[1:], parts[0].votes[1:].tolist(), strict=True)) == {
        "a": 4, "b": 3, "c": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("labels", "meant"), [("a-", "-"), ("ab", None)])
def test_a_dash_is_no_class_unless_a_class_is_named_so(labels, meant):
    classes = read_classes(count(labels), COLUMNS)
    assert classes.meant(["-", " ", "a"]) == {"-": meant, " ": None, "a": "a"}


def test_an_id_stays_text_where_a_label_is_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,text,weak\nNA,one,NA\nb,two,x\n")
    columns = Columns("text", "weak", id="name")
    (block,) = readers.open_table([path]).blocks()
    ids, labels = columns.cells(block, ["name", "weak"])
    assert ids == ["NA", "b"]
    assert [None if is_unlabelled(label) else label for label in labels] == [None, "x"]


def test_minus_one_can_be_a_class():
    two, scale = [1, -1, 1, -1], [-1, 0, 1, -1, 0, 1]
    assert read_labels(two).classes == [-1, 1]
    as_of_a_label_model = read_labels(scale)
    assert as_of_a_label_model.codes.tolist() == [-1, 0, 1, -1, 0, 1]
    assert as_of_a_label_model.classes == [0, 1]
    assert read_labels(scale, abstain=()).classes == [-1, 0, 1]
    assert read_labels([2 * code for code in scale]).classes == [-2, 0, 2]
    assert read_labels(scale, abstain=0).classes == [-1, 1]


def test_integers_of_any_size():
    assert minus_one({-1, 0, 10**400}) == {-1}
    assert minus_one({-1, 0, 10**400, float("inf")}) == set()
    assert minus_one({"-1", "0", "9" * 5000}) == set()
    assert minus_one({False, True, -1}) == set()
