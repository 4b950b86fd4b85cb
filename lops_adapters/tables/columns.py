"""Columns that a table has to have; the likeliest one for a wrong name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.tables.readers import Table


def require(table: Table, name: str, option: str, taken: Collection[str] = ()) -> None:
    """Raise a LopsError with the existing columns, and the likeliest, if a column is missing.

    Args:
        table: with the columns.
        name: of the column.
        option: that names the column, such as ``--text``.
        taken: columns with another purpose, which are not suggested.

    """
    if name in table.columns:
        return
    hint = _about_delimiter(table, name)
    if not hint:
        meant = _meant(name, option, [column for column in table.columns if column not in taken])
        hint = f" Did you mean {option} {meant!r}?" if meant else ""
        if len(table.columns) == 1 and table.format in ("csv", "tsv"):
            hint += " Check --delimiter."
    known = listed(map(repr, table.columns))
    raise LopsError(f"{table.paths[0]} has no column {name!r}; its columns are {known}.{hint}")


def _meant(name: str, option: str, columns: Sequence[str]) -> str | None:
    """Return the column that a wrong name means: nearly the same, the usual one, or similar."""
    lower = {column.lower(): column for column in reversed(columns)}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=0.8)
    near += [option.strip("-")] if option.strip("-") in lower else []
    near += get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return lower[near[0]] if near else None


def _about_delimiter(table: Table, name: str) -> str:
    """Return a hint if another delimiter finds the column, or several columns, in the header."""
    if table.format not in ("csv", "tsv"):
        return ""
    header = table.delimiter.join(table.columns)
    for other, given in ((",", "','"), (";", "';'"), ("\t", "tab"), ("|", "'|'")):
        names = [part.strip('"') for part in header.split(other)]
        if (
            other != table.delimiter
            and len(names) > 1
            and (len(table.columns) == 1 or name in names)
        ):
            return f" The header looks separated by {given}; give --delimiter {given}"
    return ""
