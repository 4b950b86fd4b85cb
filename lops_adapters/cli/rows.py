"""The first pass over a table: the columns that a selection needs, checked with their places."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.cli.repairs import valid_text
from lops_adapters.cli.tables import Table, require
from lops_adapters.cli.writers import cell_text
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import is_unlabelled
from lops_adapters.texts.abstentions import abstaining

_SHOWN = 5  # places named in a message


@dataclass
class Rows:
    """Labelled rows of a table, lists of length n.

    Attributes:
        texts, labels: of the labelled rows; labels as names.
        gold, ids: of the labelled rows; None: no column given. A missing gold label is None.
        values: name of a label -> its value in the table.
        labelled: (N,) bool over all N rows of the table.
        places: of all N rows.
        notes: sentences about the rows, for people.

    """

    texts: list[str]
    labels: list[str]
    gold: list[str | None] | None
    ids: list[str] | None
    values: dict[str, Hashable]
    labelled: np.ndarray
    places: Places
    notes: list[str] = field(default_factory=list)

    def place(self, positions: Sequence[int]) -> str:
        """Return where labelled rows stand, for a message."""
        return self.places.named(np.flatnonzero(self.labelled)[np.asarray(positions)].tolist())


@dataclass(frozen=True)
class Wanted:
    """Names of columns (None: not given), and the labels that are no class (None: by default)."""

    text: str
    label: str
    gold: str | None = None
    id: str | None = None
    abstain: Sequence[str] | None = None

    def check(self, table: Table) -> None:
        """Raise a LopsError if a column is missing or given for two purposes."""
        for option in ("text", "label", "gold", "id"):
            name = getattr(self, option)
            if name is not None:
                taken = [self.label, self.gold] if option == "text" else [self.text]
                require(table, name, f"--{option}", {other for other in taken if other})
        if self.label in (self.text, self.gold):
            other = "--text" if self.label == self.text else "--gold"
            raise LopsError(f"--label and {other} are both {self.label!r}; give different columns")


class Places:
    """Where the rows of a table stand: lines or row numbers of its files."""

    def __init__(self, table: Table) -> None:
        self._unit, self._one_file = table.unit, len(table.paths) == 1
        self._numbers, self._starts = array("q"), array("q")
        self._paths: list[Path] = []

    def add(self, path: Path, number: int) -> None:
        """Note the place of the next row."""
        if not self._paths or path != self._paths[-1]:
            self._paths.append(path)
            self._starts.append(len(self._numbers))
        self._numbers.append(number)

    def named(self, rows: Sequence[int]) -> str:
        """Return the places of rows for a message, the first of them."""
        files = np.searchsorted(self._starts, rows[:_SHOWN], side="right") - 1
        first = [
            (self._paths[file], self._numbers[row])
            for file, row in zip(files.tolist(), rows, strict=False)
        ]
        if len({path for path, _ in first}) == 1:
            shown = ", ".join(str(number) for _, number in first)
            shown += "" if self._one_file else f" of {first[0][0]}"
        else:
            shown = ", ".join(f"{number} of {path}" for path, number in first)
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        return f"{self._unit}{'s' if len(rows) > 1 else ''} {shown}{more}"


def read_rows(table: Table, wanted: Wanted) -> Rows:
    """Read the columns of a selection, after :meth:`Wanted.check`.

    Raises:
        LopsError: a text that is not a string, no labels or gold labels, labels of several types,
            or one class only.

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
        self._texts: list[str] = []
        self._labels: list[Any] = []
        self._gold: list[Any] = []
        self._ids: list[str] = []
        self._places = Places(table)

    def take(self, path: Path, number: int, cells: dict[str, Any]) -> None:
        """Add a row."""
        wanted = self._wanted
        self._places.add(path, number)
        label = cells[wanted.label]
        if isinstance(label, list | dict):
            raise LopsError(
                f"{path}, {self._table.unit} {number}: the label is {label!r:.60}; "
                "wanted one class name per row"
            )
        # Interned: a million rows share the names of a few classes.
        self._labels.append(sys.intern(label) if type(label) is str else label)
        text = cells[wanted.text]
        if text is not None and not isinstance(text, str) and not is_unlabelled(label):
            raise LopsError(
                f"{path}, {self._table.unit} {number}: the text is {text!r:.60} "
                f"({type(text).__name__}); wanted a string; check --text"
            )
        self._texts.append(valid_text(text) if isinstance(text, str) else "")
        if wanted.gold is not None:
            self._gold.append(self._checked(path, number, cells[wanted.gold]))
        if wanted.id is not None:
            self._ids.append(cell_text(cells[wanted.id]))

    def _checked(self, path: Path, number: int, gold: Any) -> Any:
        if isinstance(gold, list | dict):
            raise LopsError(
                f"{path}, {self._table.unit} {number}: the gold label is {gold!r:.60}; "
                "wanted one class name per row; check --gold"
            )
        return gold

    def result(self) -> Rows:
        """Return the labelled rows, or raise a LopsError."""
        if not self._labels:
            where = self._table.paths[0]
            raise LopsError(f"{where} has no rows; wanted rows of at least two classes")
        labelled, notes = self._labelled()
        at = np.flatnonzero(labelled).tolist()
        own = [self._labels[i] for i in at]
        self._check(at, own)
        names: dict[Hashable, str] = {}
        values: dict[str, Hashable] = {}
        for label in own:
            values.setdefault(names.setdefault(label, valid_text(str(label))), label)
        if len(values) < 2:
            raise LopsError(
                f"all {len(own)} rows have the label {own[0]!r}; wanted at least two classes"
            )
        gold: list[str | None] | None = None
        if self._wanted.gold is not None:
            # Named last, so that gold labels have no part in the names of the labels.
            # A gold label equal to a label (1.0 and 1) gets the label's name.
            given = [self._gold[i] for i in at]
            gold = [
                None if is_unlabelled(one) else names.get(one, valid_text(str(one)))
                for one in given
            ]
            notes += self._note_gold(gold)
        return Rows(
            texts=[self._texts[i] for i in at],
            labels=[names[label] for label in own],
            gold=gold,
            ids=None if self._wanted.id is None else [self._ids[i] for i in at],
            values=values,
            labelled=labelled,
            places=self._places,
            notes=notes,
        )

    def _labelled(self) -> tuple[np.ndarray, list[str]]:
        """Return which rows have a class, (N,) bool, and sentences about the others."""
        wanted, labels = self._wanted, self._labels
        if wanted.abstain is None:
            gone = abstaining(labels)
        else:
            gone = abstaining([cell_text(label) for label in labels], set(wanted.abstain))
            gone |= abstaining(labels, set())
        if gone.all():
            raise LopsError(
                f"none of the {len(labels)} rows has a label in column {wanted.label!r}; check "
                "--label"
            )
        if not gone.any():
            return ~gone, []
        count = int(gone.sum())
        at = np.flatnonzero(gone).tolist()
        rows = "1 row" if count == 1 else f"{count:,} rows"
        said = f"Without a label: {rows} ({self._places.named(at)}), neither kept nor judged."
        if wanted.abstain is None and not all(is_unlabelled(labels[i]) for i in at):
            said += " -1 counts as no label; if it is a class, give --abstain ''."
        return ~gone, [said]

    def _check(self, at: list[int], own: list[Any]) -> None:
        first: dict[type, int] = {}
        for row, label in zip(at, own, strict=True):
            first.setdefault(type(label), row)
        if len(first) > 1:
            found = ", ".join(
                f"{kind.__name__} ({self._labels[row]!r} in {self._places.named([row])})"
                for kind, row in first.items()
            )
            raise LopsError(
                f"labels in column {self._wanted.label!r} have several types: {found}; "
                "make them all strings or all numbers"
            )

    def _note_gold(self, gold: list[str | None]) -> list[str]:
        judged = sum(label is not None for label in gold)
        if not judged:
            raise LopsError(
                f"none of the {len(gold)} rows has a gold label in column {self._wanted.gold!r}; "
                "fill in some, or leave out --gold"
            )
        if judged == len(gold):
            return []
        return [f"{judged:,} of {len(gold):,} rows have a gold label; noise is measured on these."]
