"""Tables as a stream: blocks, and what cannot be converted into another format."""

import json

import numpy as np
import pytest

from lops_adapters import formats
from lops_adapters.core import LopsError
from lops_adapters.formats import readers

from ..noisy import read_table, write_table

HEADER = ["n", "text"]


def written(table, path, kind, rows=None, like=None):
    """Write the even rows of each block, with one new column."""
    with formats.FORMATS[kind].writer(
        path, table.start, ["lops_suggested"], like or {}, False
    ) as writer:
        for block in table.blocks():
            places = np.arange(0, len(block), 2) if rows is None else np.array(rows)
            writer.write(block, places, {"lops_suggested": [f"s{place}" for place in places]})
    return read_table(path)


@pytest.mark.parametrize(
    ("suffix", "delimiter"), [(".csv", ";"), (".csv", "\t"), (".tsv", ","), (".csv", ",")]
)
def test_the_delimiter_is_the_one_that_divides_the_header(tmp_path, suffix, delimiter):
    """As spreadsheets of some countries save a table; a given one counts."""
    path = tmp_path / f"table{suffix}"
    path.write_text(f"n{delimiter}text\n1{delimiter}a\n", encoding="utf-8")
    table = readers.open_table([path], quiet=True)
    assert table.columns == ("n", "text")
    written(table, tmp_path / "out.csv", suffix[1:], rows=[0])
    assert (tmp_path / "out.csv").read_text().startswith(f"n{delimiter}text{delimiter}lops_")
    assert len(readers.open_table([path], delimiter="|", quiet=True).columns) == 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_rows_come_in_blocks(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(formats.base, "BLOCK_ROWS", 7)
    paths = [
        write_table(
            tmp_path / f"{part}{suffix}",
            [[str(part * 20 + i), f"text {i}"] for i in range(20)],
            HEADER,
        )
        for part in (0, 1)
    ]
    table = readers.open_table(paths, quiet=True)
    assert [len(block) for block in table.blocks()] == [7, 7, 6, 7, 7, 6]
    cells = list(table.cells(["text", "n"]))
    first = 1 if suffix in (".jsonl", ".parquet") else 2  # a header is a line, too
    assert [(path, number) for path, number, _ in cells] == [
        (path, first + i) for path in paths for i in range(20)
    ]
    assert [values for _, _, values in cells] == [(f"text {i % 20}", str(i)) for i in range(40)]
    found = written(table, tmp_path / f"out{suffix}", suffix[1:])
    evens = [
        start + i
        for start, size in ((0, 7), (7, 7), (14, 6), (20, 7), (27, 7), (34, 6))
        for i in range(0, size, 2)
    ]
    assert [int(row["n"]) for row in found] == evens
    assert [row["lops_suggested"] for row in found][:4] == ["s0", "s2", "s4", "s6"]


@pytest.mark.parametrize("kind", formats.WRITTEN)
def test_no_row_is_a_file_too(tmp_path, kind):
    table = readers.open_table([write_table(tmp_path / f"a.{kind}", [["1", "x"]], HEADER)])
    assert written(table, tmp_path / f"out.{kind}", kind, rows=np.zeros(0, dtype=int)) == []
    if kind == "parquet":
        from pyarrow import parquet

        assert parquet.read_schema(tmp_path / "out.parquet").names == [*HEADER, "lops_suggested"]


def test_dictionaries_of_parquet(tmp_path):
    """What pandas writes of a categorical column."""
    import pyarrow as pa
    from pyarrow import parquet

    column = pa.array(["a", "b", "a"]).dictionary_encode()
    parquet.write_table(pa.table({"text": ["x", "y", "z"], "weak": column}), tmp_path / "a.parquet")
    table = readers.open_table([tmp_path / "a.parquet"])
    assert [cells for _, _, cells in table.cells(["weak"])] == [("a",), ("b",), ("a",)]
    found = written(table, tmp_path / "out.parquet", "parquet", like={"lops_suggested": "weak"})
    assert [(row["weak"], row["lops_suggested"]) for row in found] == [("a", "s0"), ("a", "s2")]
    schema = parquet.read_schema(tmp_path / "out.parquet")
    assert pa.types.is_dictionary(schema.field("weak").type)
    assert schema.field("lops_suggested").type == pa.string()


def test_objects_that_fit_no_other_format(tmp_path, monkeypatch):
    monkeypatch.setattr(formats.base, "BLOCK_ROWS", 1)
    records = [
        {"text": "a", "n": 1, "more": [1, {"x": None}]},
        {"text": "b", "n": "two"},
        {"text": "c", "extra": 1},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records[:2]))
    table = readers.open_table([path])
    found = written(table, tmp_path / "out.csv", "csv")
    assert found[0] == {"text": "a", "n": "1", "more": '[1, {"x": null}]', "lops_suggested": "s0"}
    assert found[1]["more"] == ""
    with pytest.raises(
        LopsError, match=r"a column has values of several types .*; give format='jsonl'"
    ):
        written(table, tmp_path / "out.parquet", "parquet")
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(
        LopsError, match=r"a row has a key 'extra' that no row in the first 64 MiB has.*jsonl"
    ):
        written(table, tmp_path / "again.csv", "csv")  # of the columns as they were
    assert [row.get("extra") for row in written(table, tmp_path / "out.jsonl", "jsonl")] == [
        None,
        None,
        1,
    ]


