"""Texts and labels that are read: of every container, and refused ones."""

from functools import partial

import numpy as np
import pytest

import lops_adapters
from lops_adapters import LopsError
from lops_adapters.labels.reader import read_labels
from lops_adapters.texts.select import read_texts

from ..noisy import noisy_texts

TEXTS, LABELS, _ = noisy_texts()
select = partial(lops_adapters.select, encoder=None)


class Odd:
    """A label whose own comparison raises."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (
            ["a", 1.5, "b", b"x"],
            list("xyxy"),
            "2 of 4 texts are not strings, at positions 1, 3 .the first is 1.5.",
        ),
        (["a", 7], ["x", "y"], "1 of 2 texts are not strings, at position 1 .the first is 7."),
        (
            [float("nan")] * 9,
            list("xyxyxyxyx"),
            "all 9 texts are empty; is this the column of texts",
        ),
        ("one text", ["x"], "texts are one str; wanted a flat sequence"),
        (np.array([["a"], ["b"]]), ["x", "y"], "texts are one ndarray"),
        (["a", "b"], "xy", "labels are one str"),
        (["a", "b"], ["", None], "none of the 2 rows has a label; wanted labels of at least two"),
        (
            ["a", "b"],
            ["x", float("nan")],
            "all 1 rows have the label 'x'; wanted at least two classes",
        ),
        (
            ["a", "b"],
            [1, "1"],
            "several types: int .1 in position 0., str .'1' in position 1.; make",
        ),
        (["a", "b"], ["x", "x"], "all 2 rows have the label 'x'; wanted at least two classes"),
        (
            ["a", "b"],
            [Odd(), Odd()],
            "position 0: the label is <.*Odd.*, which holds several classes or none",
        ),
        (
            ["a", "b"],
            [["x"], {"y": 1}],
            "position 1: the label is ..y': 1., which holds several classes or none",
        ),
        (["a", "b", "c"], ["x", "y"], "found 3 texts and 2 labels"),
        (
            ["a", "b", "c"],
            ["x", "y", "x"],
            "found 3 texts with a label, and committee uses cross-validation; wanted at least 10, "
            "or a ranking with a number for keep",
        ),
    ],
)
def test_bad_input_is_refused(texts, labels, message):
    with pytest.raises(LopsError, match=message):
        select(texts, labels, probe="linear")


def test_columns_of_other_libraries():
    pandas, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    frame = pandas.DataFrame({"text": TEXTS, "label": LABELS}, index=range(500, 500 + len(TEXTS)))
    table = datasets.Dataset.from_dict({"text": TEXTS, "label": LABELS})
    for texts in (frame["text"], np.array(TEXTS), tuple(TEXTS), table["text"]):
        assert read_texts(texts) == TEXTS
    assert read_texts(pandas.Series(["a", pandas.NA], dtype="string")) == ["a", ""]
    category = frame["label"].astype("category")
    of_objects = np.array(LABELS, dtype=object)
    for labels in (frame["label"], category, np.array(LABELS), of_objects, table["label"]):
        assert read_labels(labels).shown == LABELS
    frame.loc[503, "label"] = pandas.NA
    missing = read_labels(frame["label"].astype("string")).codes < 0
    assert np.flatnonzero(missing).tolist() == [3]
    numbers = select(TEXTS, np.array([int(label[-1]) for label in LABELS]), probe="linear")
    np.testing.assert_array_equal(numbers.kept, select(TEXTS, LABELS, probe="linear").kept)
    assert set(numbers.suggested) == {0, 1}


def test_what_memory_very_many_classes_take(monkeypatch):
    monkeypatch.setattr("lops_adapters.texts.labelled.free_memory", lambda: 4 * 10**9)
    labels = [f"class {i % 10_000}" for i in range(20_000)]
    with pytest.raises(
        LopsError,
        match=r"20,000 texts of 10,000 classes take about 20.0 GB of memory, and 4.0 GB are free",
    ):
        select(["a"] * 20_000, labels, probe="linear")


@pytest.mark.filterwarnings("ignore::lops_adapters.LopsWarning")  # hardly more than guessing
def test_the_fewest_texts():
    assert len(select(TEXTS[:10], LABELS[:10], probe="linear").mask) == 10
    with pytest.raises(LopsError, match="found 9 texts with a label"):
        select(TEXTS[:9], LABELS[:9], probe="linear")


def test_labels_that_are_no_classes():
    texts = [f"text number {i}" for i in range(30)]
    with pytest.raises(
        LopsError,
        match="found 30 different labels in 30 texts, such as '0'; wanted classes with many texts",
    ):
        select(texts, [str(i) for i in range(30)])
    with pytest.raises(LopsError, match="found 16 different labels in 30 texts"):
        select(texts, [str(min(i, 15)) for i in range(30)])


def test_missing_texts_are_empty_as_in_a_file():
    assert read_texts(["a", None, float("nan"), "b"]) == ["a", "", "", "b"]


@pytest.mark.parametrize("given", [{"a", "b"}, {"a": 1, "b": 2}])
def test_what_has_no_order_is_refused(given):
    with pytest.raises(LopsError, match="wanted a flat sequence of strings"):
        select(given, ["x", "y"])
    with pytest.raises(LopsError, match="wanted a flat sequence of class names"):
        select(["x", "y"], given)


def test_a_whole_table_is_no_column():
    pandas, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    columns = {"text": TEXTS, "label": LABELS}
    for table in (pandas.DataFrame(columns), datasets.Dataset.from_dict(columns)):
        with pytest.raises(
            LopsError,
            match=r"a whole table; give two of its columns, or use .*"
            r"select_frame\(table, text=..., label=...\)",
        ):
            select(table, LABELS)
