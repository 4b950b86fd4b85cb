"""Soft labels in cells of a table."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.labels.soft import SoftLabels


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