def test_types_that_differ_between_files(tmp_path):
    write_table(tmp_path / "a.parquet", [["x", 1]], ["text", "n"])
    write_table(tmp_path / "b.parquet", [["x", "1"]], ["text", "n"])
    with pytest.raises(LopsError, match=r"b.parquet has other types of columns than .*a.parquet"):
        readers.open_table([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    write_table(tmp_path / "a.jsonl", [["1", "x"]], ["n", "text"])
    write_table(tmp_path / "b.jsonl", [["x", "1"]], ["text", "n"])
    table = readers.open_table([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert table.columns == ("n", "text")  # keys have no order


def test_an_empty_object(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{ }\n')
    found = written(
        readers.open_table([tmp_path / "a.jsonl"]), tmp_path / "out.jsonl", "jsonl", rows=[0, 1]
    )
    assert found == [{"text": "a", "lops_suggested": "s0"}, {"lops_suggested": "s1"}]


def test_dates_that_python_does_not_have(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    columns = {
        "day": pa.array([4_000_000, 1], type=pa.int32()).cast(pa.date32()),
        "time": pa.array([0, 1], type=pa.timestamp("us", tz="Nowhere/Land")),
    }
    parquet.write_table(pa.table({"text": ["a", "b"], **columns}), tmp_path / "a.parquet")
    table = readers.open_table([tmp_path / "a.parquet"])
    assert [cells[0] for _, _, cells in table.cells(["day"])] == ["12921-08-18", "1970-01-02"]
    assert [cells for _, _, cells in table.cells(["text"])] == [("a",), ("b",)]
    with pytest.raises(LopsError, match=r"column 'time' holds .* values that Python cannot hold"):
        list(table.cells(["time"]))
    with pytest.raises(LopsError, match="column 'time' holds"):
        readers.rehearse(table, "csv", [])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_parquet_without_a_row_in_the_first_blocks(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(formats.base, "BLOCK_ROWS", 2)
    path = write_table(tmp_path / f"a{suffix}", [[str(i), "x"] for i in range(6)], HEADER)
    table, target = readers.open_table([path]), tmp_path / "out.parquet"
    with formats.FORMATS["parquet"].writer(target, table.start, [], {}, False) as writer:
        for number, block in enumerate(table.blocks()):
            rows = np.arange(1 if number == 2 else 0)
            writer.write(block.replaced("text", dict.fromkeys(rows.tolist(), "new")), rows, {})
    assert read_table(target) == [{"n": "4", "text": "new"}]


def test_what_was_read_of_parquet_is_not_kept(tmp_path):
    """20 row groups of two megabytes each."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = np.random.default_rng(0).bytes(20 * 2**20).hex()
    rows = [texts[start : start + 2000] for start in range(0, len(texts), 2000)]
    table = pa.table(
        {"text": rows, "weak": ["a", "b"] * (len(rows) // 2) + ["a"] * (len(rows) % 2)}
    )
    parquet.write_table(table, tmp_path / "large.parquet", row_group_size=len(rows) // 20)
    del table
    before, most = pa.total_allocated_bytes(), 0
    for _ in readers.open_table([tmp_path / "large.parquet"]).blocks():
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 25 * 2**20
