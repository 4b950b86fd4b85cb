"""The header of a table: what stands above it, and lines below it that are no rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice, repeat
from typing import NamedTuple

from lops_adapters.formats.base import Reading
from lops_adapters.formats.quotes import long_cells, unquoted

FIRST = 200  # lines that tell how a file is read
_IMPORT_ID = '{"ImportId"'  # Qualtrics writes the question and this below the name of a column
_BELOW = 2
QUALTRICS = "Below the header, the questions and import ids of Qualtrics are no rows."
_SEPARATED = re.compile(r'"?sep=([^"\r\n])"?[\r\n]*', re.IGNORECASE)  # for Excel
SPACED = re.compile(r'"[^"]*"(?: "[^"]*")+[\r\n]*')  # by R's write.table


class Header(NamedTuple):
    """The names of columns, and the number of the last line that is no row; 0: nothing is there.

    ``notes``: sentences about what is left out.
    """

    names: list[str]
    last: int
    notes: tuple[str, ...] = ()


def header_of(
    records: Iterable[tuple[int, list[str]]], row: int = 1
) -> tuple[Header, Iterator[tuple[int, list[str]]]]:
    """Return the header of (line, cells), and the rows below it.

    ``row`` is its line, or one before it: what stands above is left out.

    >>> header, rows = header_of([(1, ["Sheet 1"]), (3, ["text", "label"]), (4, ["a", "b"])], 2)
    >>> header.names, header.last, list(rows)
    (['text', 'label'], 3, [(4, ['a', 'b'])])
    """
    records = iter(records)
    last, names = next((one for one in records if one[0] >= row), (0, []))
    below = list(islice(records, _BELOW))
    for index, (line, cells) in enumerate(below):
        if any(cells) and all(cell.startswith(_IMPORT_ID) for cell in cells if cell):
            return Header(names, line, (QUALTRICS,)), chain(below[index + 1 :], records)
    return Header(names, last), chain(below, records)


def with_row_names(names: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of columns, with an empty one before them if R wrote names of rows.

    R's ``write.table`` gives no name to them: each row has one cell more, and begins with a number
    of its own.

    >>> with_row_names(["text"], [["1", "a"], ["3", "b"]]), with_row_names(["text"], [["a", "b"]])
    (['', 'text'], ['text'])
    """
    firsts = [row[0] for row in rows]
    if not rows or any(len(row) != len(names) + 1 or not row[-1] for row in rows):
        return names  # or a delimiter ends each row
    is_numbered = all(one.isascii() and one.isdigit() for one in firsts)
    return ["", *names] if is_numbered and len(set(firsts)) == len(firsts) else names


def divided(top: Sequence[str], reading: Reading, usual: str) -> tuple[int, str]:
    """Return the line of the header, or one before it, and the delimiter.

    A delimiter that is given counts, then the one of ``sep=;``, then the only one that divides the
    header, or the usual one.
    """
    separated = _SEPARATED.fullmatch(top[0]) if top else None
    row = max(reading.header_row, 2 if separated else 1)
    if reading.delimiter or separated:
        return row, reading.delimiter or str(separated and separated[1])
    header = next((line for line in top[row - 1 :] if line.strip("\r\n")), "")
    if SPACED.fullmatch(header):
        return row, " "
    with suppress(csv.Error):
        names = next(csv.reader([header], delimiter=usual), [])
        others = (one for one in (";", "\t", ",") if len(names) == 1 and one in names[0])
        return row, next(others, usual)
    return row, usual


def without_title(lines: Iterable[str], row: int) -> Iterator[str]:
    """Yield the lines of a file with blank ones in place of those above the header."""
    return chain(repeat("\n", row - 1), islice(lines, row - 1, None))


def first_rows(
    lines: Sequence[str], above: int, reading: Reading, is_cut: bool
) -> list[tuple[int, list[str]]]:
    """Return (line, cells) of the rows in a few lines with others ``above``; quotes may not pair.

    ``is_cut``: more lines follow, so the last row may not be whole.
    """
    rows: list[tuple[int, list[str]]] = []
    if reading.quotes is False:
        texts = enumerate(lines, above + 1)
        filled = ((number, text) for number, text in texts if text.strip("\r\n"))
        rows = [(number, unquoted(text, reading.delimiter)) for number, text in filled]
    else:
        reader = csv.reader(lines, delimiter=reading.delimiter)
        with suppress(csv.Error), long_cells():
            rows.extend((above + reader.line_num, cells) for cells in reader if cells)
    return rows[:-1] if is_cut else rows
