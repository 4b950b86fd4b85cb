"""Quotes of CSV and TSV: whether they hold cells together, and where the cells of a row's text are.

A file written without quoting may hold a text that begins with a quote. Read as CSV, that quote
swallows rows until another text ends with one.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import NamedTuple

from lops_adapters.console import typed
from lops_adapters.core import LopsError

SCANNED = 2**26  # bytes that decide
_REPEATED = 2  # rows in which a value occurs elsewhere, at least
_LONGEST = 80  # characters of a value that repeats
_MOST = 1000  # different values of a column that repeats
_usual_limits: list[int] = []  # of csv, once per reader that is open


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's csv read cells of any length meanwhile; several readers may be open at a time.

    Its limit counts for the whole process.
    """
    _usual_limits.append((_usual_limits or [csv.field_size_limit(2**31 - 1)])[0])
    try:
        yield
    finally:
        usual = _usual_limits.pop()
        if not _usual_limits:
            csv.field_size_limit(usual)


class Joined(NamedTuple):
    """Lines that quotes join to one record: their numbers, and their cells without quotes."""

    first: int
    last: int
    rows: list[list[str]]


def pair(lines: Sequence[str], delimiter: str, name: str, whole: bool = True) -> bool:
    """Return whether quotes hold cells together; False: they are characters of the texts.

    They do not if a record spans several lines that are rows themselves: each has the header's
    number of fields, and in one column values that other rows have, such as labels. Nor do they if
    they do not pair, and every line has the header's number of fields.

    Raises a LopsError: lines that are rows and joined by quotes, in a file that also needs quotes.

    >>> pair(['a,b\\n', '"x,1\\n', 'y,1\\n', 'z",1\\n', 'u,1\\n', 'v,1\\n'], ",", "a.csv")
    False
    >>> pair(['a,b\\n', '"x, 1\\n', 'y",1\\n'], ",", "a.csv")
    True
    """
    body = [line for line in lines if len(line) > len("\r\n") or line.strip("\r\n")]
    if not body or '"' in body[0] or not any('"' in line for line in body):
        return True
    width = body[0].count(delimiter) + 1
    regular = width > 1 and all(line.count(delimiter) + 1 == width for line in body)
    with long_cells():
        joined, paired = _joined(lines, delimiter, width, whole)
        if not paired:
            return not regular
        values = _repeated(lines, delimiter, joined) if joined else []
    swallowed = [one for one in joined if _are_rows(one.rows, values)]
    if not swallowed:
        return True
    if regular:
        return False
    first = swallowed[0]
    raise LopsError(
        f"{name}, lines {first.first} to {first.last}: a quote in the first and one in the last "
        "make one row of lines that look like rows; write a quote inside a field twice, or give "
        f"{typed('quotes', False)} if no field is quoted, or {typed('quotes', True)} if this is "
        "one row"
    )


def _joined(
    lines: Sequence[str], delimiter: str, width: int, whole: bool
) -> tuple[list[Joined], bool]:
    """Return records of several lines that may be rows, and whether quotes pair in all lines."""
    reader, previous_line, joined = csv.reader(lines, delimiter=delimiter, strict=True), 0, []
    try:
        for record in reader:
            after = reader.line_num
            if record and after > previous_line + 1 and width > 1:
                parts = lines[previous_line:after]
                if all(line.count(delimiter) + 1 == width for line in parts):
                    rows = [unquoted(line, delimiter) for line in parts]
                    joined.append(Joined(previous_line + 1, after, rows))
            previous_line = after
    except csv.Error:
        return joined, not whole and reader.line_num == len(lines)
    return joined, True


def _repeated(lines: Sequence[str], delimiter: str, joined: Sequence[Joined]) -> list[set[str]]:
    """Return per column the values that repeat in the other lines."""
    inside = set(chain.from_iterable(range(one.first, one.last + 1) for one in joined))
    counts: list[Counter[str]] = []
    outside = (line for number, line in enumerate(lines[1:], 2) if number not in inside)
    for record in csv.reader(outside, delimiter=delimiter):
        counts += [Counter() for _ in range(len(counts), len(record))]
        for count, cell in zip(counts, record, strict=False):
            if len(cell) <= _LONGEST and len(count) <= _MOST:
                count[cell] += 1
    return [
        {cell for cell, n in count.items() if cell.strip() and n >= _REPEATED}
        if len(count) <= _MOST
        else set()
        for count in counts
    ]


def _are_rows(rows: Sequence[Sequence[str]], values: Sequence[set[str]]) -> bool:
    columns = zip(*rows, strict=True)
    return any(known.issuperset(cells) for known, cells in zip(values, columns, strict=False))


def unquoted(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line in which quotes mean nothing."""
    return line.rstrip("\r\n").split(delimiter)


def spans(record: str, delimiter: str, quotes: bool) -> list[tuple[int, int]]:
    r"""Return (start, end) of the cells in the text of a row, with their quotes.

    >>> spans('\n1,"a, b"\r\n', ",", True), spans('1,"a\n', ",", False)
    ([(1, 2), (3, 9)], [(0, 1), (2, 4)])
    """
    start, end = len(record) - len(record.lstrip("\r\n")), len(record.rstrip("\r\n"))
    cells: list[tuple[int, int]] = []
    if not quotes:
        for text in record[start:end].split(delimiter):
            cells.append((start, start + len(text)))
            start += len(text) + 1
        return cells
    while match := _cell(delimiter).match(record, start):
        cells.append(match.span())
        if record[match.end() : match.end() + 1] != delimiter:
            break
        start = match.end() + 1
    return cells


@cache
def _cell(delimiter: str) -> re.Pattern[str]:
    return re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(delimiter)}\r\n]*')
