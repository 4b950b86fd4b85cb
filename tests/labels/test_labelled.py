"""Samples with what is known about their labels."""

import numpy as np
import pytest

from lops_adapters.cli.corrections import changes
from lops_adapters.formats import cells
from lops_adapters.formats.readers import open_table
from lops_adapters.labels.corrections import read_corrections
from lops_adapters.labels.labelled import Labelled, read_checks

from ..noisy import write_table


def test_checked_rows_keep_their_class_where_others_are_gone():
    """No sample has the label y; a person gives it to one of them: it is none of the classes."""
    some = Labelled(
        ["a", "b", "c"], np.array([2, -1, 0]), ["x", "y", "z"], checked={0: 2, 1: 0, 2: 1}
    )
    known = some.with_label()
    assert known.checked == {0: 1, 1: -1}
    assert known.checked_labels == {0: "z", 1: None}


@pytest.fixture
def spelt(monkeypatch):
    """How many labels are spelt out since it was last asked."""
    calls, usual = [], cells.spelling

    def counted(value):
        calls.append(value)
        return usual(value)

    monkeypatch.setattr(cells, "spelling", counted)

    def count():
        n = len(calls)
        calls.clear()
        return n

    return count


def test_checked_labels_are_looked_up_once(spelt):
    work = []
    for n in (50, 100):
        classes = [f"class {i}" for i in range(n)]
        codes, others = read_checks({i: f" CLASS {i}" for i in range(n)}, n, classes, str)
        assert codes == {i: i for i in range(n)}
        assert not others
        work.append(spelt())
    assert work[1] <= 2 * work[0]


def test_corrections_are_looked_up_once(tmp_path, spelt):
    work = []
    for n in (50, 100):
        table = write_table(tmp_path / "t.csv", [[f"class {i}"] for i in range(n)], ["label"])
        rows = [[i + 1, f" CLASS {(i + 1) % n}"] for i in range(n)]
        path = write_table(tmp_path / "k.csv", rows, ["row", "label"])
        edits = read_corrections(path, by_id=False)
        made = changes(edits, open_table([table]), "label", None)
        assert made.labels == {i: f"class {(i + 1) % n}" for i in range(n)}
        work.append(spelt())
    assert work[1] <= 2 * work[0]


def test_new_classes_of_checked_rows_keep_their_codes():
    checked = {0: "new", 1: "a", 2: "other", 3: "New ", 4: None}
    assert read_checks(checked, 5, ["a", "b"], str) == (
        {0: -2, 1: 0, 2: -3, 3: -2, 4: -1},
        ["New ", "other"],
    )
