"""Texts with labels of which some are wrong, and tables of them."""

import csv
import gzip
import json

import pytest

from lops_adapters.testing.data import noisy_texts

HEADER = ["nr", "text", "weak", "true"]


def noisy_rows(**settings):
    """Rows under :data:`HEADER`; the numbers have leading zeros, the texts commas, quotes and line
    breaks.
    """
    texts, weak, gold = noisy_texts(**settings)
    ends = (", he said", ' "quoted"', "\nnext line", "")
    return [
        [f"{i:05d}", text + ends[i % 4], *labels]
        for i, (text, *labels) in enumerate(zip(texts, weak, gold, strict=True))
    ]


def write_table(path, rows, header=HEADER):
    """Write rows in the format of the path's suffix, also packed, and return the path."""
    if path.suffix == ".gz":
        plain = write_table(path.with_suffix(""), rows, header)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    elif path.suffix == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [header, *rows]:
            book.active.append(row)
        book.save(path)
    elif path.suffix in (".parquet", ".arrow"):
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(header)})
        if path.suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            with pa.ipc.new_stream(str(path), table.schema) as writer:
                writer.write_table(table)
    elif path.suffix == ".json":
        records = [dict(zip(header, row, strict=True)) for row in rows]
        path.write_text(json.dumps(records), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text(
            "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows),
            encoding="utf-8",
        )
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerows([header, *rows])
    return path


def read_table(path):
    """Rows of a table as dicts."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(path).to_pylist()
    if path.suffix == ".arrow":
        import pyarrow as pa

        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_stream(file).read_all().to_pylist()
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
