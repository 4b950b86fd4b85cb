"""One code in two spellings, 3 and 3.0 as data frames write it beside blanks, is one class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters import select
from lops_adapters.core import LopsError
from lops_adapters.formats.readers import open_table
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.reader import read_labels
from lops_adapters.labels.votes import votes_by_text
from lops_adapters.tables.parts import types_like
from lops_adapters.tables.survey import survey_of
from lops_adapters.texts.agree import agree

from ..noisy import write_table

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".jsonl", ".json", ".parquet", ".arrow", ".xlsx")
WHOLE = [4, 2, 3, 2, 1, 1, 3, 4, 10, 10, 2, 1]
WITH_BLANKS = [4.0, None, 3.0, 2.0, 1.0, 2.0, None, 4.0, 10.0, 1.0, 2.0, 1.0]
PLAIN = [None if code is None else int(code) for code in WITH_BLANKS]
TEXTS = [f"text {i}" for i in range(12)]


@given(st.lists(st.tuples(st.integers(-3, 12), st.booleans()), min_size=2), st.booleans())
def test_spellings_change_no_code(drawn, is_text):
    kind = str if is_text else (lambda code: code)
    plain = [kind(code) for code, _ in drawn]
    spelt = [kind(float(code)) if pointed else kind(code) for code, pointed in drawn]
    try:
        expected = read_labels(plain)
    except LopsError as error:
        with pytest.raises(LopsError, match=str(error)[:20]):
            read_labels(spelt)
        return
    read = read_labels(spelt)
    assert read.codes.tolist() == expected.codes.tolist()
    if all(pointed for _, pointed in drawn):  # such as a whole column of floats
        assert [float(one) for one in read.classes] == [float(one) for one in expected.classes]
    else:
        assert read.classes == expected.classes
        assert set(map(type, read.classes)) == {str if is_text else int}


def test_other_numbers_stay_apart():
    assert read_labels(["1", "1.0", "1.1", "01", "2.0"]).classes == ["01", "1", "1.1", "2.0"]
    halves = read_labels([1, 2.0, 2.5])
    assert (halves.classes, halves.codes.tolist()) == ([1, 2, 2.5], [0, 1, 2])
    assert types_like(None, halves.classes)["lops_label"] is float
    with pytest.raises(LopsError, match="several types: int"):
        read_labels([1, 2.0, "1"])


@pytest.mark.parametrize(("plain", "other"), [(str, np.str_), (int, np.int64), (bool, np.bool_)])
def test_numpys_own_types_are_pythons(plain, other):
    values = [plain(i % 2) for i in range(6)]
    read = read_labels([other(value) if i % 3 else value for i, value in enumerate(values)])
    assert read.shown == values
    assert {type(label) for label in read.shown} == {plain}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_votes_and_gold_labels_of_every_format(tmp_path, suffix):
    header = ("text", "one", "two", "gold")
    rows = list(zip(TEXTS, WHOLE, WITH_BLANKS, map(float, WHOLE), strict=True))
    table = open_table([write_table(tmp_path / f"t{suffix}", rows, header)])
    survey = survey_of(table, Columns("text", votes=("one", "two"), gold="gold"))
    sample = survey.sample(survey.classes())
    assert sample.classes.names in (("1", "2", "3", "4", "10"), ("1", "10", "2", "3", "4"))
    names = [*map(int, sample.classes.names), None]
    codes = sample.labelled.votes.codes
    assert [[names[code] for code in codes[:, i]] for i in (0, 1)] == [WHOLE, PLAIN]
    assert sample.gold == list(map(str, WHOLE))
    labels = survey_of(table, Columns("text", "one", gold="gold")).classes()
    assert [int(labels.names[code]) for code in labels.gold_codes([3.0, "3.0", 3])] == [3, 3, 3]


def test_frames_and_lists_agree_alike():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"one": WHOLE, "two": PLAIN})
    assert frame.two.dtype == float
    text = {"one": list(map(str, WHOLE)), "two": [one and str(one) for one in WITH_BLANKS]}
    expected = agree(TEXTS, {"one": WHOLE, "two": PLAIN}).pairs[0].kappa
    for labels in (frame, text):
        page = agree(TEXTS, labels)
        assert page.pairs[0].kappa.value == pytest.approx(expected.value)
        assert page.pairs[0].kappa.rows == 10
        assert page.notes[0].startswith("Read as classes: ")
        assert page.notes[0].count(" as ") == 6


def test_codes_of_classes_that_are_given():
    page = agree(TEXTS, {"one": WHOLE, "two": PLAIN}, classes=["4", "3", "2", "1", "10"])
    assert page.classes == ("4", "3", "2", "1", "10")
    assert page.votes == (12, 10)


def test_labels_of_one_source_for_one_text():
    labels = ["3.0", "3", "4", "4.0", None]
    assert votes_by_text(["x"] * 4 + ["y"], labels, ["a"] * 5)[1] == {"a": [None, None]}
    assert votes_by_text(["x"] * 3, ["4", "3.0", "3"], ["a"] * 3)[1] == {"a": ["3"]}


def test_gold_labels_of_a_list():
    texts = ["the striker scored a late goal"] * 9 + ["the bank cut its rates"] * 9
    labels = np.array([1.0] * 9 + [2.0] * 9)
    page = select(texts, labels.astype(int).astype(str).tolist(), encoder=None).page(
        gold=labels.astype(str).tolist()
    )
    assert page.counts.noise_before == 0


def test_names_that_are_nearly_one_are_a_problem():
    votes = {"one": ["Art", "art ", "money"] * 4, "two": ["Art", "Art", "money"] * 4}
    page = agree(TEXTS, votes)
    assert page.problems == [
        "Classes that differ by case, spaces or marks: 'Art' (12) and 'art ' (4). `classes` joins "
        "them."
    ]


def test_labels_that_differ_by_half_of_a_character_are_not_one_class():
    with pytest.raises(LopsError, match=r"labels 'a\\ud800' and 'a\\ud801' differ by half"):
        read_labels(["a\ud800", "a\ud801", "b"])
    assert read_labels(["\ud83d\ude00", "\U0001f600", "b"]).classes == ["b", "\U0001f600"]
