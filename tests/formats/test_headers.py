"""Headers as programs write them: below a title, with questions, without a name for row names."""

import json

import numpy as np
import pytest

from lops_adapters import formats
from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.labels.lookup import require

ROWS = [("1", "a", "x"), ("2", "b", "y"), ("3", "c", "x")]
NAMES = ("id", "text", "label")
IDS = [json.dumps({"ImportId": f"QID{i}"}) for i in range(3)]


def opened(path, content, **how):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return readers.open_table([path], quiet=True, raw=True, **how)


def lines(rows, delimiter=",", end="\n"):
    return "".join(f"{delimiter.join(row)}{end}" for row in rows)


def rows_of(table, names=NAMES):
    return [cells for _, _, cells in table.cells(names)]


def again(table, path):
    """Write the table as ``lops apply`` does, with the label of the second row changed."""
    with table.format.copier(path, table.start) as writer:
        for block in table.blocks():
            writer.write(block.replaced("label", {1: "new"}), np.arange(len(block)), {})
    return path.read_bytes()


@pytest.mark.parametrize(
    ("suffix", "content", "how"),
    [
        (".csv", "sep=;\n" + lines([NAMES, *ROWS], ";"), {}),
        (".csv", '"sep=;"\r\n' + lines([NAMES, *ROWS], ";", "\r\n"), {}),
        (".csv", "sep=\t\n" + lines([NAMES, *ROWS], "\t"), {}),
        (".csv", "Coding sheet, round 1\n\n" + lines([NAMES, *ROWS]), {"header_row": 3}),
        (".csv", "Coding sheet, round 1\n\n" + lines([NAMES, *ROWS]), {"header_row": 2}),
        (".csv", 'The "new; one\n' + lines([NAMES, *ROWS], ";"), {"header_row": 2}),
        (".tsv", "A\tb\n" + lines([NAMES, *ROWS], "\t"), {"header_row": 2, "quotes": False}),
        (".csv", lines([NAMES, *ROWS], end="\r"), {}),
        (".csv", lines([NAMES, *ROWS], end="\r").rstrip("\r"), {}),
        (".csv", lines([NAMES, *ROWS], ";", "\r"), {}),
        (".csv", lines([NAMES, *ROWS], end="\r").encode("utf-16"), {"encoding": "utf-16"}),
        (".txt", lines([NAMES, *ROWS], "\t"), {}),
        (".txt", lines([NAMES, *ROWS], "\t", "\r\n").encode("utf-16"), {"encoding": "utf-16"}),
        (".txt", lines([NAMES, *ROWS], "\t").encode("utf-8-sig"), {}),
    ],
)  # fmt: skip
def test_what_stands_above_the_header_is_left_out_and_written_again(tmp_path, suffix, content, how):
    table = opened(tmp_path / f"a{suffix}", content, **how)
    assert table.columns == NAMES
    assert rows_of(table) == ROWS
    content = (tmp_path / f"a{suffix}").read_bytes()
    encoding = how.get("encoding", "utf-8").replace("utf-16", "utf-16-le")
    old, new = "y".encode(encoding), "new".encode(encoding)
    head, _, tail = content.rpartition(old)
    assert again(table, tmp_path / "out") == head + new + tail


def test_line_ends_inside_cells_of_a_file_with_carriage_returns(tmp_path):
    content = b'id,text,label\r1,"a\nb",x\r2,"c\rd",y\r3,e,x\r'
    table = opened(tmp_path / "a.csv", content)
    assert rows_of(table) == [("1", "a\nb", "x"), ("2", "c\rd", "y"), ("3", "e", "x")]
    assert again(table, tmp_path / "out.csv") == content.replace(b",y", b",new")


def test_a_carriage_return_inside_a_cell_ends_no_row(tmp_path):
    table = opened(tmp_path / "a.csv", b'"id\r",text,label\n1,"a\rb",x\n2,c,y\n')
    assert [cells for _, _, cells in table.cells(("id\r", "text"))] == [("1", "a\rb"), ("2", "c")]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".xlsx", "")])
