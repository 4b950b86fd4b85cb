"""Soft labels in cells of a table, and in memory."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.labels.reader import read_labels
from lops_adapters.labels.soft import SoftLabels, hard_labels


def labels(columns, *rows):
    return SoftLabels(columns).labels(rows, lambda row: f"row {row + 1}")


def test_the_largest_of_columns_and_of_one_cell():
    assert labels("ab", (0.2, "0.7"), ("", None), (1, 0)) == ["b", None, "a"]
    assert labels("p", ([0.1, 0.9],), ([1, 0],)) == [1, 0]
    assert labels("p", ({"x": 0.1, "y": 0.9},), (None,)) == ["y", None]


@pytest.mark.parametrize("tied", [(0.3, 0.1 + 0.2), (0.5, 0.5), (0, 0), ("nan", "nan")])
def test_a_tie_is_no_label_also_up_to_rounding(tied):
    assert labels("ab", tied, (0.3, 0.31)) == [None, "b"]


@pytest.mark.parametrize("cell", ["inf", float("inf"), -0.1, 10**400, "many", [1]])
def test_what_is_no_number(cell):
    with pytest.raises(
        LopsError, match=r"row 2: found .* for the class 'b'; wanted a number, 0 or"
    ):
        labels("ab", (1, 0), (0.5, cell))


@pytest.mark.parametrize("second", [[1, 0, 0], {"x": 1}, 1, "[1"])
def test_lists_of_one_length(second):
    with pytest.raises(LopsError, match=r"soft_labels p, row 2: found .*; wanted 2 numbers"):
        labels("p", ([1, 0],), (second,))


class Name(str):
    """A key that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_objects_of_many_keys_are_read_once():
    work = []
    for n in (100, 200):
        Name.compared = 0
        rows = [({Name(f"{row} {i}"): int(i == 1) for i in range(n)},) for row in "ab"]
        assert labels("p", *rows) == ["a 1", "b 1"]
        work.append(Name.compared)
    assert work[1] <= 2 * work[0] + 2


SOFT = np.array([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]])


def test_the_largest_of_a_matrix():
    for soft in (SOFT, SOFT.tolist(), 7 * SOFT, np.eye(2, dtype=int)[[0, 1, 0]]):
        read = read_labels(None, soft)
        assert (read.classes, read.codes.tolist()) == ([0, 1], [0, 1, 0])
    assert hard_labels([[np.nan, 1.0], [2, 1]]) == [1, 0]


def test_columns_name_the_classes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SOFT, columns=["class 0", "class 1"])
    assert read_labels(None, frame).shown == ["class 0", "class 1", "class 0"]
    scale = pandas.DataFrame(np.eye(3), columns=[-1, 0, 1])
    assert read_labels(None, scale).codes.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("soft", "message"),
    [
        (SOFT[:, :1], r"shape \(3, 1\); wanted a matrix of numbers"),
        ([0, 1, 0], r"shape \(3,\); wanted a matrix"),
        ([["a", "b"]], "wanted a matrix of numbers"),
        (SOFT - 0.5, "soft_labels hold -0.3 in row "),
        (SOFT * np.inf, "soft_labels hold inf in row 0"),
        (np.ones((3, 2)), "none of the 3 rows has a label"),
    ],
)
def test_what_is_no_matrix_of_soft_labels(soft, message):
    with pytest.raises(LopsError, match=message):
        read_labels(None, soft)
