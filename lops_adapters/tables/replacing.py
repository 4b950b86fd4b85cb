"""One column of rows with other values; the other cells stay as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.tables.readers import Block, Table, import_pyarrow
from lops_adapters.tables.writers import cell_text, json_text

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def replaced(
    table: Table, block: Block, rows: np.ndarray, column: str, values: Sequence[Any]
) -> Block:
    """Return the rows of a block with other values in a column.

    Cells of CSV and bytes of JSON objects outside the column stay as they are.

    Args:
        table: where the block comes from.
        block: rows as the table holds them; not changed.
        rows: (m,) positions in the block.
        column: a column of the table.
        values: m values of the column's type.

    """
    pairs = list(zip(rows.tolist(), values, strict=True))
    if block.values is not None:
        place = table.columns.index(column)
        cells = block.values
        return Block(
            values=[[*cells[r][:place], cell_text(v), *cells[r][place + 1 :]] for r, v in pairs]
        )
    if block.lines is not None:
        lines = block.lines
        return Block(lines=[with_value(lines[row], column, value) for row, value in pairs])
    pa, _ = import_pyarrow(table.paths[0])
    chosen = block.batch.take(pa.array(rows, type=pa.int64()))
    place = chosen.schema.get_field_index(column)
    columns = list(chosen.columns)
    columns[place] = pa.array(list(values), type=chosen.schema.field(place).type)
    return Block(batch=pa.RecordBatch.from_arrays(columns, schema=chosen.schema))


def with_value(line: str, key: str, value: Any) -> str:
    """Return a line with a JSON object, with another value of a key; a missing key is appended.

    Of a key that occurs twice, both values are replaced.

    >>> with_value('{"n": 1.50, "label":"a" , "in": {"label": 1}}', "label", "b")
    '{"n": 1.50, "label":"b" , "in": {"label": 1}}'
    """
    text, found = json_text(value), 0
    for start, end in reversed(list(_spans(line, key))):
        line, found = line[:start] + text + line[end:], found + 1
    if found:
        return line
    head = line.rstrip()[:-1].rstrip()  # without the closing brace
    return f"{head}{'' if head.endswith('{') else ', '}{json_text({key: value})[1:]}"


def _spans(line: str, key: str) -> Any:
    """Yield (start, end) of the values of a key of the object itself."""
    at = _skip(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = _DECODER.raw_decode(line, at)
        start = _skip(line, _skip(line, at) + 1)  # behind the colon
        _, at = _DECODER.raw_decode(line, start)
        if name == key:
            yield start, at
        at = _skip(line, at)
        if line[at] == ",":
            at = _skip(line, at + 1)


def _skip(line: str, at: int) -> int:
    while line[at] in _SPACE:
        at += 1
    return at
