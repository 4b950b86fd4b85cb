"""Any text comes back from a written CSV or TSV, by every reader."""

import csv

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lops_adapters import storage
from lops_adapters.formats.delimited import TextBlock, TextRows
from lops_adapters.formats.readers import open_table

SPECIAL = st.sampled_from(list("\r\n\t,;|\"' =+-@\\\x00\x0b\x0c\x1c\x85\u2028\ufeff"))
CELLS = st.text(st.one_of(SPECIAL, st.characters(codec="utf-8")), max_size=12)
TABLES = st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5)
HEADER = ["text", "label"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("csv")


def by_csv(path, delimiter):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def by_pandas(path, delimiter):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False, na_filter=False)
    return [list(frame.columns), *frame.to_numpy().tolist()]


def by_lops(path, delimiter):
    table = open_table([path], delimiter=delimiter)
    return [list(table.columns), *(list(cells) for _, _, cells in table.cells(table.columns))]


READERS = (by_csv, by_pandas, by_lops)


@given(rows=TABLES, delimiter=st.sampled_from(",\t;"))
@example(rows=[["a\rb", "=1+1\r=2"]], delimiter=",")
@example(rows=[["\r=cmd()", "\r"]], delimiter="\t")
def test_every_cell_comes_back(folder, rows, delimiter):
    source, path = folder / "given.csv", folder / "written.csv"
    storage.write_csv(source, HEADER, rows)
    for read in READERS:
        assert read(source, ",") == [HEADER, *rows]
    table = open_table([source])
    with TextRows(path, table.start, ["n"], delimiter, escape=False) as writer:
        block = TextBlock(source, range(len(rows)), HEADER, rows)
        writer.write(block, np.arange(len(rows)), {"n": range(len(rows))})
    expected = [[*HEADER, "n"], *([*row, str(number)] for number, row in enumerate(rows))]
    for read in READERS:
        assert read(path, delimiter) == expected
