"""The first pass over a table: the columns that a selection needs, checked with their places."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.cli.repairs import valid_text
from lops_adapters.cli.tables import Table, require
from lops_adapters.cli.writers import cell_text
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets.corpus import is_unlabelled

_SHOWN = 5  # places named in a message


@dataclass
class Rows:
    """Labelled rows of a table, lists of length n.

    Attributes:
        texts, labels: of the labelled rows; labels as names.
        gold, ids: of the labelled rows; None: no column given. A missing gold label is None.
        values: name of a label -> its value in the table.
        labelled: (N,) bool over all N rows of the table.
        notes: sentences about the rows, for people.

    """

    texts: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    gold: list[str | None] | None = None
    ids: list[str] | None = None
    values: dict[str, Hashable] = field(default_factory=dict)
    labelled: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    """Names of columns (None: not given), and whether rows without a label are left out."""

    text: str
    label: str
    gold: str | None = None
    id: str | None = None
    drop_unlabelled: bool = False

    def check(self, table: Table) -> None:
        """Raise a LopsError if a column is missing or given for two purposes."""
        for option in ("text", "label", "gold", "id"):
            name = getattr(self, option)
            if name is not None:
                require(table, name, f"--{option}")
        if self.label in (self.text, self.gold):
            other = "--text" if self.label == self.text else "--gold"
            raise LopsError(f"--label and {other} are both {self.label!r}; give different columns")


class _Places:
    """Count places and remember the first of them."""

    def __init__(self, table: Table) -> None:
        self._unit, self._one_file = table.unit, len(table.paths) == 1
        self.count = 0
        self._first: list[tuple[Path, int]] = []

    def add(self, path: Path, number: int) -> None:
        self.count += 1
        if self.count <= _SHOWN:
            self._first.append((path, number))

    def __str__(self) -> str:
        if len({path for path, _ in self._first}) == 1:
            shown = ", ".join(str(number) for _, number in self._first)
            shown += "" if self._one_file else f" of {self._first[0][0]}"
        else:
            shown = ", ".join(f"{number} of {path}" for path, number in self._first)
        more = f" and {self.count - _SHOWN} more" if self.count > _SHOWN else ""
        return f"{self._unit}{'s' if self.count > 1 else ''} {shown}{more}"


def read_rows(table: Table, wanted: Wanted) -> Rows:
    """Read the columns of a selection, after :meth:`Wanted.check`.

    Raises:
        LopsError: a text that is not a string, missing labels or gold labels, labels of several
            types, or one class only.

    """
    reader = _Reader(table, wanted)
    given = (wanted.text, wanted.label, wanted.gold, wanted.id)
    names = [name for name in given if name is not None]
    for path, number, cells in table.cells(names):
        reader.take(path, number, dict(zip(names, cells, strict=True)))
    return reader.result()


class _Reader:
    def __init__(self, table: Table, wanted: Wanted) -> None:
        self._table, self._wanted = table, wanted
        self._rows = Rows()
        self._rows.gold = None if wanted.gold is None else []
        self._rows.ids = None if wanted.id is None else []
        self._labelled = bytearray()
        self._types: dict[type, tuple[Any, _Places]] = {}
        self._names: dict[Hashable, str] = {}  # of labels only
        self._first: dict[str, str] = {}
        self._unlabelled, self._blank, self._again, self._torn = (_Places(table) for _ in range(4))
        self._judged = 0

    def take(self, path: Path, number: int, cells: dict[str, Any]) -> None:
        """Add a row."""
        text, label = cells[self._wanted.text], cells[self._wanted.label]
        missing = is_unlabelled(label)
        self._labelled.append(not missing)
        if missing:
            self._unlabelled.add(path, number)
            return
        if text is None:
            text = ""
        if not isinstance(text, str):
            raise LopsError(
                f"{path}, {self._table.unit} {number}: the text is {text!r:.60} "
                f"({type(text).__name__}); wanted a string; check --text"
            )
        name = self._name(path, number, label)
        text = valid_text(text)
        self._rows.texts.append(text)
        self._rows.labels.append(name)
        if text.strip():
            self._compare(path, number, text, name)
        else:
            self._blank.add(path, number)
        if self._rows.gold is not None:
            self._rows.gold.append(self._gold(path, number, cells[str(self._wanted.gold)]))
        if self._rows.ids is not None:
            self._rows.ids.append(cell_text(cells[str(self._wanted.id)]))

    def _name(self, path: Path, number: int, label: Any) -> str:
        if isinstance(label, list | dict):
            raise LopsError(
                f"{path}, {self._table.unit} {number}: the label is {label!r:.60}; "
                "wanted one class name per row"
            )
        if type(label) not in self._types:
            self._types[type(label)] = (label, _Places(self._table))
            self._types[type(label)][1].add(path, number)
        name = self._names.setdefault(label, valid_text(str(label)))
        self._rows.values.setdefault(name, label)
        return name

    def _gold(self, path: Path, number: int, gold: Any) -> Any:
        if isinstance(gold, list | dict):
            raise LopsError(
                f"{path}, {self._table.unit} {number}: the gold label is {gold!r:.60}; "
                "wanted one class name per row; check --gold"
            )
        self._judged += not is_unlabelled(gold)
        return None if is_unlabelled(gold) else gold

    def _compare(self, path: Path, number: int, text: str, name: str) -> None:
        before = self._first.get(text)
        if before is None:
            self._first[text] = name
        else:
            (self._again if before == name else self._torn).add(path, number)

    def result(self) -> Rows:
        """Return the rows, or raise a LopsError."""
        self._check()
        self._rows.labelled = np.frombuffer(bytes(self._labelled), dtype=bool)
        if self._rows.gold is not None:
            # Named last, so that gold labels have no part in the names of the labels.
            # A gold label equal to a label (1.0 and 1) gets the label's name.
            self._rows.gold = [
                None if gold is None else self._names.get(gold, valid_text(str(gold)))
                for gold in self._rows.gold
            ]
        self._note()
        self._warn()
        return self._rows

    def _check(self) -> None:
        rows, wanted = self._rows, self._wanted
        if not self._labelled:
            where = self._table.paths[0]
            raise LopsError(f"{where} has no rows; wanted rows of at least two classes")
        if self._unlabelled.count and not (wanted.drop_unlabelled and rows.labels):
            found = f"{self._unlabelled.count} of {len(self._labelled)} rows"
            fix = "--drop-unlabelled leaves them out" if rows.labels else "check --label"
            raise LopsError(
                f"{found} have no label in column {wanted.label!r}: {self._unlabelled}; {fix}"
            )
        if len(self._types) > 1:
            found = ", ".join(
                f"{kind.__name__} ({value!r} in {place})"
                for kind, (value, place) in self._types.items()
            )
            raise LopsError(
                f"labels in column {wanted.label!r} have several types: {found}; "
                "make them all strings or all numbers"
            )
        if len(rows.values) < 2:
            raise LopsError(
                f"all {len(rows.labels)} rows have the label {rows.labels[0]!r}; "
                "wanted at least two classes"
            )
        if rows.gold is not None and not self._judged:
            raise LopsError(
                f"none of the {len(rows.labels)} rows has a gold label in column {wanted.gold!r}; "
                "fill in some, or leave out --gold"
            )

    def _note(self) -> None:
        notes, gold = self._rows.notes, self._rows.gold
        if gold is not None and self._judged < len(gold):
            notes.append(
                f"{self._judged:,} of {len(gold):,} rows have a gold label; "
                "noise is measured on these."
            )
        if self._unlabelled.count:
            notes.append(
                f"Left out, without a label: {_rows(self._unlabelled)}, written to neither file."
            )
        if self._again.count:
            notes.append(
                f"Same text and same label as an earlier row: {_rows(self._again)}. Copies confirm "
                "each other; if their labels may be wrong, keep one of each and run again."
            )

    def _warn(self) -> None:
        if self._torn.count:
            _warn(
                f"same text as an earlier row, but another label: {_rows(self._torn)} "
                f"({self._torn}); at most one of the labels is right"
            )
        if self._blank.count:
            _warn(
                f"empty text: {_rows(self._blank)} ({self._blank}); these labels cannot be checked"
            )


def _rows(places: _Places) -> str:
    return f"{places.count} row{'' if places.count == 1 else 's'}"


def _warn(message: str) -> None:
    warnings.warn(message, LopsWarning, stacklevel=2)
