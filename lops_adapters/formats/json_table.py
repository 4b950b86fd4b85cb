"""A table in one JSON object: by columns, by rows or by splits; only read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block, Format, Names, Reading, Start, in_blocks
from lops_adapters.formats.json_array import whole_text
from lops_adapters.formats.paths import columns_of, value_at
from lops_adapters.formats.records import RecordBlock

SPLIT, ID = "split", "id"


class Rows(NamedTuple):
    """Objects, and how they were found, in words."""

    objects: list[dict[str, Any]]
    about: str


class JsonTable(Format):
    """One object, as pandas' ``to_json`` and some data sets have it."""

    name = "json-table"
    suffixes = ()
    unit = "row"
    native = "jsonl"

    def start(self, path: Path, reading: Reading) -> Start:
        rows = _read(path, reading)
        columns = columns_of(rows.objects, reading.nested)
        note = f"{path.name} is one object, read as {rows.about}."
        return Start(self.name, columns, reading, notes=(note,))

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        for part in in_blocks(enumerate(_read(path, start.reading).objects, 1)):
            cells = [[value_at(one, name) for name in start.columns] for _, one in part]
            yield RecordBlock(path, [number for number, _ in part], start.columns, cells)


def _read(path: Path, reading: Reading) -> Rows:
    text, _ = whole_text(path, reading)
    expected = "wanted an array of objects, an object per line, or a table in one object"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LopsError(f"{path}: not JSON ({error}); {expected}") from None
    rows = rows_of(value)
    if rows is None:
        keys = ", ".join(map(repr, [*value][:10])) if isinstance(value, dict) else "none"
        raise LopsError(f"{path} is one object, whose keys are {keys}; {expected}")
    return rows


def rows_of(value: Any) -> Rows | None:
    """Return the rows of a table in one object; None: it is no table.

    >>> rows_of({"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}}).objects
    [{'text': 'a', 'label': 'x'}, {'text': 'b', 'label': 'y'}]
    >>> rows_of({"train": [["a", "x"]], "test": [["b", "y"]]}).objects
    [{'split': 'train', '0': 'a', '1': 'x'}, {'split': 'test', '0': 'b', '1': 'y'}]
    >>> rows_of({"r1": {"text": "a"}, "r2": {"text": "b", "label": "x"}}).objects
    [{'id': 'r1', 'text': 'a'}, {'id': 'r2', 'text': 'b', 'label': 'x'}]
    """
    if not isinstance(value, dict) or not value:
        return None
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list):  # pandas' orient="split"
        return _of_splits({"data": data}, list(map(str, names)))
    splits = {key: rows for key, rows in value.items() if _are(rows, dict) or _are(rows, list)}
    if splits:
        return _of_splits(splits, None)
    if all(isinstance(one, dict) for one in value.values()):
        return _of_objects(value)
    if all(isinstance(one, list) for one in value.values()):
        return _of_columns({key: dict(enumerate(one)) for key, one in value.items()})
    return None


def _are(rows: Any, kind: type) -> bool:
    return isinstance(rows, list) and bool(rows) and all(isinstance(one, kind) for one in rows)


def _of_splits(splits: dict[str, list[Any]], names: Sequence[str] | None) -> Rows:
    """Return the rows of lists of objects, or of lists of cells, whose columns may have names."""
    rows: list[dict[str, Any]] = []
    for key, split in splits.items():
        first = {SPLIT: key} if len(splits) > 1 else {}
        for one in split:
            cells = one
            if not isinstance(one, dict):
                columns = names or list(map(str, range(len(one))))
                cells = dict(zip(columns, one, strict=False))
            rows.append({**first, **cells})
    sizes = ", ".join(f"{key!r} ({len(split):,})" for key, split in splits.items())
    by_number = any(not _are(split, dict) for split in splits.values()) and names is None
    about = f"rows of {sizes}" + (f", column {SPLIT!r}" if len(splits) > 1 else "")
    return Rows(rows, about + ("; cells without names are columns '0', '1'" if by_number else ""))


def _of_objects(value: dict[str, dict[str, Any]]) -> Rows | None:
    """Return the rows of an object of objects: the inner ones are columns, or rows.

    pandas numbers rows; else a table has more rows than columns.
    """
    inner = [frozenset(one) for one in value.values()]
    is_even = len(set(inner)) == 1
    is_numbered = all(map(str.isdigit, inner[0]))
    is_wide = len(value) < len(inner[0]) and not all(map(str.isdigit, value))
    if is_even and (is_numbered or is_wide):
        return _of_columns(value)
    rows = [{ID: key, **cells} for key, cells in value.items()]
    return Rows(rows, f"rows by their keys, column {ID!r}")


def _of_columns(columns: dict[str, dict[Any, Any]]) -> Rows | None:
    if len({len(cells) for cells in columns.values()}) > 1:
        return None
    first = next(iter(columns.values()))
    rows = [{name: cells.get(key) for name, cells in columns.items()} for key in first]
    return Rows(rows, "a table by columns")
