"""How files name rows of a table: rows to check, corrections, relabelled rows.

Each says which table it is of, by ``sha256``, and what it counts, by ``counts``:

- ``rows``, ``rows with texts in COLUMN``: ``row`` is the number of a row of the files, from 1.
- ``texts in COLUMN``, ``ids in COLUMN``: of a table with a row per annotation. ``key`` is a digest
  of the text or id that the rows of a text share; ``row`` counts texts.

Relabelled rows have these columns with ``lops_`` before the name, and their own texts and ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lops_adapters.formats.cells import content

ROW, LABEL, TEXT, KEY = "row", "label", "text", "key"
CHECKED = "checked"  # of to_check.csv: the label by a person; empty: not checked
TABLE, COLUMN, COUNTS, ID = "sha256", "column", "counts", "id"  # optional columns
OURS = "lops_"  # before the names, in relabelled rows
GIVEN = f"{OURS}given"  # the label before
ROWS, TEXTS, IDS = "rows", "texts", "ids"
_JOINTS = {ROWS: " with texts in ", TEXTS: " in ", IDS: " in "}


class Counted(NamedTuple):
    """What a file counts, and the column of its texts or ids; empty: none.

    >>> Counted("ids", "item").words, Counted.read("rows with texts in body")
    ('ids in item', Counted(kind='rows', column='body'))
    """

    kind: str = ROWS
    column: str = ""

    @property
    def words(self) -> str:
        """As a cell of a file."""
        return f"{self.kind}{_JOINTS[self.kind]}{self.column}" if self.column else self.kind

    @classmethod
    def read(cls, words: str) -> Counted | None:
        """Return what a cell says; None: something else."""
        for kind, joint in _JOINTS.items():
            if words.startswith(kind + joint):
                return cls(kind, words.removeprefix(kind + joint))
        return cls() if words == ROWS else None


def key_of(kind: str, cell: Any) -> str:
    """Return what names a text or an id, also after a spreadsheet has saved it; empty: none.

    >>> key_of("texts", " a  text"), key_of("ids", "a text"), key_of("texts", None)
    ('t734194ede5b063e6', 'i734194ede5b063e6', '')
    """
    known = content(cell)
    digest = hashlib.sha256(known.encode()).hexdigest()[:16]
    return f"{'i' if kind == IDS else 't'}{digest}" if known else ""


def naming(
    table: Mapping[str, str], keys: Sequence[str] | None
) -> tuple[list[str], Callable[[int], list[str]]]:
    """Return the columns that say what a file names, and a function of their cells for a row.

    ``table`` holds ``column`` (of labels), ``sha256`` and ``counts``; ``keys`` are of the rows, by
    position; None: numbers name them.
    """
    names = [name for name in (COLUMN, TABLE, COUNTS) if table.get(name)]
    constant = [table[name] for name in names]
    if keys is None:
        return names, lambda _: constant
    return [KEY, *names], lambda row: [keys[row], *constant]
