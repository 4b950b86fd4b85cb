"""The first pass over a table: the columns that a selection needs, checked with their places."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import is_unlabelled
from lops_adapters.tables.columns import require
from lops_adapters.tables.places import Places
from lops_adapters.tables.readers import Table
from lops_adapters.tables.repairs import valid_text
from lops_adapters.tables.vectors import (
    SoftColumns,
    check_embeddings,
    is_file,
    matrix,
    numbers,
    read_npy,
)
from lops_adapters.tables.writers import cell_text
from lops_adapters.texts.abstentions import abstaining
from lops_adapters.texts.soft import hard_labels


@dataclass
class Rows:
    """Labelled rows of a table, lists of length n.

    Attributes:
        texts, labels: of the labelled rows; labels as names; without a column of texts, row
            numbers in their place.
        gold, ids: of the labelled rows; None: no column given. A missing gold label is None.
        values: name of a label -> its value in the table.
        labelled: (N,) bool over all N rows of the table.
        places: of all N rows.
        vectors: (n, width) numbers to judge in place of the texts; None: not given.
        notes: sentences about the rows, for people.

    """

    texts: list[str]
    labels: list[str]
    gold: list[str | None] | None
    ids: list[str] | None
    values: dict[str, Hashable]
    labelled: np.ndarray
    places: Places
    vectors: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)

    def place(self, positions: Sequence[int]) -> str:
        """Return where labelled rows stand, for a message."""
        return self.places.named(np.flatnonzero(self.labelled)[np.asarray(positions)].tolist())


@dataclass(frozen=True)
class Wanted:
    """Names of columns; None: not given.

    Attributes:
        text: None only with embeddings.
        label: None only with soft labels.
        gold, id: optional.
        abstain: labels that are no class; None: by default.
        embeddings: a column of lists, or an .npy file.
        soft: columns of soft labels.

    """

    text: str | None
    label: str | None
    gold: str | None = None
    id: str | None = None
    abstain: Sequence[str] | None = None
    embeddings: str | None = None
    soft: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        vectors = None if is_file(self.embeddings) else self.embeddings
        given = (self.text, self.label, self.gold, self.id, vectors, *self.soft)
        return list(dict.fromkeys(name for name in given if name is not None))

    @property
    def is_plain(self) -> bool:
        """Whether texts with one label each are judged."""
        return self.text is not None and self.label is not None and self.embeddings is None

    def check(self, table: Table) -> None:
        """Raise a LopsError if a column is missing or given for two purposes, or not given."""
        if self.text is None and self.embeddings is None:
            raise LopsError("--text is missing; wanted a column of texts, or --embeddings")
        if (self.label is None) == (not self.soft):
            found = "neither --label nor" if self.label is None else "--label and"
            raise LopsError(f"found {found} --soft-labels; give one of the two")
        for option in ("text", "label", "gold", "id"):
            name = getattr(self, option)
            if name is not None:
                taken = [self.label, self.gold] if option == "text" else [self.text]
                require(table, name, f"--{option}", {other for other in taken if other})
        for name in self.soft:
            require(table, name, "--soft-labels")
        if self.embeddings is not None:
            check_embeddings(table, self.embeddings)
        if self.label is not None and self.label in (self.text, self.gold):
            other = "--text" if self.label == self.text else "--gold"
            raise LopsError(f"--label and {other} are both {self.label!r}; give different columns")


def read_rows(table: Table, wanted: Wanted) -> Rows:
    """Read the columns of a selection, after :meth:`Wanted.check`.

    Raises:
        LopsError: a text that is not a string, no labels or gold labels, labels of several types,
            or one class only.

    """
    reader = _Reader(table, wanted)
    names = wanted.columns
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
        self._vectors: list[Any] = []
        self._soft: list[list[Any]] = []
        self._places = Places(table)

    def take(self, path: Path, number: int, cells: dict[str, Any]) -> None:
        """Add a row."""
        wanted = self._wanted
        self._places.add(path, number)
        where = f"{path}, {self._table.unit} {number}"
        label = None
        if wanted.label is not None:
            label = cells[wanted.label]
            if isinstance(label, list | dict):
                raise LopsError(
                    f"{where}: the label is {label!r:.60}; wanted one class name per row"
                )
            # Interned: a million rows share the names of a few classes.
            self._labels.append(sys.intern(label) if type(label) is str else label)
        else:
            self._soft.append([cells[name] for name in wanted.soft])
        text = f"(row {len(self._places)})" if wanted.text is None else cells[wanted.text]
        if text is not None and not isinstance(text, str) and not is_unlabelled(label):
            raise LopsError(
                f"{where}: the text is {text!r:.60} ({type(text).__name__}); wanted a string; "
                "check --text"
            )
        self._texts.append(valid_text(text) if isinstance(text, str) else "")
        if wanted.embeddings is not None and not is_file(wanted.embeddings):
            self._vectors.append(numbers(cells[wanted.embeddings]))
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
        if not len(self._places):
            where = self._table.paths[0]
            raise LopsError(f"{where} has no rows; wanted rows of at least two classes")
        if self._wanted.soft:
            self._harden()
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
            vectors=self._embeddings(at),
            notes=notes,
        )

    def _harden(self) -> None:
        """Make labels of the soft labels."""
        classes, soft = SoftColumns(self._wanted.soft).read(self._soft, self._places.named)
        if len(classes) < 2:
            raise LopsError(
                f"--soft-labels {self._wanted.soft[0]} has {len(classes)} classes; wanted at least "
                "two"
            )
        codes: list[Any] = hard_labels(soft)
        self._labels = [None if code is None else classes[code] for code in codes]

    def _embeddings(self, at: list[int]) -> np.ndarray | None:
        name = self._wanted.embeddings
        if name is None:
            return None
        if is_file(name):
            return np.asarray(read_npy(Path(name), len(self._places))[at])
        return matrix(
            [self._vectors[i] for i in at],
            f"--embeddings {name}",
            lambda positions: self._places.named([at[i] for i in positions]),
        )

    def _labelled(self) -> tuple[np.ndarray, list[str]]:
        """Return which rows have a class, (N,) bool, and sentences about the others."""
        wanted, labels = self._wanted, self._labels
        if wanted.soft:
            gone = abstaining(labels, set())
        elif wanted.abstain is None:
            gone = abstaining(labels)
        else:
            gone = abstaining([cell_text(label) for label in labels], set(wanted.abstain))
            gone |= abstaining(labels, set())
        if gone.all():
            what = f"label in column {wanted.label!r}; check --label"
            if wanted.soft:
                what = "largest soft label: all are ties or zero; check --soft-labels"
            raise LopsError(f"none of the {len(labels)} rows has a {what}")
        if not gone.any():
            return ~gone, []
        count = int(gone.sum())
        at = np.flatnonzero(gone).tolist()
        rows = "1 row" if count == 1 else f"{count:,} rows"
        why = "Without a largest soft label" if wanted.soft else "Without a label"
        said = f"{why}: {rows} ({self._places.named(at)}), neither kept nor judged."
        if (
            wanted.label
            and wanted.abstain is None
            and not all(is_unlabelled(labels[i]) for i in at)
        ):
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
