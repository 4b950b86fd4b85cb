"""The first pass over a table: labels are counted and checked, a sample is drawn.

A table in memory is the case where the sample is everything.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block
from lops_adapters.formats.cells import NO_CLASS, cell_text, is_unlabelled, meant, valid_text
from lops_adapters.formats.readers import Table
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.columns import Columns, is_file
from lops_adapters.labels.groups import Groups
from lops_adapters.labels.labelled import Labelled
from lops_adapters.labels.missing import minus_one
from lops_adapters.labels.reader import LabelReader
from lops_adapters.labels.soft import numbers
from lops_adapters.labels.tally import Tally
from lops_adapters.labels.votes import VoteReader, Votes
from lops_adapters.selection.canonical import content_keys, name_keys
from lops_adapters.selection.draw import Draw, Limits
from lops_adapters.tables.vectors import matrix, read_npy

PROBE_ROWS = 300_000  # of the sample, by default
EVERYTHING = sys.maxsize  # rows of a sample that is the table


class SampledRow(NamedTuple):
    """A row of the sample; ``cells`` are of the columns that are read, in their order."""

    text: str
    label: Hashable
    path: Path
    number: int
    cells: tuple[Any, ...]


class Survey:
    """What the first pass finds; surveys of consecutive parts of a table can be joined.

    Args:
        columns: of the table.
        most: rows of the sample; 0: labels are only counted.
        seed: of the draw.
        limits: of the draw.
        start: position of the first row in the table.
        checked: row of the table, from 0 -> label by a person, as text.

    Attributes:
        tally: of the labels.
        checked: with the column of checked labels. These rows are in the sample.

    """

    def __init__(
        self,
        columns: Columns,
        *,
        most: int = EVERYTHING,
        seed: int = 0,
        limits: Limits | None = None,
        start: int = 0,
        checked: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.columns, self.most, self.seed = columns, most, seed
        self._reader = LabelReader(columns)
        self._start, self.checked = start, dict(checked)
        self._draw = Draw(most, limits)
        # Whether -1 is a class is known only at the end, so its rows are drawn apart.
        self._minus = Draw(most, limits)
        self._keys = np.zeros(1, dtype=np.uint64)  # of the labels, by their numbers
        self._kinds = np.zeros(1, dtype=np.int64)  # 0: no class, 1: a class, -1: perhaps one

    @property
    def tally(self) -> Tally:
        """The labels so far."""
        return self._reader.tally

    def take(self, block: Block) -> None:
        """Read a block.

        Raises:
            LopsError: a text that is not a string, or a label that is no class name.

        """
        columns, names = self.columns, self.columns.names
        cells = dict(zip(names, columns.cells(block, names), strict=True))
        for name in (columns.label, *columns.votes):
            if name is not None:
                self.tally.words.update(block.missing(name).values())
        start = self._start + self.tally.rows
        if columns.checked is not None:
            self._note_checked(block, cells[columns.checked], start)
        labels, of_rows = self._reader.take(cells, block)
        self._note_kinds()
        rows = np.flatnonzero(self._kinds[of_rows])
        if not len(rows):
            return
        if columns.text is None:
            texts = [f"(row {position + 1})" for position in (rows + start).tolist()]
        else:
            texts = texts_of(cells[columns.text], block, rows)
        if self.most:
            of_row = list(zip(*cells.values(), strict=True))
            drawn = [
                SampledRow(text, labels[i], block.path, block.numbers[i], of_row[i])
                for i, text in zip(rows.tolist(), texts, strict=True)
            ]
            self._add(drawn, of_rows[rows], rows + start)

    def _note_checked(self, block: Block, cells: Sequence[Any], start: int) -> None:
        """Note the labels by a person; LopsError: a row has another one already."""
        for row, cell in enumerate(cells):
            if is_unlabelled(cell):
                continue
            text = cell_text(cell)
            if self.checked.setdefault(start + row, text) != text:
                raise LopsError(
                    f"{block.place(row)}: checked as {text!r:.80} in column "
                    f"{self.columns.checked!r}, and as {self.checked[start + row]!r:.80} in "
                    "--checked; correct one of them"
                )

    def _note_kinds(self) -> None:
        """Note the keys of new labels, and whether they are a class."""
        new = self.tally.labels[len(self._keys) :]
        if not new:
            return
        keys = name_keys([valid_text(str(label)) for label in new])
        kinds = [self._kind(label) for label in new]
        self._keys = np.concatenate([self._keys, keys])
        self._kinds = np.concatenate([self._kinds, np.array(kinds, dtype=np.int64)])

    def _kind(self, label: Hashable) -> int:
        if self.columns.is_named(label):
            return 0
        return -1 if not self.columns.soft and minus_one({label, 0, 1}) else 1

    def _add(self, rows: Sequence[SampledRow], of_rows: np.ndarray, positions: np.ndarray) -> None:
        """Draw from rows with a class, given the numbers of their labels."""
        keys = content_keys([row.text for row in rows], self.seed)
        of_labels, kinds = self._keys[of_rows], self._kinds[of_rows]
        first = np.isin(positions, list(self.checked))
        for draw, kind in ((self._draw, 1), (self._minus, -1)):
            at = np.flatnonzero(kinds == kind)
            chosen = [rows[i] for i in at.tolist()]
            draw.add(keys[at], of_labels[at], positions[at], chosen, first[at])

    def join(self, later: Survey) -> None:
        """Add a survey of rows that follow."""
        self.tally.join(later.tally)
        self._note_kinds()
        self.checked |= later.checked
        self._draw.join(later._draw)
        self._minus.join(later._minus)

    def classes(self) -> Classes:
        """Return the classes of the whole table; LopsError: labels that cannot be scored."""
        return self.tally.classes(self.columns)

    def is_enough(self, classes: Classes) -> bool:
        """Return whether the sample is complete in spite of the limits."""
        self._settle(classes)
        return self._draw.is_enough(rows_by_key(classes))

    def _settle(self, classes: Classes) -> None:
        perhaps = [self.tally.labels[i] for i in np.flatnonzero(self._kinds < 0).tolist()]
        if any(label in classes.code_of for label in perhaps):
            self._draw.join(self._minus)
            self._minus = Draw(self.most)

    def sample(self, classes: Classes) -> Sample:
        """Return the sample of the labelled rows, and forget it here, since it takes memory."""
        self._settle(classes)
        sample = Sample(self, self._draw, classes)
        self._draw = self._minus = Draw(self.most)
        return sample


def rows_by_key(classes: Classes) -> dict[int, int]:
    """Return the hash of each class's name -> its rows."""
    return dict(zip(name_keys(classes.names).tolist(), classes.counts.tolist(), strict=True))


