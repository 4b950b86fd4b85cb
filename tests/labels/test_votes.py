"""Annotations joined to votes."""

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.labels.reader import plain_value, read_labels
from lops_adapters.labels.votes import is_votes, majority, vote_cells, votes_by_text

from ..noisy import noisy_texts


def test_votes_by_text():
    """Most frequent label of each source; none in a tie, of missing labels, or without a row."""
    rows = [
        ("x", "a", "Ann"), ("y", "b", "Ann"), ("x", "b", "Bob"), ("x", "a", "Bob"),
        ("x", "b", "Bob"), ("z", None, "Ann"), ("y", "a", "Bob"), ("y", "b", "Bob"),
        ("z", "a", None),
    ]  # fmt: skip
    texts, votes = votes_by_text(*map(list, zip(*rows, strict=True)))
    assert texts == ["x", "y", "z"]
    assert votes == {
        "": [None, None, "a"], "Ann": ["a", "b", None], "Bob": ["b", None, None],
    }  # fmt: skip
    with pytest.raises(LopsError, match="found 2 texts, 1 labels and 1 sources; wanted one of"):
        votes_by_text(["x", "y"], ["a"], ["Ann"])


def test_rows_of_annotations_in_select():
    """Rows that repeat are named."""
    texts, labels, gold = noisy_texts(n=60, k=2, noise=0.2)
    rows, given = [*texts, *texts], [*labels, *gold]
    source = np.repeat(["rule", "person"], 60)
    alone = select(rows, given, source=source, encoder=None)
    assert len(alone.mask) == 120
    assert any("60 texts have labels by several sources" in note for note in alone.said.notes)


def test_a_vote_of_minus_one_counts_if_there_is_no_other():
    """Three sources; the rows have the votes -1 -1, -1 1 1, none at all, and -1 1."""
    cells = [[-1, -1, None, -1], [-1, 1, "", 1], [None, 1, None, None]]
    assert majority(cells, lambda vote: False) == [-1, 1, None, 1]
    assert majority(cells, lambda vote: vote == -1) == [None, 1, None, 1]


def test_an_annotation_is_one_label():
    with pytest.raises(
        LopsError, match=r"position 1: the label is \{'a': 1\}, which holds several"
    ):
        votes_by_text(["x", "y"], ["a", {"a": 1}], ["Ann", "Bob"])


def test_columns_of_votes_in_the_types_of_other_libraries():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    array = pyarrow.array(["x", "y"])
    for column in (pandas.Series(["x", "y"]), array, pyarrow.chunked_array([array]), list(array)):
        assert is_votes({"a": column})
        assert [plain_value(vote) for vote in vote_cells({"a": column})["a"]] == ["x", "y"]
    for text in ("xy", b"xy", {"x": 1}, {"x"}, iter("xy")):
        assert not is_votes({"a": text})


def test_scalars_and_tables_of_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    weak, gold = ["x", "y", "x"], ["x", "y", "y"]
    rows = [[pyarrow.scalar(a), pyarrow.scalar(b)] for a, b in zip(weak, gold, strict=True)]
    for labels in (rows, pyarrow.table({"weak": weak, "gold": gold})):
        read = read_labels(labels)
        assert [type(name) for name in read.classes] == [str, str]
        assert read.votes.codes.tolist() == [[0, 0], [1, 1], [0, 1]]
    assert read_labels([pyarrow.scalar(label) for label in weak]).shown == weak
