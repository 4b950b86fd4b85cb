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
from lops_adapters.selection.canonical import content_keys, name_keys
from lops_adapters.selection.draw import Draw, Limits
from lops_adapters.selection.sources import Votes
from lops_adapters.tables.classes import Classes, Labels
from lops_adapters.tables.columns import Wanted, is_file
from lops_adapters.tables.vectors import SoftLabels, matrix, numbers, read_npy
from lops_adapters.tables.votes import VoteReader, majority, source_name
from lops_adapters.texts.abstentions import minus_one

PROBE_ROWS = 300_000  # of the sample, by default
EVERYTHING = sys.maxsize  # rows of a sample that is the table


class SampledRow(NamedTuple):
    """A row of the sample; ``cells`` are of the wanted columns, in their order."""

    text: str
    label: Hashable
    path: Path
    number: int
    cells: tuple[Any, ...]


class Survey:
    """What the first pass finds; surveys of consecutive parts of a table can be joined.

    Args:
        wanted: the columns.
        most: rows of the sample; 0: labels are only counted.
        seed: of the draw.
        limits: of the draw.
        start: position of the first row in the table.
        checked: row of the table, from 0 -> label by a person, as text.

    Attributes:
        labels: counted.
        checked: with the column of checked labels. These rows are in the sample.

    """

    def __init__(
        self,
        wanted: Wanted,
        *,
        most: int = EVERYTHING,
        seed: int = 0,
        limits: Limits | None = None,
        start: int = 0,
        checked: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.wanted, self.most, self.seed, self.labels = wanted, most, seed, Labels()
        self._start, self.checked = start, dict(checked)
        self._draw = Draw(most, limits)
        # Whether -1 is a class is known only at the end, so its rows are drawn apart.
        self._minus = Draw(most, limits)
        self._soft = SoftLabels(wanted.soft) if wanted.soft else None
        self._keys: dict[Hashable, tuple[int, bool]] = {}
        self._named: dict[Hashable, bool] = {}  # label -> whether it is named as no class

    def take(self, block: Block) -> None:
        """Read a block.

        Raises:
            LopsError: a text that is not a string, or a label that is no class name.

        """
        wanted, names = self.wanted, self.wanted.columns
        columns = dict(zip(names, wanted.cells(block, names), strict=True))
        self.labels.paths.add(block.path)
        self.labels.unit = block.unit
        labels, gold = self._labels(block, columns), columns.get(wanted.gold or "")
        self._check_gold(block, gold or ())
        for name in (wanted.label, *wanted.votes):
            if name is not None:
                self.labels.words.update(block.missing(name).values())
        before, kept = self.labels.rows, []
        if wanted.checked is not None:
            self._note_checked(block, columns[wanted.checked], self._start + before)
        for place, (label, number) in enumerate(zip(labels, block.numbers, strict=True)):
            is_there = self.labels.add(label, block.path, number)
            if is_there and self._is_class(label):
                kept.append(place)
                if wanted.classes is not None and label not in wanted.classes:
                    self.labels.note_answer(label, (block.path, number))
                if gold is not None and not is_unlabelled(gold[place]):
                    self.labels.add_gold(label, gold[place])
                if not self._keys[label][1]:
                    continue
            self.labels.note_absent(label if is_there else None, before + place, block.path, number)
        if not kept:
            return
        positions = np.array(kept, dtype=np.int64) + (self._start + before)
        if wanted.text is None:
            texts = [f"(row {position + 1})" for position in positions.tolist()]
        else:
            texts = [text_of(columns[wanted.text][i], block, i) for i in kept]
        if self.most:
            cells = list(zip(*columns.values(), strict=True))
            rows = [
                SampledRow(text, labels[i], block.path, block.numbers[i], cells[i])
                for i, text in zip(kept, texts, strict=True)
            ]
            self._add(rows, positions)

    def _note_checked(self, block: Block, cells: Sequence[Any], start: int) -> None:
        """Note the labels by a person; LopsError: a row has another one already."""
        for row, cell in enumerate(cells):
            if is_unlabelled(cell):
                continue
            text = cell_text(cell)
            if self.checked.setdefault(start + row, text) != text:
                raise LopsError(
                    f"{block.place(row)}: checked as {text!r:.80} in column "
                    f"{self.wanted.checked!r}, and as {self.checked[start + row]!r:.80} in "
                    "--checked; correct one of them"
                )

    def _labels(self, block: Block, columns: dict[str, list[Any]]) -> list[Any]:
        """Return a label per row: its own, of soft labels the largest, of votes most of them."""
        wanted = self.wanted
        if wanted.votes:
            cells = [columns[name] for name in wanted.votes]
            for column in cells:
                self.labels.note_voted(column, block.path, block.numbers)
            return majority(cells, wanted.is_named)
        if wanted.label is not None:
            if not wanted.dropped:
                return columns[wanted.label]
            pairs = zip(columns[wanted.label], columns[str(wanted.source)], strict=True)
            return [None if source_name(s) in wanted.dropped else label for label, s in pairs]
        assert self._soft is not None
        rows = list(zip(*(columns[name] for name in self.wanted.soft), strict=True))
        return self._soft.labels(rows, lambda i: f"{block.unit} {block.numbers[i]}")

    def _check_gold(self, block: Block, gold: Sequence[Any]) -> None:
        for row, label in enumerate(gold):
            if isinstance(label, list | dict):
                raise LopsError(
                    f"{block.place(row)}: the gold label is {label!r:.60}; "
                    "wanted one class name per row; check --gold"
                )

    def _is_class(self, label: Hashable) -> bool:
        """Return whether a label is not named as no class."""
        if label not in self._named:
            key = int(name_keys([valid_text(str(label))])[0])
            self._keys[label] = key, not self.wanted.soft and bool(minus_one({label, 0, 1}))
            self._named[label] = self.wanted.is_named(label)
        return not self._named[label]

    def _add(self, rows: Sequence[SampledRow], positions: np.ndarray) -> None:
        """Draw from rows with a class."""
        keys = content_keys([row.text for row in rows], self.seed)
        of_labels = np.array([self._keys[row.label][0] for row in rows], dtype=np.uint64)
        minus = np.array([self._keys[row.label][1] for row in rows])
        first = np.isin(positions, list(self.checked))
        for draw, chosen in ((self._draw, ~minus), (self._minus, minus)):
            at = np.flatnonzero(chosen)
            chosen_rows = [rows[i] for i in at.tolist()]
            draw.add(keys[at], of_labels[at], positions[at], chosen_rows, first[at])

    def join(self, later: Survey) -> None:
        """Add a survey of rows that follow."""
        self.labels.join(later.labels)
        self._keys |= later._keys
        self.checked |= later.checked
        self._draw.join(later._draw)
        self._minus.join(later._minus)

    def classes(self) -> Classes:
        """Return the classes of the whole table; LopsError: labels that cannot be scored."""
        return self.labels.numbered(self.wanted)

    def is_enough(self, classes: Classes) -> bool:
        """Return whether the sample is complete in spite of the limits."""
        self._settle(classes)
        return self._draw.is_enough(classes.rows_by_key())

    def _settle(self, classes: Classes) -> None:
        if any(self._keys[label][1] for label in classes.name_of if label in self._keys):
            self._draw.join(self._minus)
            self._minus = Draw(self.most)

    def sample(self, classes: Classes) -> Sample:
        """Return the sample of the labelled rows, and forget it here, since it takes memory."""
        self._settle(classes)
        sample = Sample(self, self._draw, classes)
        self._draw = self._minus = Draw(self.most)
        return sample


class Sample:
    """The n sampled rows, in the order of the table.

    Attributes:
        drawn: keys, ids, positions and rows.
        texts, labels: as names; without a column of texts, row numbers in their place.
        gold, ids: None: no column. A missing gold label is None.
        vectors: (n, width) numbers to score in place of the texts; None: not given.
        classes: of the table.
        groups: of the rows; None: no column.
        reader: of votes; None: each row has one label.
        votes: of the rows; None: each has one label.

    """

    def __init__(self, survey: Survey, draw: Draw, classes: Classes) -> None:
        wanted, self.classes, self.drawn = survey.wanted, classes, draw.result()
        self._shown, self._checked = survey.labels.shown, survey.checked
        rows: list[SampledRow] = self.drawn.rows
        columns = zip(*(row.cells for row in rows), strict=True)
        cells = dict(zip(wanted.columns, columns, strict=True))
        self.texts = [row.text for row in rows]
        self.labels = [classes.name_of[row.label] for row in rows]
        self.gold: list[str | None] | None = None
        if wanted.gold is not None:
            self.gold = [
                None if is_unlabelled(label) else classes.gold_name(label)
                for label in cells[wanted.gold]
            ]
        self.ids = None if wanted.id is None else [cell_text(cell) for cell in cells[wanted.id]]
        self.groups = None if wanted.group is None else cells[wanted.group]
        self.reader: VoteReader | None = None
        self.votes: Votes | None = None
        if wanted.has_votes:
            self.reader = VoteReader(wanted, classes, cells.get(wanted.source or "", ()))
            self.votes = self.reader.votes([cells[name] for name in self.reader.columns])
        self.vectors: np.ndarray | None = None
        if is_file(wanted.embeddings):
            every = read_npy(Path(str(wanted.embeddings)), survey.labels.rows)
            self.vectors = np.asarray(every[self.drawn.positions])
        elif wanted.embeddings is not None:
            vectors = [*map(numbers, cells[wanted.embeddings])]
            self.vectors = matrix(vectors, f"--embeddings {wanted.embeddings}", self.place)

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


def read_rows(table: Table, wanted: Wanted) -> Sample:
    """Return all labelled rows of a table, after :meth:`Wanted.check`.

    Raises:
        LopsError: a text that is not a string, no labels or gold labels, labels of several types,
            or one class only.

    """
    survey = survey_of(table, wanted)
    return survey.sample(survey.classes())


def survey_of(table: Table, wanted: Wanted, **settings: Any) -> Survey:
    """Read a table, or a part of one; settings as for :class:`Survey`."""
    survey = Survey(wanted, **settings)
    survey.labels.notes = list(table.notes)
    for block in table.blocks(wanted.columns):
        survey.take(block)
    return survey


def text_of(text: Any, block: Block, row: int) -> str:
    """Return a text as it is scored; a LopsError with its place if it is no string."""
    if text is not None and not isinstance(text, str):
        raise LopsError(
            f"{block.place(row)}: the text is {text!r:.60} ({type(text).__name__}); wanted a "
            "string; check --text"
        )
    return valid_text(text or "")
