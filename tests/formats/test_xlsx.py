"""Spreadsheets as people keep them: merged cells, several sheets, errors of formulas, titles."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.labels.lookup import require

openpyxl = pytest.importorskip("openpyxl")
HEADER = ("id", "text", "label")


def saved(path, merged=(), **sheets):
    """Write sheets with merged ranges in each."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for one in merged:
            sheet.merge_cells(one)
    book.save(path)
    return path


def rows_of(path, **how):
    table = readers.open_table([path], quiet=True, **how)
    return [list(cells) for _, _, cells in table.cells(table.columns)]


def test_a_merged_cell_holds_for_all_its_rows(tmp_path):
    rows = [("id", "text", "who", "label"), (1, "a", "ann", "x"), (None, None, "ben", "y"),
            (2, "b", "ann", "y"), (None, "c", "ben", None), (3, "d", "ann", "x")]  # fmt: skip
    path = saved(tmp_path / "a.xlsx", ["A2:A3", "B2:B3", "A4:A5", "D4:D5"], One=rows)
    assert rows_of(path) == [
        ["1", "a", "ann", "x"],
        ["1", "a", "ben", "y"],
        ["2", "b", "ann", "y"],
        ["2", "c", "ben", "y"],
        ["3", "d", "ann", "x"],
    ]


def test_a_heading_over_several_columns_is_one_cell(tmp_path):
    """Nor is an empty row within a merged cell a row."""
    rows = [HEADER, ("Part 1", None, None), (1, "a", "x"), (), (2, "b", "y")]
    path = saved(tmp_path / "a.xlsx", ["A2:C2", "B3:B4"], One=rows)
    assert rows_of(path) == [["Part 1", "", ""], ["1", "a", "x"], ["2", "b", "y"]]


def test_a_header_of_two_rows(tmp_path):
    rows = [("id", "text", "labels", None), (None, None, "ann", "ben"), (1, "a", "x", "y")]
    path = saved(tmp_path / "a.xlsx", ["A1:A2", "B1:B2", "C1:D1"], One=rows)
    table = readers.open_table([path], header_row=2)
    assert table.columns == ("id", "text", "ann", "ben")
    assert rows_of(path, header_row=2) == [["1", "a", "x", "y"]]


def test_several_sheets(tmp_path):
    one, two = [HEADER, (1, "a", "x")], [HEADER, (2, "b", "y"), (3, "c", None)]
    path = saved(tmp_path / "a.xlsx", One=one, Two=two, Empty=[], Other=[("a", "b")])
    table = readers.open_table([path])
    assert table.notes == (
        "a.xlsx: sheet 'One' of 4; not read: 'Two', 'Other'. Give sheet, once per sheet, to read "
        "others.",
    )
    assert rows_of(path) == [["1", "a", "x"]]
    table = readers.open_table([path], sheets=["One", "Two"])
    assert table.notes == ()
    places = [(str(where.name), number) for where, number, _ in table.cells(HEADER)]
    assert places == [
        ("a.xlsx, sheet 'One'", 2),
        ("a.xlsx, sheet 'Two'", 2),
        ("a.xlsx, sheet 'Two'", 3),
    ]
    assert rows_of(path, sheets=["Two", "One", "Two"]) == [
        ["2", "b", "y"],
        ["3", "c", ""],
        ["1", "a", "x"],
    ]
    with pytest.raises(LopsError, match=r"a.xlsx, sheet 'Other' has other columns than 'One': 'a'"):
        readers.open_table([path], sheets=["One", "Other"])
    with pytest.raises(LopsError, match=r"has no sheet 'None'; its sheets are 'One', 'Two',"):
        readers.open_table([path], sheets=["One", "None"])


def test_a_column_of_another_sheet(tmp_path):
    path = saved(tmp_path / "a.xlsx", Read_me=[("by hand",)], Data=[HEADER, (1, "a", "x")])
    with pytest.raises(LopsError, match=r"no column 'text'.* not read: 'Data'\. Give sheet"):
        require(readers.open_table([path]), "text", "text")


def test_one_sheet_needs_no_sentence(tmp_path):
    path = saved(tmp_path / "a.xlsx", One=[HEADER, (1, "a", "x")], Two=[], Three=[(None, None)])
    assert readers.open_table([path]).notes == ()


def test_a_title_above_the_header(tmp_path):
    rows = [("Coding sheet, round 1",), (), HEADER, (1, "a", "x"), (2, "b", "y")]
    path = saved(tmp_path / "a.xlsx", ["A1:C1"], One=rows)
    with pytest.raises(LopsError, match=r"no column 'text'.*Line 3 has it: give header_row=3\."):
        require(readers.open_table([path]), "text", "text")
    assert rows_of(path, header_row=3) == [["1", "a", "x"], ["2", "b", "y"]]
    with pytest.raises(LopsError, match=r"row 3: found 3 cells; wanted 1, as in the header"):
        rows_of(path)


def test_errors_of_formulas_are_no_label(tmp_path):
    errors = ["#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!"]
    path = saved(
        tmp_path / "a.xlsx", One=[HEADER, *((i, "a", one) for i, one in enumerate(errors))]
    )
    (block,) = readers.open_table([path]).blocks()
    assert list(block.missing("label").values()) == errors
    (block,) = readers.open_table([path], keep_na=True).blocks()
    assert block.missing("label") == {}
