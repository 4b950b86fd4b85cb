"""Columns that are read from others: texts joined, one-hot columns, lists of votes."""

import pickle

import numpy as np
import pytest

from lops_adapters.cli import agree, apply, options, select_options
from lops_adapters.core import LopsError
from lops_adapters.formats.readers import open_table
from lops_adapters.labels.reader import read_labels
from lops_adapters.tables.annotations import joined
from lops_adapters.tables.survey import survey_of
from lops_adapters.texts.agree import agree as agreement

from ..noisy import write_table

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")
CLASSES = ["arts", "money", "sports"]


def read(path, *given, parser=select_options.parser):
    """The sample of a table with options of a command, and the notes."""
    typed = parser().parse_args([str(path), "--quiet", *given])
    table, columns = options.with_columns(typed, options.opened(typed, [path]))
    table, columns = joined(table, columns)
    survey = survey_of(pickle.loads(pickle.dumps(table)), columns)
    return survey.sample(survey.classes()), table.notes


def one_hot(codes):
    return np.eye(3, dtype=int)[codes].tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_texts_of_several_columns(tmp_path, suffix):
    rows = [["one", "first words", "x", 1], [" ", "more", "y", 2], ["last", None, "x", 3]]
    path = write_table(tmp_path / f"t{suffix}", rows, ("title", "body", "label", "n"))
    given = ["--text", "title", "--text", "body", "--text", "title", "--label", "label"]
    sample, notes = read(path, *given)
    assert sample.texts == ["one first words", "more", "last"]
    assert notes == ("Texts: 'title', 'body', joined by spaces.",)
    with pytest.raises(LopsError, match=r"has no column 'bodi'.*Did you mean text 'body'"):
        read(path, "--text", "title", "--text", "bodi", "--label", "label")
    with pytest.raises(LopsError, match="label and text are both 'body'"):
        read(path, "--text", "title", "--text", "body", "--label", "body")
    if suffix == ".jsonl":
        with pytest.raises(LopsError, match=r"line 1: the text is 1 .int.; wanted a string"):
            read(path, "--text", "title", "--text", "n", "--label", "label")


def test_texts_of_several_columns_are_joined_rows_of_sources(tmp_path):
    rows = [[f"t{i // 2}", "body", "xy"[i % 2], "ab"[i % 2]] for i in range(8)]
    path = write_table(tmp_path / "t.csv", rows, ("title", "body", "label", "who"))
    given = ["--text", "title", "--text", "body", "--label", "label", "--source", "who"]
    sample, _ = read(path, *given)
    assert sample.texts == [f"t{i} body" for i in range(4)]
    assert sample.labelled.votes.codes.tolist() == [[0, 1]] * 4


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("repeats", [True, False])
def test_one_hot_columns_with_sources(tmp_path, suffix, repeats):
    codes = [0, 0, 1, 2, 2, 2, 1, 1]
    rows = [
        [f"text {i // 2 if repeats else i}", "ab"[i % 2], *row]
        for i, row in enumerate(one_hot(codes))
    ]
    path = write_table(tmp_path / f"t{suffix}", rows, ("text", "rater", *CLASSES))
    soft = [word for name in CLASSES for word in ("--soft-labels", name)]
    for parser in (select_options.parser, agree.parser):
        given = ["--text", "text", *soft, "--source", "rater"]
        sample, notes = read(path, *given, parser=parser)
        votes = sample.labelled.votes
        assert (list(votes.sources), sample.classes.names) == (["a", "b"], tuple(CLASSES))
        of_sources = [votes.codes[:, i][votes.codes[:, i] >= 0].tolist() for i in (0, 1)]
        assert of_sources == [codes[::2], codes[1::2]]
        assert notes[0] == "Labels: the largest of 'arts', 'money', 'sports', one per row."
    with pytest.raises(LopsError, match="source names the source of each label, or of soft"):
        read(path, "--text", "text", "--labels", "arts,money", "--source", "rater")


