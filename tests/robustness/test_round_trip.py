"""Any table: its rows come back, the same from every format, and corrections change nothing else.

Other libraries write the input and read the output.
"""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lops_adapters.cli import apply, select

from ..noisy import read_table

pytestmark = [
    pytest.mark.usefixtures("here"),
    pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning"),
]
HEADER = ["nr", "text", "label", "more"]
CELLS = st.text(st.sampled_from(list("ab é\"',;\t\n=-")), max_size=8)
ROWS = st.lists(
    st.tuples(CELLS, st.sampled_from(["x", "y", "", 'z "1"']), CELLS), min_size=4, max_size=10
)
KEPT = ("kept", "rejected", "abstained")


def full(rows):
    """Rows with numbers, and with enough labels for a selection."""
    fixed = [(f"word{i % 2} and {i}", "xy"[i % 2], "") for i in range(8)]
    return [[f"r{i}", *row] for i, row in enumerate([*fixed, *rows])]


def write_csv(path, rows, style):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(
            file,
            delimiter="\t" if path.suffix == ".tsv" else ",",
            quoting=csv.QUOTE_ALL if style % 2 else csv.QUOTE_MINIMAL,
            lineterminator="\n" if style < 2 else "\r\n",
        )
        writer.writerows([HEADER, *rows])


def write_json(path, rows, style):
    records = [dict(zip(HEADER, row, strict=True)) for row in rows]
    lines = [json.dumps(record, ensure_ascii=bool(style % 2)) for record in records]
    text = "\n".join(lines) if path.suffix == ".jsonl" else f"[{', '.join(lines)}]"
    path.write_text(text + "\n" * (style // 2), encoding="utf-8", newline="")


def write_parquet(path, rows, style):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(HEADER)})
    size = 3 if style % 2 else None
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=size)
        return
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=size)


def write_xlsx(path, rows, style):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for number, row in enumerate([HEADER, *rows], 1):
        for column, cell in enumerate(row, 1):
            book.active.cell(number, column).value = cell or None
            book.active.cell(number, column).data_type = "s" if cell else "n"
    book.save(path)


def read(path):
    """The rows of a part, by another library than the one of this package."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(path).to_pylist()
    if path.suffix == ".arrow":
        return read_table(path)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    pandas = pytest.importorskip("pandas")
    delimiter = "\t" if path.suffix == ".tsv" else ","
    frame = pandas.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False, na_filter=False)
    return frame.to_dict("records")


WRITERS = {
    ".csv": write_csv,
    ".tsv": write_csv,
    ".jsonl": write_json,
    ".json": write_json,
    ".parquet": write_parquet,
    ".arrow": write_parquet,
    ".xlsx": write_xlsx,
}
OPTIONS = ["--text", "text", "--label", "label", "--method", "learning-order", "--keep", "0.5"]


@settings(
    max_examples=5,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROWS, style=st.integers(0, 3))
def test_rows_come_back_from_every_format(rows, style):
    rows, kept = full(rows), {}
    for suffix, write in WRITERS.items():
        path = Path(f"t{suffix}")
        write(path, rows, style)
        select.main([str(path), *OPTIONS, "--quiet", "--force", "--output", "out"])
        out = ".csv" if suffix == ".xlsx" else suffix
        parts = {part: Path("out", f"{part}{out}") for part in KEPT}
        found = {part: read(place) for part, place in parts.items() if place.exists()}
        cells = [[row[name] for name in HEADER] for part in found.values() for row in part]
        assert sorted(cells) == sorted(rows), suffix
        kept[suffix] = [row["nr"] for row in found["kept"]]
        assert kept[suffix] == kept[".csv"], suffix


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, style=st.integers(0, 3), place=st.integers(0, 20))
def test_corrections_change_one_cell(rows, style, place):
    """No correction: the same bytes. One: the same cells in the other rows."""
    rows = full(rows)
    place %= len(rows)
    for suffix in (".csv", ".tsv", ".jsonl", ".json"):
        path, out = Path(f"t{suffix}"), Path(f"out{suffix}")
        WRITERS[suffix](path, rows, style)
        Path("c.csv").write_text("row,label\n")
        apply.main(["c.csv", str(path), "--output", str(out), "--force"])
        assert out.read_bytes() == path.read_bytes(), suffix
        Path("c.csv").write_text(f"row,label\n{place + 1},new\n")
        apply.main(["c.csv", str(path), "--output", str(out), "--force"])
        expected = [[*row[:2], "new", row[3]] if i == place else row for i, row in enumerate(rows)]
        assert [[row[name] for name in HEADER] for row in read(out)] == expected, suffix
