"""JSON as programs write it: keys that some rows lack, nested values, tables in one object."""

import json

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import FORMATS, jsonl, readers
from lops_adapters.labels.lookup import require
from lops_adapters.labels.tally import Positions, Tally

from ..noisy import read_table

ANSWERS = [
    {"id": i, "out": {"n": [{"role": "x", "said": said}]}}
    for i, said in enumerate(["a", "b", "a", "b"])
]
PATH = "out.n.0.said"


def saved(path, records):
    text = "".join(json.dumps(one) + "\n" for one in records)
    path.write_text(json.dumps(records, indent=1) if path.suffix == ".json" else text)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_columns_are_all_keys(tmp_path, suffix):
    records = [{"text": "a"}, {"text": "b", "label": "x"}, {"more": 1, "text": "c"}]
    one = saved(tmp_path / f"a{suffix}", records)
    table = readers.open_table([one])
    assert table.columns == ("text", "label", "more")
    assert [cells for _, _, cells in table.cells(("label",))] == [(None,), ("x",), (None,)]
    two = saved(tmp_path / f"b{suffix}", [{"text": "d", "extra": 2}])
    table = readers.open_table([one, two])
    assert table.columns == ("text", "label", "more", "extra")
    target = tmp_path / "out.csv"
    with FORMATS["csv"].writer(target, table.start, [], {}, False) as writer:
        for block in table.blocks():
            writer.write(block, np.arange(len(block)), {})
    assert read_table(target)[3] == {"text": "d", "label": "", "more": "", "extra": "2"}
    other = saved(tmp_path / f"c{suffix}", [{"setting": 1}])
    with pytest.raises(LopsError, match=r"has other columns than .*: 'setting', not 'text'"):
        readers.open_table([one, other])


def test_keys_below_the_first_bytes_are_no_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "SCANNED", 10)
    path = saved(tmp_path / "a.jsonl", [{"text": "a long one"}, {"text": "b"}, {"label": "x"}])
    assert readers.open_table([path]).columns == ("text",)


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_a_path_names_a_nested_value(tmp_path, suffix):
    path = saved(tmp_path / f"a{suffix}", [{"id": -1, "error": "x"}, *ANSWERS])
    table = readers.open_table([path], nested=[PATH, "out.n.1.said", "id"], raw=True)
    assert table.columns == ("id", "error", "out", PATH)
    said = [cells[0] for _, _, cells in table.cells((PATH,))]
    assert said == [None, "a", "b", "a", "b"]
    (block,) = table.blocks()
    assert [row[3] for row in block.records(table.columns)] == said
    target = tmp_path / "out"
    with table.format.copier(target, table.start) as writer:
        writer.write(block.replaced(PATH, {2: "new"}), np.arange(len(block)), {})
    assert target.read_text() == path.read_text().replace('"said": "b"', '"said": "new"', 1)
    with pytest.raises(LopsError, match=r"(line|row) 1 has no value at 'out.n.0.said'"):
        block.replaced(PATH, {0: "new"})


def test_a_key_with_a_point_is_a_key(tmp_path):
    path = saved(tmp_path / "a.jsonl", [{"a.b": 1, "a": {"b": 2}}, {"a": {"b": 3}}])
    table = readers.open_table([path], nested=["a.b"])
    assert table.columns == ("a.b", "a")
    assert [cells for _, _, cells in table.cells(("a.b",))] == [(1,), (3,)]


@pytest.mark.parametrize("name", ["said", "0.Said", "label"])
def test_a_missing_column_is_found_inside(tmp_path, name):
    """It ends so, or it is the only one that differs between rows."""
    table = readers.open_table([saved(tmp_path / "a.jsonl", ANSWERS)])
    with pytest.raises(LopsError, match=r"Did you mean label 'out\.n\.0\.said'\?"):
        require(table, name, "label")


def test_an_object_as_a_label_tells_of_paths():
    with pytest.raises(LopsError, match=r"one class name per row; a path names .*: \.n\.0\.r"):
        Tally().numbers([ANSWERS[0]["out"]], Positions([0]))


RECORDS = [{"text": f"t{i}", "label": "ab"[i % 2]} for i in range(4)]
COLUMNS = {name: {str(i): one[name] for i, one in enumerate(RECORDS)} for name in RECORDS[0]}
PAIRS = [[one["text"], one["label"]] for one in RECORDS]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("value", "names", "about"),
    [
        (COLUMNS, ("text", "label"), "a table by columns"),  # pandas, orient="columns"
        ({name: [*cells.values()] for name, cells in COLUMNS.items()}, ("text", "label"),
         "a table by columns"),
        ({"columns": ["text", "label"], "index": [0, 1, 2, 3], "data": PAIRS}, ("text", "label"),
         "rows of 'data' (4)"),  # orient="split"
        ({"schema": {"fields": []}, "data": RECORDS}, ("text", "label"), "rows of 'data' (4)"),
        ({str(i): one for i, one in enumerate(RECORDS)}, ("text", "label"),
         "rows by their keys, column 'id'"),  # orient="index"
        ({f"r{i}": one for i, one in enumerate(RECORDS)}, ("text", "label"),
         "rows by their keys, column 'id'"),
        ({"train": PAIRS[:3], "test": PAIRS[3:]}, ("0", "1"),
         "rows of 'train' (3), 'test' (1), column 'split'; "
         "cells without names are columns '0', '1'"),
        ({"train": RECORDS[:1], "test": RECORDS[1:]}, ("text", "label"),
         "rows of 'train' (1), 'test' (3), column 'split'"),
    ],
)  # fmt: skip
def test_a_table_in_one_object(tmp_path, value, names, about, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value, indent=indent))
    table = readers.open_table([path])
    assert [list(cells) for _, _, cells in table.cells(names)] == PAIRS
    assert table.notes == (f"a.json is one object, read as {about}.",)


def test_columns_and_rows_that_nothing_numbers(tmp_path):
    """A table has more rows than columns."""
    by_name = {name: {f"r{i}": one[name] for i, one in enumerate(RECORDS)} for name in RECORDS[0]}
    (tmp_path / "a.json").write_text(json.dumps(by_name))
    assert readers.open_table([tmp_path / "a.json"]).columns == ("text", "label")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": "x", "version": 1}', "is one object, whose keys are 'name', 'version'; wanted"),
        ('{"a": {"0": 1}, "b": {"0": 1, "1": 2}, "c": 3}', "whose keys are 'a', 'b', 'c'"),
        ('{"a": 1', "not JSON"),
        ("{}", "is one object, whose keys are ; wanted"),
    ],
)
def test_another_object_is_no_table(tmp_path, text, said):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(LopsError, match=said):
        readers.open_table([tmp_path / "a.json"])


def test_lines_of_objects_are_no_table(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    assert readers.open_table([path]).format.name == "jsonl"
