"""Files with one document per row: CSV, TSV, JSONL, Parquet, pickled frames, AG News.

The CSV of AG News has no header.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.corpus import is_missing
from lops_adapters.datasets.rows import Columns, Rows, name_of
from lops_adapters.datasets.safe_pickle import read_frame
from lops_adapters.tables.formats.delimited import csv_records
from lops_adapters.tables.formats.lines import raw_lines

DELIMITERS = {".csv": ",", ".tsv": "\t"}
_AGNEWS_HEADER = ["class index", "title", "description"]


def read_delimited(path: Path, columns: Columns) -> Rows:
    """Read a CSV or TSV file with a header, or the AG News CSV, which has none.

    Raises:
        LopsError: an empty file, no text column, or a row whose number of fields differs from the
            header's.

    """
    records = csv_records(path, columns.quiet, DELIMITERS[path.suffix.lower()])
    _, header = next(records, (0, []))
    if not header:
        raise LopsError(f"{path}: the file is empty; wanted a header with column names")
    if columns.text is None and _is_agnews_start(header):
        columns.refuse(f"{path} (AG News)")
        return _agnews_rows(path, chain([(1, header)], records) if header[0].isdigit() else records)
    return _named_rows(path, header, records, columns)


def is_agnews(path: Path) -> bool:
    """Return whether a file starts as the AG News CSV: a class from 1 to 4, title, description."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    try:
        _, first = next(csv_records(path, quiet=True), (0, []))
    except LopsError:
        return False
    return _is_agnews_start(first)


def read_jsonl(path: Path, columns: Columns) -> Rows:
    """Read a file with one JSON object per line.

    Raises:
        LopsError: a line is not a JSON object, lacks a column of the first line, or its text is not
            a string.

    """
    return _from_records(path, _json_objects(path, columns.quiet), columns)


def read_parquet(path: Path, columns: Columns) -> Rows:
    """Read a Parquet file with pyarrow, batch by batch.

    Raises:
        LopsError: pyarrow is not installed, the file is no Parquet file, or a column is missing or
            of the wrong type.

    """
    pyarrow = extras.load("pyarrow", f"{path}: reading Parquet")
    parquet = extras.load("pyarrow.parquet", f"{path}: reading Parquet")
    try:
        with parquet.ParquetFile(path) as file:
            chosen = columns.choose(file.schema_arrow.names, str(path))
            wanted = [name for name in (chosen.text, chosen.label, chosen.id) if name is not None]
            batches = (batch.to_pydict() for batch in file.iter_batches(columns=wanted))
            cells = chain.from_iterable(_cells(batch, chosen) for batch in batches)
            return _gather(path, enumerate(cells, 1), chosen, "row")
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise LopsError(f"{path}: cannot be read as Parquet ({error})") from None


def read_pickle(path: Path, columns: Columns) -> Rows:
    """Read a pickled pandas DataFrame without pandas and without running it.

    See ``safe_pickle``.
    """
    frame = read_frame(path)
    chosen = columns.choose(list(frame), str(path))
    return _gather(path, enumerate(_cells(frame, chosen)), chosen, "row")


def _is_agnews_start(record: Sequence[str]) -> bool:
    classed = len(record) == 3 and record[0] in published.AGNEWS_CLASSES
    return classed or [field.lower() for field in record] == _AGNEWS_HEADER


def _agnews_rows(path: Path, records: Iterable[tuple[int, list[str]]]) -> Rows:
    texts, labels = [], []
    for line, record in records:
        if len(record) != 3 or record[0] not in published.AGNEWS_CLASSES:
            raise LopsError(
                f"{path}, line {line}: found {record!r:.200}; "
                "wanted a class from 1 to 4, title, description"
            )
        texts.append(f"{record[1]} {record[2]}")
        labels.append(published.AGNEWS_CLASSES[record[0]])
    seeds = published.SEEDS["agnews"]
    return Rows(texts, labels=labels, classes=sorted(seeds), seeds=seeds)


def _named_rows(
    path: Path, header: list[str], records: Iterator[tuple[int, list[str]]], columns: Columns
) -> Rows:
    chosen = columns.choose(header, str(path))
    places = [header.index(name) if name is not None else None for name in _roles(chosen)]

    def cells() -> Iterator[tuple[int, tuple[object, ...]]]:
        for line, record in records:
            if len(record) != len(header):
                raise LopsError(
                    f"{path}, line {line}: {len(record)} fields, but the header names "
                    f"{len(header)}; quote fields that contain the delimiter"
                )
            yield line, tuple(record[place] if place is not None else None for place in places)

    return _gather(path, cells(), chosen, "line")


def _json_objects(path: Path, quiet: bool) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(raw_lines(path, quiet), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError: also of thousands of digits
            raise LopsError(
                f"{path}, line {number}: not JSON ({error}); wanted one JSON object per line"
            ) from None
        if not isinstance(record, dict):
            raise LopsError(
                f"{path}, line {number}: found {line.strip()!r:.80}; "
                "wanted one JSON object per line"
            )
        yield number, record


def _from_records(
    path: Path, records: Iterator[tuple[int, dict[str, object]]], columns: Columns
) -> Rows:
    first = next(records, None)
    if first is None:
        raise LopsError(f"{path}: the file is empty; wanted one JSON object per line")
    chosen = columns.choose(list(first[1]), str(path))
    unlabelled = chosen.label is None

    def cells() -> Iterator[tuple[int, tuple[object, ...]]]:
        for line, record in chain([first], records):
            if unlabelled and record.get("label") is not None:
                raise LopsError(
                    f"{path}, line {line}: a label here but none in line {first[0]}; "
                    "label all lines or none"
                )
            found = (record.get(name) if name is not None else None for name in _roles(chosen))
            yield line, tuple(found)

    return _gather(path, cells(), chosen, "line")


def _roles(chosen: Columns) -> tuple[str | None, str | None, str | None]:
    return chosen.text, chosen.label, chosen.id


def _cells(
    columns: Mapping[str, Sequence[object]], chosen: Columns
) -> Iterator[tuple[object, ...]]:
    """Yield (text, label, id) of every row of a table held in columns; None: no such column."""
    nothing = [None] * len(columns[str(chosen.text)])
    return zip(*(columns[name] if name else nothing for name in _roles(chosen)), strict=True)


def _gather(
    path: Path, cells: Iterable[tuple[int, tuple[object, ...]]], chosen: Columns, unit: str
) -> Rows:
    """Collect (text, label, id) cells into lists.

    Each is checked while its place in the file is known.
    """
    texts: list[str] = []
    labels: list[str] = []
    ids: list[str] = []
    for number, (text, label, key) in cells:
        if not isinstance(text, str):
            found = "no text" if is_missing(text) else f"the text is {text!r:.80}"
            raise LopsError(
                f"{path}, {unit} {number}: {found} in column {chosen.text!r}; wanted a string in "
                "every row. Drop the row, or write an empty string for an empty document"
            )
        texts.append(text)
        if chosen.label is not None:
            where = f"{path}, {unit} {number}, column {chosen.label!r}"
            # Interned: a million rows share the names of a few classes.
            labels.append(sys.intern(name_of(label, where)))
        if chosen.id is not None:
            ids.append(name_of(key, f"{path}, {unit} {number}, column {chosen.id!r}"))
    return Rows(
        texts,
        ids=ids if chosen.id is not None else None,
        labels=labels if chosen.label is not None else None,
    )
