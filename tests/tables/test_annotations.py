"""Labels of a source in a file of its own."""

import json

import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.labels.columns import Columns
from lops_adapters.tables import annotations
from lops_adapters.tables.annotations import joined

BY_FILE = Columns("text", "label", source="file")
LABELS = {"anna": ["x", "y"], "ben": ["x", "x"]}


def long(paths, labels=LABELS, columns=BY_FILE):
    for path, given in zip(paths, labels.values(), strict=True):
        path.parent.mkdir(exist_ok=True)
        rows = [{"text": f"text {i}", "label": label} for i, label in enumerate(given)]
        if path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            path.write_text("text,label\n" + "".join(f"{r['text']},{r['label']}\n" for r in rows))
    table = readers.open_table(paths)
    columns.check(table)
    return table


@pytest.mark.parametrize("names", [("anna.csv", "ben.csv"), ("anna/all.jsonl", "ben/all.jsonl")])
def test_a_file_per_source(tmp_path, names):
    table, columns = joined(long([tmp_path / name for name in names]), BY_FILE)
    assert table.columns == ("text", "anna", "ben")
    assert columns.votes == ("anna", "ben")
    assert columns.source is None
    assert [cells for _, _, cells in table.cells(("anna", "ben"))] == [("x", "x"), ("y", "x")]


def test_files_without_a_text_in_common(tmp_path):
    paths = [tmp_path / "anna.csv", tmp_path / "ben.csv"]
    long(paths)
    paths[1].write_text("text,label\nother 1,x\nother 2,y\n")
    table, _ = joined(readers.open_table(paths), BY_FILE)
    votes = [cells for _, _, cells in table.cells(("anna", "ben"))]
    assert votes == [("x", None), ("y", None), (None, "x"), (None, "y")]


def test_a_sheet_per_source(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for name, labels in LABELS.items():
        sheet = book.create_sheet(name)
        for row in [("text", "label"), *((f"text {i}", one) for i, one in enumerate(labels))]:
            sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    table, columns = joined(readers.open_table([tmp_path / "a.xlsx"], sheets=[*LABELS]), BY_FILE)
    assert columns.votes == ("a.xlsx, sheet 'anna'", "a.xlsx, sheet 'ben'")
    assert len(list(table.cells(("text",)))) == 2


def test_a_column_of_that_name_counts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label,file\na,x,one\na,y,two\n")
    _, columns = joined(readers.open_table([path]), BY_FILE)
    assert columns.votes == ("one", "two")


def test_one_file_is_of_one_source(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("text,label\na,x\na,y\n")
    with pytest.raises(LopsError, match="all rows are from the source 'anna'"):
        joined(readers.open_table([path]), BY_FILE)
    with pytest.raises(LopsError, match="source file joins the rows of each text; give text"):
        Columns(None, "label", source="file", embeddings="v").check(readers.open_table([path]))


@pytest.mark.parametrize("name", ["gold", "checked"])
def test_the_first_gold_or_checked_label_that_is_not_missing(tmp_path, name):
    """The first row of a text may have none."""
    path = tmp_path / "long.csv"
    path.write_text(f"text,label,who,{name}\none,x,anna,\none,y,ben,y\none,x,eve,x\ntwo,x,anna,x\n")
    own = {"gold": "gold"} if name == "gold" else {"checked_column": "checked"}
    table, _ = joined(readers.open_table([path]), Columns("text", "label", source="who", **own))
    assert [cells for _, _, cells in table.cells((name,))] == [("y",), ("x",)]


def test_as_many_votes_as_the_limit_are_read(tmp_path, monkeypatch):
    paths = [tmp_path / "anna.csv", tmp_path / "ben.csv"]
    long(paths)
    monkeypatch.setattr(annotations, "MOST", 4)
    assert joined(readers.open_table(paths), BY_FILE)[1].votes == ("anna", "ben")
    monkeypatch.setattr(annotations, "MOST", 3)
    with pytest.raises(LopsError, match="2 sources of 2 texts; wanted at most 3 texts times"):
        joined(readers.open_table(paths), BY_FILE)
