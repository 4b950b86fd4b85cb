"""Files that name rows: a correction lands on the text it was made for, or nothing is written."""

import csv
import json
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.cli import apply
from lops_adapters.core import LopsError
from lops_adapters.formats import files
from lops_adapters.formats.readers import open_table
from lops_adapters.labels.checked_rows import read_checked
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.corrections import read_corrections
from lops_adapters.labels.derived import with_text
from lops_adapters.labels.naming import key_of, naming
from lops_adapters.tables.annotations import joined
from lops_adapters.tables.survey import survey_of

from ..noisy import read_table, write_table

HEADER = ["item", "body", "who", "topic"]
ROWS = [
    ["1", "one text", "ann", "a"],
    ["1", "one text ", "ben", "b"],
    ["2", "another text", "ann", "b"],
    ["2", "another\r\ntext", "ben", ""],
    ["3", "=a third, “ж”", "ann", "a"],
    ["3", "=a third, “ж”", "ben", "a"],
]


def opened(path, source="who", id=None):
    columns = Columns("body", "topic", id=id, source=source)
    return joined(open_table([path], quiet=True), columns)


def named(path, source="who", id=None, with_sum=True):
    """The rows that a command would list: number, text, cells that name the row; and their head."""
    table, columns = opened(path, source, id)
    survey = survey_of(table, columns)
    sample = survey.sample(survey.classes())
    about = {"column": "topic", "counts": columns.counted.words}
    if with_sum:
        about["sha256"] = files.fingerprint(files.checksums([path]))
    names, cells = naming(about, sample.keys(about))
    rows = [
        [int(row) + 1, sample.texts[i], *cells(i)] for i, row in enumerate(sample.drawn.positions)
    ]
    return ["row", "text", *names], rows


def written(path, header, rows, encoding="utf-8"):
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def run(*arguments):
    return apply.main([*map(str, arguments), "--quiet"])


