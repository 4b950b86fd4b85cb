"""Columns that are read from others: texts joined, the largest soft label, a vote of a list."""

import json
from ast import literal_eval
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block, Derived
from lops_adapters.formats.cells import is_unlabelled
from lops_adapters.formats.readers import Table
from lops_adapters.labels.columns import Columns, require
from lops_adapters.labels.soft import SoftLabels

LABEL = "label"  # of soft labels
_AND = " + "  # between the names of columns of texts that are joined


def with_text(table: Table, names: Sequence[str], taken: Collection[str] = ()) -> tuple[Table, str]:
    """Return a table and its column of texts; several columns are joined by spaces, in order.

    Raises a LopsError about a column that is missing; columns that are ``taken`` are not suggested.
    """
    parts = tuple(dict.fromkeys(names))
    if len(parts) == 1:
        return table, parts[0]
    for name in parts:
        require(table, name, "text", taken)
    shown = listed(map(repr, parts))
    note = f"Texts: {shown}, joined by spaces."
    return table.deriving({_AND.join(parts): Derived(parts, _text)}, note), _AND.join(parts)


def with_named_text(table: Table, name: str) -> Table:
    """Return a table with the column of texts that :func:`with_text` named so, if it has the parts.

    Another table, and one that has the column, are returned as they are.
    """
    parts = name.split(_AND)
    if name in table.columns or not set(parts) <= set(table.columns):
        return table
    return with_text(table, parts)[0]


def _text(block: Block, columns: list[list[Any]]) -> list[Any]:
    """Return joined texts; a value that is no text as it is, for the error about it."""
    return [_joined(cells) for cells in zip(*columns, strict=True)]


def _joined(cells: Sequence[Any]) -> Any:
    wrong = [cell for cell in cells if not isinstance(cell, str | None)]
    return wrong[0] if wrong else " ".join(cell for cell in cells if cell and cell.strip())


def with_soft_label(table: Table, columns: Columns) -> tuple[Table, Columns]:
    """Return a table and its columns with the largest soft label as the label of each source.

    They are as they were without soft labels or a column of sources. Raises a LopsError about a
    column that is missing.
    """
    parts = tuple(columns.soft_labels)
    if not parts or columns.source is None:
        return table, columns
    for name in parts:
        require(table, name, "soft_labels")
    names = (LABEL, f"largest {LABEL}", " + ".join(parts))
    name = next(name for name in names if name not in table.columns)
    note = f"Labels: the largest of {listed(map(repr, parts))}, one per row."
    label = Derived(parts, _Largest(parts))
    return table.deriving({name: label}, note), replace(columns, soft_labels=(), label=name)


@dataclass
class _Largest:
    parts: Sequence[str]

    def __post_init__(self) -> None:
        self._soft = SoftLabels(self.parts)

    def __call__(self, block: Block, columns: list[list[Any]]) -> list[Any]:
        for name, cells in zip(self.parts, columns, strict=True):
            for row in block.missing(name):
                cells[row] = None
        return self._soft.labels(list(zip(*columns, strict=True)), block.place)


def with_votes(table: Table, names: Sequence[str]) -> tuple[Table, tuple[str, ...]]:
    """Return a table and its columns of votes; of one column of lists, one per place in the lists.

    Lists may differ in length. Raises a LopsError about one column without a list of several.
    """
    if len(names) != 1:
        return table, tuple(names)
    (name,) = names
    lengths = (len(_listed(cell)) for _, _, (cell,) in table.cells((name,)))
    width = max(lengths, default=0)
    if width < 2:
        raise LopsError(
            f"{typed('labels')} names 1 column; wanted at least two, one per source, or lists of "
            f"votes; for one column of labels use {typed('label')}"
        )
    votes = {f"{name} {i + 1}": Derived((name,), partial(_vote, i)) for i in range(width)}
    note = f"Votes: the lists in {name!r}, of {width} sources by their places."
    return table.deriving(votes, note), tuple(votes)


def _listed(cell: Any) -> list[Any]:
    """Return the labels in a cell: a list, JSON of one, or as Python writes it.

    >>> _listed('["a", "b"]'), _listed("['a', None]"), _listed("a"), _listed(None)
    (['a', 'b'], ['a', None], ['a'], [])
    """
    if isinstance(cell, str) and cell.strip()[:1] == "[":
        for read in (json.loads, literal_eval):
            try:
                found = read(cell.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            return found if isinstance(found, list) else [cell]
    if isinstance(cell, list):
        return cell
    return [] if is_unlabelled(cell) else [cell]


def _vote(place: int, block: Block, columns: list[list[Any]]) -> list[Any]:
    lists = map(_listed, columns[0])
    return [labels[place] if place < len(labels) else None for labels in lists]
