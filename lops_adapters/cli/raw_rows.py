"""Rows of CSV, TSV and JSONL as the file's own text, with single cells replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from lops_adapters.datasets.tables import csv_records
from lops_adapters.tables.readers import Table
from lops_adapters.tables.replacing import with_value
from lops_adapters.tables.text_files import text_lines
from lops_adapters.tables.writers import cell_text


def corrected_text(
    table: Table, column: str, values: Mapping[int, Any], deleted: Set[int]
) -> Iterator[str]:
    """Yield the text of a table's files as one file, with other values and without some rows.

    The header of the first file counts; everything else stays, also quotes and line ends.

    Args:
        table: CSV, TSV or JSONL.
        column: where values are replaced.
        values: position of a row, from 0 over all files -> its new value.
        deleted: positions of rows that are left out.

    """
    position, last = 0, "\n"
    for number, path in enumerate(table.paths):
        parts = _json_rows(table, path) if table.format == "jsonl" else _csv_rows(table, path)
        for text, kind in parts:
            if kind == "row":
                position += 1
                if position - 1 in deleted:
                    continue
                made = text
                if position - 1 in values:
                    made = _replaced(table, text, column, values[position - 1])
            elif kind == "header" and number:
                continue
            else:
                made = text
            if not last.endswith(("\n", "\r")):
                yield "\n"
            yield made
            last = made or last


def _json_rows(table: Table, path: Path) -> Iterator[tuple[str, str]]:
    """Yield (text, kind): a line with an object is a row."""
    for line in text_lines(path, table.encoding, table.quiet):
        yield line, "row" if line.strip() else "blank"


def _csv_rows(table: Table, path: Path) -> Iterator[tuple[str, str]]:
    """Yield (text, kind): the text of a record, with blank lines before it."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for line in text_lines(path, table.encoding, table.quiet):
            taken.append(line)
            yield line

    kind = "header"
    for _ in csv_records(path, table.quiet, table.delimiter, lines()):
        yield "".join(taken), kind
        taken.clear()
        kind = "row"
    if taken:
        yield "".join(taken), "blank"


def _replaced(table: Table, text: str, column: str, value: Any) -> str:
    if table.format == "jsonl":
        body = text.rstrip()
        return with_value(body, column, value) + text[len(body) :]
    start, end = cell_span(text, table.delimiter, table.columns.index(column))
    new = cell_text(value)
    special = (table.delimiter, '"', "\r", "\n")
    if text[start : start + 1] == '"' or any(sign in new for sign in special):
        new = '"' + new.replace('"', '""') + '"'
    return text[:start] + new + text[end:]


def cell_span(text: str, delimiter: str, place: int) -> tuple[int, int]:
    r"""Return where a cell of a CSV record begins and ends, quotes included.

    >>> text = 'a,"b, ""c""\n",d\r\n'
    >>> [text[slice(*cell_span(text, ",", place))] for place in range(3)]
    ['a', '"b, ""c""\n"', 'd']
    """
    at = len(text) - len(text.lstrip("\r\n"))
    ends = (delimiter, "\r", "\n")
    for cell in range(place + 1):
        start = at
        if text[at : at + 1] == '"':
            at = text.index('"', at + 1) + 1
            while text[at : at + 1] == '"':  # doubled: a quote inside
                at = text.index('"', at + 1) + 1
        while at < len(text) and text[at] not in ends:
            at += 1
        if cell < place:
            at += 1
    return start, at