@pytest.mark.parametrize("spell", [str, int, float, bool, lambda bit: str(bool(bit))])
def test_one_hot_columns_as_votes_are_refused(spell):
    codes = np.random.default_rng(0).integers(0, 3, 40)
    columns = {name: [spell(row[i]) for row in one_hot(codes)] for i, name in enumerate(CLASSES)}
    with pytest.raises(LopsError, match=r"one 1 per row in 'arts', 'money', 'sports'.*soft_labels"):
        read_labels(columns)
    columns["arts"][:3] = [spell(1)] * 3  # a few rows of two classes
    with pytest.raises(LopsError, match="these are one-hot columns"):
        read_labels(columns)
    with pytest.raises(LopsError, match="these are one-hot columns"):
        agreement([f"text {i}" for i in range(40)], columns)
    two = [[spell(bit), spell(1 - bit)] for bit in codes // 2]
    with pytest.raises(LopsError, match="these are one-hot columns"):
        read_labels(two)
    two[0] = [spell(1), spell(1)]
    assert len(read_labels(two).votes.sources) == 2


def test_binary_votes_are_no_one_hot_columns():
    rng = np.random.default_rng(1)
    rare = rng.random(200) < 0.1
    votes = np.array([np.where(rng.random(200) < 0.9, rare, ~rare) for _ in range(3)]).T
    assert read_labels(votes.astype(int)).classes == [0, 1]
    sparse = [[None, 1, None], [0, None, None], [None, None, 1], [1, None, None]] * 10
    assert read_labels(sparse).classes == [0, 1]


def test_soft_labels_of_several_sources():
    codes = [0, 0, 1, 2] * 3
    read = read_labels(None, one_hot(codes), source=["a", "b"] * 6)
    assert read.votes.codes.max(axis=1).tolist() == codes


LISTS = [["a", "b", "a"], ["b", "b"], ["a", None, "b"], ["c", "c", "a"]] * 3


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_column_of_lists_is_votes(tmp_path, suffix):
    written = LISTS if suffix in (".jsonl", ".json", ".parquet") else list(map(str, LISTS))
    rows = [[f"text {i}", one] for i, one in enumerate(written)]
    path = write_table(tmp_path / f"t{suffix}", rows, ("text", "votes"))
    sample, notes = read(path, "--text", "text", "--labels", "votes")
    names = [*sample.classes.names, None]
    votes = [[names[code] for code in row] for row in sample.labelled.votes.codes[:4]]
    assert votes == [["a", "b", "a"], ["b", "b", None], ["a", None, "b"], ["c", "c", "a"]]
    assert list(sample.labelled.votes.sources) == ["votes 1", "votes 2", "votes 3"]
    assert notes == ("Votes: the lists in 'votes', of 3 sources by their places.",)
    with pytest.raises(LopsError, match="labels names 1 column; wanted at least two"):
        read(path, "--text", "text", "--labels", "text")


def test_a_column_of_lists_in_a_frame_is_votes():
    pandas = pytest.importorskip("pandas")
    expected = [["a", "b", "a"], ["b", "b", None], ["a", None, "b"], ["c", "c", "a"]]
    series = pandas.Series(LISTS)
    arrays = pandas.Series([np.array(one, dtype=object) for one in LISTS])
    for labels in (series, arrays, pandas.DataFrame({"votes": series})):
        read = read_labels(labels)
        names = [*read.classes, None]
        assert [[names[code] for code in row] for row in read.votes.codes[:4]] == expected


def test_an_option_with_a_value_is_given_once(tmp_path):
    twice = ["--label", "a", "--label", "b"]
    for parser in (select_options.parser(), agree.parser()):
        with pytest.raises(LopsError, match="--label is given twice: a and b; leave one of them"):
            parser.parse_args(["t.csv", *twice])
        assert parser.parse_args(["t.csv", "--label", "a"]).label == "a"
        assert parser.parse_args(["t.csv", "--label", "a"]).label == "a"
    with pytest.raises(LopsError, match="--output is given twice"):
        apply.parser().parse_args(["c.csv", "t.csv", "--output", "a", "--output", "b"])


@pytest.mark.parametrize(("one", "other"), [("label", "source"), ("text", "source")])
def test_a_column_has_one_purpose(tmp_path, one, other):
    path = write_table(tmp_path / "t.csv", [["x", "a", "s"]], ("text", "label", "source"))
    names = {"text": "text", "label": "label", "source": "source"} | {other: one}
    given = [word for name, column in names.items() for word in (f"--{name}", column)]
    with pytest.raises(LopsError, match=f"{one} and {other} are both '{one}'"):
        read(path, *given)


def test_a_table_without_derived_columns_reads_as_before(tmp_path):
    path = write_table(tmp_path / "t.csv", [["x", "a"], ["y", "b"]], ("text", "label"))
    table = open_table([path])
    assert table.derived == {}
    assert [cells for _, _, cells in table.cells(("label",))] == [("a",), ("b",)]
