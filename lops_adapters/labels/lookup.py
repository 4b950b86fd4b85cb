"""Columns by name: one that is missing is named with the likeliest, and with what reads it."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.jsonl import Jsonl
from lops_adapters.formats.paths import leaves
from lops_adapters.formats.readers import TABULAR, Table

_LAST_TITLE = 11  # line below which no header is looked for
_SENTENCE = 6  # words of a name, from which on it looks like a text


def require(table: Table, name: str, option: str, taken: Collection[str] = ()) -> None:
    """Raise a LopsError with the existing columns, and the likeliest, if a column is missing.

    ``option`` names the column, such as ``text``; columns with another purpose, which are
    ``taken``, are not suggested.
    """
    times = table.columns.count(name)
    if times > 1:
        raise LopsError(
            f"{table.paths[0]}: {times} columns are named {name!r}; rename all but one, since "
            f"{typed(option)} names it"
        )
    if times:
        return
    others = [column for column in table.columns if column not in taken]
    known = listed(f"{column!r:.40}" for column in table.columns)
    hint = _hint(table, name, option, others)
    raise LopsError(f"{table.paths[0]} has no column {name!r}; its columns are {known}.{hint}")


def _hint(table: Table, name: str, option: str, columns: Sequence[str]) -> str:
    """Return where a column may be instead: further down, longer, or in another spelling."""
    row, path = _row_with(table, name), _path_to(table, name)
    if row or path:
        give = typed("header_row", row)
        return f" Line {row} has it: give {give}." if row else _meaning(option, path)
    delimiter = _about_delimiter(table, name)
    beginning = None if delimiter else _beginning(name, columns)
    if beginning is None and _is_row(table):
        return (
            " The first line looks like a row, not like names of columns: add a line with names, "
            "such as text,label, before it."
        )
    hint = delimiter or _meaning(option, beginning or _meant(name, option, columns))
    if not delimiter and len(table.columns) == 1 and table.format.name in ("csv", "tsv"):
        hint += f" Check {typed('delimiter')}."
    return " ".join([hint, *table.start.notes])


def _row_with(table: Table, name: str) -> int | None:
    """Return the line that would name a column if the header were there; None: none of the first.

    A title, or a line of groups of columns, stands above many headers.
    """
    if table.format.name not in TABULAR:
        return None
    reading = replace(table.start.reading, delimiter="", quotes=True)

    def has(row: int) -> bool:
        with suppress(LopsError):
            start = table.format.start(table.paths[0], replace(reading, header_row=row))
            return name in start.columns
        return False

    return next((row for row in range(2, _LAST_TITLE) if has(row) and not has(row + 1)), None)


def _path_to(table: Table, name: str) -> str | None:
    """Return the path to a nested value of JSON: one that ends so, else the only one that fits.

    Texts and labels are texts, and differ between rows.
    """
    if not isinstance(table.format, Jsonl):
        return None
    known: dict[str, set[str]] = {}
    with suppress(LopsError):
        for block in islice(table.blocks(), 1):
            for row in zip(*block.cells(table.columns), strict=True):
                for path, value in leaves(dict(zip(table.columns, row, strict=True))):
                    if path not in table.columns and isinstance(value, str):
                        known.setdefault(path, set()).add(value)
    ends = [path for path in known if f".{path}".casefold().endswith(f".{name}".casefold())]
    fitting = ends[:1] or [path for path, values in known.items() if len(values) > 1]
    return fitting[0] if len(fitting) == 1 else None


def _meaning(option: str, column: str | None) -> str:
    """Return the question whether another column is meant; in a shell, $ makes a line break."""
    if column is None:
        return ""
    return f" Did you mean {typed(option)} {'' if column.isprintable() else '$'}{column!r}?"


def _beginning(name: str, columns: Sequence[str]) -> str | None:
    """Return the only column that begins so, whatever its case and spaces; None: none, or several.

    A question of a form is a long name, perhaps with line breaks.
    """
    begins = " ".join(name.casefold().split())
    found = [one for one in columns if " ".join(one.casefold().split()).startswith(begins)]
    return found[0] if len(found) == 1 and begins else None


def _is_row(table: Table) -> bool:
    """Return whether the names of the columns look like the cells of a row.

    They do if one is a sentence, or in several rows a cell of its column.
    """
    if table.format.name not in TABULAR:
        return False
    if any(len(name.split()) >= _SENTENCE for name in table.columns):
        return True
    with suppress(LopsError):
        block = next(table.blocks(), None)
        cells = block.records(table.columns) if block is not None else []
        return any(
            sum(cell == name for cell in column) > 1 and name.strip() != ""
            for name, column in zip(table.columns, zip(*cells, strict=True), strict=False)
        )
    return False


def _meant(name: str, option: str, columns: Sequence[str]) -> str | None:
    """Return the column that a wrong name means: nearly the same, the usual one, or similar."""
    lower = {column.lower(): column for column in reversed(columns)}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=0.8)
    near += [option] if option in lower else []
    near += get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return lower[near[0]] if near else None


def _about_delimiter(table: Table, name: str) -> str:
    """Return a hint if another delimiter finds the column, or several columns, in the header."""
    if table.format.name not in ("csv", "tsv"):
        return ""
    header = table.start.reading.delimiter.join(table.columns)
    for other, spelt in ((",", "','"), (";", "';'"), ("\t", "tab"), ("|", "'|'")):
        names = [part.strip('"') for part in header.split(other)]
        if (
            other != table.start.reading.delimiter
            and len(names) > 1
            and (len(table.columns) == 1 or name in names)
        ):
            return f" The header looks separated by {spelt}; give {typed('delimiter')} {spelt}"
    return ""