TEXTS = ["one text", "one  text ", "another", "", "ü, “x”", "0012", "=a", "-"]
ROW = st.tuples(st.integers(0, 3), st.sampled_from(TEXTS), st.sampled_from("xy"))
SUFFIXES = [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow"]


@given(
    rows=st.lists(ROW, min_size=4, max_size=12),
    tied=st.booleans(),
    suffix=st.sampled_from(SUFFIXES),
    source=st.sampled_from([None, "who"]),
    id=st.sampled_from([None, "item"]),
    names=st.sampled_from(["sha256", "text", "sha256 text", ""]),
    order=st.integers(0, 2),
)
def test_any_table_in_any_order(rows, tied, suffix, source, id, names, order):
    """What is checked in one order has its label in any other, or nothing is written."""
    folder = Path(tempfile.mkdtemp())
    try:
        table = [
            [f"{item}", TEXTS[item] if tied else text, who, "ab"[i % 2]]
            for i, (item, text, who) in enumerate(rows)
        ]
        path = write_table(folder / f"t{suffix}", table, HEADER)
        try:
            counted = opened(path, source, id)[1].counted
            header, listed = named(path, source, id, with_sum="sha256" in names)
        except LopsError:
            return  # one source, or one class
        index = HEADER.index(counted.column)
        checked = [row for row in listed if row[0] % 2]
        meant = {table[row - 1][index] for row, *_ in checked}
        if counted.kind != "rows":
            meant = {key for _, _, key, *_ in checked}
        if "text" not in names:
            header, checked = [header[0], *header[2:]], [[row[0], *row[2:]] for row in checked]
        file = written(
            folder / "filled.csv", [*header, "checked"], [[*row, "new"] for row in checked]
        )
        if order:
            random.Random(order).shuffle(table)
            path = write_table(folder / f"t{suffix}", table, HEADER)
        output = folder / f"out{suffix}"
        refused = None
        try:
            run(file, path, "--output", output)
        except LopsError as error:
            refused = str(error)
        if refused is not None:
            assert not output.exists()
            assert order or "the row has no" in refused
            return
        new = [row for row in read_table(output) if row["topic"] == "new"]
        if counted.kind == "rows":
            assert len(new) == len(checked)
            assert {row[counted.column] for row in new} <= meant
        else:
            keys = {key_of(counted.kind, row[counted.column]) for row in new}
            assert keys == meant
            assert sum(key_of(counted.kind, row[index]) in meant for row in table) == len(new)
    finally:
        shutil.rmtree(folder)


def test_a_text_is_corrected_in_all_its_rows(tmp_path, capsys):
    """Its labels in any order, and no other byte; a row without a label stays without one."""
    path = write_table(tmp_path / "t.csv", ROWS, HEADER)
    header, listed = named(path)
    new = {"one text": "b", "another text": "new", "=a third, “ж”": "-"}
    filled = [[*row, new[row[1]]] for row in listed]
    file = written(tmp_path / "filled.csv", [*header, "checked"], filled)
    rows = [ROWS[i] for i in (5, 2, 0, 3, 4, 1)]
    write_table(path, rows, HEADER)
    run(file, path, "--output", tmp_path / "out.csv")
    assert capsys.readouterr().out.splitlines()[:2] == [
        "Corrections of 3 texts, written to all rows of each.",
        "2 rows relabelled; 2 rows deleted; 1 row unchanged, with that label already.",
    ]
    expected = [[*ROWS[2][:3], "new"], [*ROWS[0][:3], "b"], ROWS[3], ROWS[1]]
    expected = write_table(tmp_path / "expected.csv", expected, HEADER)
    assert (tmp_path / "out.csv").read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("names", [["row", "text"], ["row"], ["row", "text", "key"]])
def test_files_that_count_nothing_are_compared_by_text(tmp_path, names):
    """Made by an earlier version for texts, they name other rows of the file."""
    path = write_table(tmp_path / "t.csv", ROWS, HEADER)
    header, listed = named(path)
    lines = [[row[header.index(name)] for name in names] for row in listed]
    file = written(tmp_path / "old.csv", [*names, "label"], [[*line, "b"] for line in lines])
    table, columns = opened(path)
    usual = ([file], table, columns, "topic", dict)
    if "text" not in names:
        with pytest.raises(
            LopsError, match=r"old.csv numbers rows, and rows of the table are join"
        ):
            read_checked(*usual)
        return
    with pytest.raises(
        LopsError, match=r"line 3: row 2 has the text 'another text.* not in the ta"
    ):
        run(file, path, "--label", "topic", "--output", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    assert {row: one.label for row, one in read_checked(*usual).items()} == {0: "b", 1: "b", 2: "b"}
    write_table(path, ROWS[::-1], HEADER)
    table, columns = opened(path)
    found = read_checked([file], table, columns, "topic", dict)
    assert sorted(found) == [0, 1, 2]
    plain, columns = opened(path, source=None)
    survey = survey_of(plain, columns, checked=read_checked([file], plain, columns, "topic", dict))
    with pytest.raises(LopsError, match="line 2: row 1 has the text 'one text' there, and not in"):
        survey.sample(survey.classes()).checked()


@pytest.mark.parametrize("source", [None, "who"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_texts_of_two_columns_and_nested_ones(tmp_path, source, suffix):
    """As --text read them: joined by a space, or by a path in JSON."""
    path = write_table(tmp_path / f"t{suffix}", ROWS, HEADER)
    table, name = with_text(open_table([path], quiet=True), ["item", "body"])
    table, columns = joined(table, Columns(name, "topic", source=source))
    assert columns.counted.column == "item + body"
    survey = survey_of(table, columns)
    sample = survey.sample(survey.classes())
    about = {"counts": columns.counted.words}
    names, cells = naming(about, sample.keys(about))
    line = [int(sample.drawn.positions[0]) + 1, sample.texts[0], *cells(0), "new"]
    file = written(tmp_path / "c.csv", ["row", "text", *names, "label"], [line])
    usual = [path, "--label", "topic", "--force", "--output", tmp_path / f"o{suffix}"]
    run(file, *usual)
    count = 1 if source is None else 2
    new = [row["topic"] for row in read_table(tmp_path / f"o{suffix}")]
    assert new == ["new"] * count + [row[3] for row in ROWS[count:]]
    write_table(path, [["1", "other", *row[2:]] for row in ROWS], HEADER)
    with pytest.raises(LopsError, match=r"line 2: .*is this the table|not in the table, which has"):
        run(file, *usual)
    nested = "".join(json.dumps({"data": {"body": row[1]}, "topic": row[3]}) + "\n" for row in ROWS)
    (tmp_path / "n.jsonl").write_text(nested, encoding="utf-8")
    line = ["1", "new", key_of("texts", "one text"), "rows with texts in data.body"]
    written(file, ["row", "label", "key", "counts"], [line])
    run(file, tmp_path / "n.jsonl", *usual[1:])
    line[2] = key_of("texts", "two")
    written(file, ["row", "label", "key", "counts"], [line])
    with pytest.raises(LopsError, match="line 2: row 1 has another text there"):
        run(file, tmp_path / "n.jsonl", *usual[1:])


@pytest.mark.parametrize("id", [None, "item"])
def test_checked_texts_are_found_again(tmp_path, id):
    path = write_table(tmp_path / "t.csv", ROWS, HEADER)
    header, listed = named(path, id=id)
    filled = [[*row, label] for row, label in zip(listed, "ab-", strict=True)]
    file = written(tmp_path / "filled.csv", [*header, "checked"], filled)
    more = ["4", "a new one", "ann", "b"]
    write_table(path, [more, *ROWS[::-1]], HEADER)
    table, columns = opened(path, id=id)
    found = read_checked([file], table, columns, "topic", dict)
    assert {row: one.label for row, one in found.items()} == {3: "a", 2: "b", 1: "-"}
    write_table(path, [more, *ROWS[:4]], HEADER)
    table, columns = opened(path, id=id)
    with pytest.raises(LopsError, match=r"line 4: row 3, .*, is no text of the table by column"):
        read_checked([file], table, columns, "topic", dict)
    plain, columns = opened(path, source=None)
    with pytest.raises(LopsError, match=r"filled.csv names .* in .*; give source, and id, as f"):
        read_checked([file], plain, columns, "topic", dict)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_a_spreadsheet_changes_texts(tmp_path, encoding):
    """Line ends, a mark before a formula, and characters that its encoding does not have."""
    path = write_table(tmp_path / "t.csv", ROWS, HEADER)
    texts = [row[1].replace("\r\n", "\n") for row in ROWS]
    texts[4] = f"'{texts[4]}"
    lines = [f'{i};"{text}";b' for i, text in enumerate(texts, 1)]
    text = "\r\n".join(["row;text;label", *lines])
    (tmp_path / "c.csv").write_bytes(text.encode(encoding, "replace"))
    run(tmp_path / "c.csv", path, "--label", "topic", "--output", tmp_path / "out.jsonl")
    assert [row["topic"] for row in read_table(tmp_path / "out.jsonl")] == ["b"] * 6


@pytest.mark.parametrize("column", ["joint_label", "weight", "lops_selected"])
def test_labels_that_nobody_has_checked(tmp_path, column):
    file = written(tmp_path / "c.csv", ["row", "label", column], [["1", "a", "0"]])
    with pytest.raises(
        LopsError, match=f"c.csv has a column '{column}', so that its labels are no"
    ):
        read_corrections(file, by_id=False, filled=True)
    written(file, ["row", "label", column, "checked"], [["1", "a", "0", "b"], ["2", "a", "0", ""]])
    (entry,) = read_corrections(file, by_id=False, filled=True).entries
    assert (entry.row, entry.label) == ("1", "b")


def test_what_a_file_counts_is_known(tmp_path):
    path = write_table(tmp_path / "t.csv", ROWS, HEADER)
    usual = [path, "--label", "topic", "--output", tmp_path / "out.csv"]
    header, line = ["row", "label", "key", "counts"], ["1", "b", key_of("texts", "one text")]
    for counts, message in (
        ("cells", "c.csv says that it counts 'cells'; wanted 'rows', 'texts in COLUMN' or"),
        ("texts in text", "c.csv names texts in text, and .*t.csv has no such column; give the"),
        ("rows with texts in body", ""),
        ("texts in body", ""),
    ):
        file = written(tmp_path / "c.csv", header, [[*line, counts]])
        if message:
            with pytest.raises(LopsError, match=message):
                run(file, *usual)
    run(file, *usual)
    written(file, header, [["1", "b", "", "texts in body"]])
    with pytest.raises(LopsError, match="line 2: the row has no text, by which the file names row"):
        run(file, *usual, "--force")
    written(file, header, [["2", "b", key_of("texts", "two"), "rows with texts in body"]])
    with pytest.raises(
        LopsError, match="line 2: row 2 has another text there, and not in the tabl"
    ):
        run(file, *usual, "--force")


def test_relabelled_rows_without_a_checksum(tmp_path):
    """As from Ray: each row is compared by its text."""
    path = write_table(tmp_path / "t.csv", ROWS, HEADER)
    header = ["body", "topic", "lops_given", "lops_row", "lops_counts", "lops_sha256"]
    line = ["one text", "b", "a", "1", "rows with texts in body", ""]
    file = written(tmp_path / "relabelled.csv", header, [line])
    usual = [file, path, "--label", "topic", "--output", tmp_path / "out.csv"]
    run(*usual)
    write_table(path, ROWS[4:], HEADER)
    with pytest.raises(LopsError, match="line 2: row 1 has the text 'one text' there, and not in"):
        run(*usual, "--force")
    header[1], line[1] = "lops_label", "new"
    line[4] = "texts in body"
    written(file, header, [line])
    write_table(path, ROWS[::-1], HEADER)
    run(*usual, "--force")
    found = [row["topic"] for row in read_table(tmp_path / "out.csv")]
    assert found == ["a", "a", "", "b", "new", "new"]