class Sample:
    """The n sampled rows, in the order of the table.

    Attributes:
        drawn: keys, ids, positions and rows.
        texts: of the rows; without a column of texts, row numbers in their place.
        labelled: the rows with codes of the table's classes, by name, with votes and groups.
        gold, ids: None: no column. A missing gold label is None.
        vectors: (n, width) numbers to score in place of the texts; None: not given.
        classes: of the table.
        groups: None: no column.
        shared_groups: (n,) int64 codes of the groups; -1: a row has none.
        reader: of votes; None: each row has one label.

    """

    def __init__(self, survey: Survey, draw: Draw, classes: Classes) -> None:
        columns, self.classes, self.drawn = survey.columns, classes, draw.result()
        self._shown, self._checked = survey.tally.shown_places, survey.checked
        rows: list[SampledRow] = self.drawn.rows
        of_columns = zip(*(row.cells for row in rows), strict=True)
        cells = dict(zip(columns.names, of_columns, strict=True))
        self.texts = [row.text for row in rows]
        self.gold: list[str | None] | None = None
        if columns.gold is not None:
            self.gold = [
                None if is_unlabelled(label) else classes.gold_name(label)
                for label in cells[columns.gold]
            ]
        self.ids = None if columns.id is None else [cell_text(cell) for cell in cells[columns.id]]
        self.groups: Groups | None = None
        self.shared_groups: np.ndarray | None = None
        if columns.group is not None:
            self.groups = Groups(cells[columns.group])
            self.shared_groups = self.groups.of(cells[columns.group])
        self.reader: VoteReader | None = None
        votes: Votes | None = None
        if columns.has_votes:
            self.reader = VoteReader(columns, classes, cells.get(columns.source or "", ()))
            votes = self.reader.votes([cells[name] for name in self.reader.columns])
        codes = classes.codes([row.label for row in rows])
        groups = None if self.groups is None else self.groups.codes
        self.labelled = Labelled(self.texts, codes, list(classes.names), votes, groups)
        self.vectors: np.ndarray | None = None
        if is_file(columns.embeddings):
            every = read_npy(Path(str(columns.embeddings)), survey.tally.rows)
            self.vectors = np.asarray(every[self.drawn.positions])
        elif columns.embeddings is not None:
            vectors = [*map(numbers, cells[columns.embeddings])]
            self.vectors = matrix(vectors, f"--embeddings {columns.embeddings}", self.place)

    @property
    def labels(self) -> list[Any]:
        """The names of the rows' classes."""
        return self.labelled.labels

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the table."""
        return len(self.texts) == int(self.classes.counts.sum())

    def checked(self) -> dict[int, str | None]:
        """Return position in the sample -> label by a person; None: none of the classes.

        Raises:
            LopsError: a row that the table does not have, or without a label.

        """
        position = {row: i for i, row in enumerate(self.drawn.positions.tolist())}
        outside = [row + 1 for row in self._checked if row not in position]
        if outside:
            raise LopsError(
                f"{len(outside):,} checked rows cannot be used: row {outside[0]:,} and such have "
                "no label, or the table has no such rows. Take rows of to_check.csv"
            )
        names = {cell_text(self.classes.values[name]): name for name in self.classes.names}
        spelt = {text: meant(text, names) for text in set(self._checked.values())}
        none = {text for text in spelt if text.strip() in ("", NO_CLASS) and text not in names}
        return {
            position[row]: None if text in none else names.get(spelt[text] or text, text)
            for row, text in self._checked.items()
        }

    def place(self, positions: Sequence[int]) -> str:
        """Return where rows of the sample stand, for a message."""
        rows = [self.drawn.rows[i] for i in positions[:5]]
        return self._shown([(row.path, row.number) for row in rows], len(positions))


def read_rows(table: Table, columns: Columns) -> Sample:
    """Return all labelled rows of a table, after :meth:`Columns.check`.

    Raises:
        LopsError: a text that is not a string, no labels or gold labels, labels of several types,
            or one class only.

    """
    survey = survey_of(table, columns)
    return survey.sample(survey.classes())


def survey_of(table: Table, columns: Columns, **settings: Any) -> Survey:
    """Read a table, or a part of one; settings as for :class:`Survey`."""
    survey = Survey(columns, **settings)
    survey.tally.notes = list(table.notes)
    for block in table.blocks(columns.names):
        survey.take(block)
    return survey


def texts_of(cells: Sequence[Any], block: Block, rows: np.ndarray) -> list[str]:
    """Return the texts of (m,) rows of a block; LopsError with its place: one is no string."""
    texts = []
    for row in rows.tolist():
        text = cells[row]
        if text is not None and not isinstance(text, str):
            raise LopsError(
                f"{block.place(row)}: the text is {text!r:.60} ({type(text).__name__}); wanted a "
                "string; check --text"
            )
        texts.append("" if text is None else text if text.isascii() else valid_text(text))
    return texts