def test_rows_of_qualtrics_are_no_rows(tmp_path, suffix, delimiter):
    """Names, questions, which may have line breaks, and ids; further files may have fewer."""
    header = [NAMES, ("Id", "What\nhappened?", ""), IDS]
    path = tmp_path / f"a{suffix}"
    if suffix == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [*header, *ROWS]:
            book.active.append(row)
        book.save(path)
    else:
        quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in header]
        path.write_text(lines([*quoted, *ROWS], delimiter), encoding="utf-8")
    table = readers.open_table([path], quiet=True, raw=suffix != ".xlsx")
    assert rows_of(table) == ROWS
    assert table.notes == (
        "Below the header, the questions and import ids of Qualtrics are no rows.",
    )
    if suffix == ".xlsx":
        return
    assert again(table, tmp_path / "out").startswith(path.read_bytes().rpartition(b"2")[0])
    other = tmp_path / f"b{suffix}"
    other.write_text(lines([NAMES, *ROWS], delimiter), encoding="utf-8")
    assert rows_of(readers.open_table([path, other], quiet=True)) == ROWS + ROWS
    assert rows_of(readers.open_table([other, path], quiet=True)) == ROWS + ROWS


NAMED = [NAMES, *((str(9 - i), *row) for i, row in enumerate(ROWS))]
QUOTED = [[f'"{cell}"' for cell in row] for row in NAMED]


@pytest.mark.parametrize(
    ("suffix", "delimiter"),
    [(".tsv", "\t"), (".csv", " "), (".txt", " "), (".csv", ","), (".csv", ";")],
)
def test_names_of_rows_that_r_writes_are_a_column_without_a_name(tmp_path, suffix, delimiter):
    content = lines(QUOTED, delimiter)
    table = opened(tmp_path / f"a{suffix}", content)
    assert table.columns == ("", *NAMES)
    assert rows_of(table) == ROWS
    assert again(table, tmp_path / "out").decode() == content.replace('"y"', '"new"')


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "b", "x"), ("c", "d", "y")],  # texts with a comma
        [("1", "b", "x"), ("2", "d", "y")],
    ],
)
def test_a_surplus_cell_is_no_name_of_a_row(tmp_path, rows):
    table = opened(tmp_path / "a.csv", lines([("text", "label"), *rows]))
    with pytest.raises(LopsError, match=r"line 2: found 3 fields; wanted 2, as in the header"):
        rows_of(table, ("text",))
    table = opened(tmp_path / "a.csv", lines([("id", "text"), ("1", "a", ""), ("2", "b", "")]))
    assert rows_of(table, ("id", "text")) == [("1", "a"), ("2", "b")]  # a delimiter ends each row


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("Sheet, round 1\n\nid,text,label\n1,a,x\n", "text", "Line 3 has it: give header_row=3."),
        ("What we coded in the first round of all\nid;text;label\n", "text", "header_row=2."),
        ('When,"What happened?\n(one sentence)"\n1,a\n', "What happened?",
         r"Did you mean text $'What happened?\n(one sentence)'?"),
        ('When,"In your view, which topic fits best?"\n1,a\n', "in your  view",
         "Did you mean text 'In your view, which topic fits best?'?"),
    ],
)  # fmt: skip
def test_a_missing_column_is_found_further_down_or_longer(tmp_path, content, name, said):
    with pytest.raises(LopsError) as error:
        require(opened(tmp_path / "a.csv", content), name, "text")
    assert said in str(error.value)


@pytest.mark.parametrize("row", [0, -1])
def test_a_header_row_that_is_no_line(tmp_path, row):
    with pytest.raises(LopsError, match=r"header_row is -?\d for a csv file; wanted the line"):
        opened(tmp_path / "a.csv", lines([NAMES, *ROWS]), header_row=row)
    with pytest.raises(LopsError, match="header_row is 2 for a jsonl file"):
        opened(tmp_path / "a.jsonl", '{"a": 1}\n', header_row=2)


def test_a_header_row_below_the_table(tmp_path):
    with pytest.raises(LopsError, match=r"a.csv is empty; wanted a header"):
        opened(tmp_path / "a.csv", lines([NAMES, *ROWS]), header_row=9)


def test_a_long_cell_in_quotes_pairs_them(tmp_path):
    """Python's own limit is 131,072 characters."""
    long = "goal " * 30_000
    short = [(f'"goal {i}"', '"a"') for i in range(9)]
    content = lines([("text", "label"), *short, (f'"{long}"', '"b"')])
    table = opened(tmp_path / "a.csv", content)
    assert rows_of(table, ("label",)) == [("a",)] * 9 + [("b",)]
    assert table.notes == ()


def test_as_many_lines_as_tell_how_a_file_is_read(tmp_path):
    """A cell that is cut there changes nothing."""
    many = [(f'"{i}"', f'"a\n{i}"', "x") for i in range(formats.delimited.FIRST)]
    table = opened(tmp_path / "a.csv", lines([("text", "label"), *many]))
    assert table.columns == ("", "text", "label")
