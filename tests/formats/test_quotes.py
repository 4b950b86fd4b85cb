"""Quotes of CSV and TSV that are part of the texts."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import FORMATS, readers
from lops_adapters.formats.quotes import pair

TEXTS = ["one", '"two', "three", 'four"', "five", "six", "seven", "eight"]
LABELS = ["a", "b"] * 4


def written(path, delimiter="\t", texts=TEXTS):
    rows = zip(texts, LABELS, strict=True)
    lines = [f"text{delimiter}label", *(f"{text}{delimiter}{label}" for text, label in rows)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def rows_of(path, **how):
    table = readers.open_table([path], quiet=True, **how)
    return table, [cells for _, _, cells in table.cells(("text", "label"))]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".tsv", "\t"), (".csv", ",")])
def test_no_row_is_swallowed(tmp_path, suffix, delimiter):
    """A text begins with a quote, and a later one ends with one: no row is lost."""
    path = written(tmp_path / f"a{suffix}", delimiter)
    table, rows = rows_of(path)
    assert rows == list(zip(TEXTS, LABELS, strict=True))
    (note,) = table.notes
    assert note.endswith("if they do, give quotes=True.")
    assert len(rows_of(path, quotes=True)[1]) == 6
    assert rows_of(path, quotes=False)[0].notes == ()


def test_quotes_that_do_not_pair(tmp_path):
    """A quote that closes before the end of the cell, as in tweets."""
    texts = ['"So" she said', *TEXTS[1:]]
    assert [text for text, _ in rows_of(written(tmp_path / "a.tsv", texts=texts))[1]] == texts


@pytest.mark.parametrize(
    "text",
    [
        'text,label\n"one, or\ntwo, or\nthree",a\nfour,a\nfive,b\nsix,b\n',  # lines are no rows
        '"text","label"\n"one","a"\n"two\nthree","b"\n',
        'text,label\n"one, two",a\n"say ""no""",b\n',
        'text,label\none "two" three,a\nfour,b\n',
    ],
)
def test_quotes_that_hold_cells_together(text):
    assert pair(text.splitlines(keepends=True), ",", "a.csv")


@pytest.mark.parametrize("whole", [False, True])
def test_a_quote_that_the_first_bytes_do_not_close(whole):
    lines = ["text,label\n", "one,a\n", '"two,b\n', "three,b\n"]
    assert pair(lines, ",", "a.csv", whole) is not whole


def test_both_in_one_file(tmp_path):
    path = written(tmp_path / "a.csv", ",", ['"one, more"', *TEXTS[1:]])
    with pytest.raises(
        LopsError, match=r"a.csv, lines 3 to 5: a quote in .*quotes=False .*quotes=True"
    ):
        rows_of(path)
    assert len(rows_of(path, quotes=True)[1]) == 6


def test_the_same_file_is_written_without_quotes(tmp_path):
    path = written(tmp_path / "a.tsv")
    table, _ = rows_of(path)
    with FORMATS["tsv"].writer(tmp_path / "b.tsv", table.start, ["n"], {}, False) as writer:
        for block in table.blocks():
            writer.write(block, np.arange(3), {"n": [1, 2, 3]})
    assert (
        tmp_path / "b.tsv"
    ).read_text() == 'text\tlabel\tn\none\ta\t1\n"two\tb\t2\nthree\ta\t3\n'
    with FORMATS["tsv"].copier(tmp_path / "c.tsv", table.start) as writer:
        for block in readers.open_table([path], raw=True).blocks():
            writer.write(block.replaced("label", {1: "c"}), np.arange(8), {})
    assert (tmp_path / "c.tsv").read_text() == path.read_text().replace('"two\tb', '"two\tc')
    with pytest.raises(LopsError, match=r"'c.td' holds the delimiter or a line break"):
        next(readers.open_table([path], raw=True).blocks()).replaced("label", {1: "c\td"})


def test_a_quote_that_breaks_amid_the_first_bytes():
    """Only one that their last line leaves open may be closed by later bytes."""
    lines = ["text,label\n", '"one" more,a\n', "two,b\n", "three,b\n"]
    assert not pair(lines, ",", "a.csv", whole=False)


def test_long_cells_that_repeat_are_no_labels():
    """A cell of two lines, each with a comma and a template of other rows; short ones are."""
    for text, whole in (("word " * 20 + ".", True), ("sport", False)):
        rows = [f"{i},{text}\n" for i in range(6)]
        lines = ["nr,text\n", *rows, f'"7,{text}\n', f'8",{text}\n']
        assert pair(lines, ",", "a.csv") is whole
