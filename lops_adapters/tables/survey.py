"""The first pass over a table: labels are counted and checked, a sample is drawn.

A table in memory is the case where the sample is everything.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block
from lops_adapters.formats.cells import cell_text, is_unlabelled, valid_text
from lops_adapters.formats.readers import Table
from lops_adapters.labels.checked_rows import Checked
from lops_adapters.labels.classes import Classes, read_classes
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.missing import minus_one
from lops_adapters.labels.reader import LabelReader
from lops_adapters.selection import Choice
from lops_adapters.selection.canonical import content_keys
from lops_adapters.tables.draw import Draw, Limits
from lops_adapters.tables.sample import Sample, SampledRow
from lops_adapters.texts.rest import MOST

PROBE_ROWS = 300_000  # of the sample, by default
LABEL = "lops_label"  # a column: of soft labels the largest, of votes the most probable
RELABEL = 0.9
EVERYTHING = sys.maxsize  # rows of a sample that is the table


@dataclass(frozen=True)
class TableJob:
    """What is asked for.

    Attributes:
        choice: how to select; few methods score rows outside their sample.
        probe_rows: rows of the sample.
        relabel: smallest probability of a suggestion that relabels a rejected row.
        escape: an apostrophe before cells that a spreadsheet takes for formulas.
        page: title, source and table of the page.
        checked: row of the table, from 0 -> label by a person.
    """

    columns: Columns
    choice: Choice
    probe_rows: int
    relabel: float = RELABEL
    escape: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    checked: Mapping[int, Checked] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""

    @property
    def most(self) -> int:
        """The rows of the sample; everything, if the method cannot score other rows."""
        plain = self.choice.row.assesses and self.columns.is_plain
        return self.probe_rows if plain else EVERYTHING

    @property
    def drawn(self) -> dict[str, Any]:
        """What a survey is told of its sample; no rows without a label if they get none."""
        labels_rest = self.choice.row.assesses and self.columns.is_plain
        rest = min(self.probe_rows, MOST) if labels_rest else 0
        return {"most": self.most, "seed": self.choice.seed, "rest": rest}


class Survey:
    """What the first pass finds; surveys of consecutive parts of a table can be joined.

    Args:
        seed, limits: of the draw.
        most: rows of the sample; 0: labels are only counted in ``tally``.
        start: position of the first row in the table.
        checked: row of the table, from 0 -> label by a person; with those of the column of checked
            labels, these rows are in the sample.
        rest: rows without a label that are drawn.
    """

    def __init__(
        self,
        columns: Columns,
        *,
        most: int = EVERYTHING,
        seed: int = 0,
        limits: Limits | None = None,
        start: int = 0,
        checked: Mapping[int, Checked] = MappingProxyType({}),
        rest: int = 0,
    ) -> None:
        self.columns, self.most, self.seed = columns, most, seed
        self._reader = LabelReader(columns)
        self.tally = self._reader.tally
        self._start, self.checked = start, dict(checked)
        self._draw = Draw(most, limits)
        # Whether -1 is a class is known only at the end, so its rows are drawn apart.
        self._minus = Draw(most, limits)
        self._rest = Draw(rest)
        self._keys = np.zeros(1, dtype=np.uint64)  # of the labels, by their numbers
        self._kinds = np.zeros(1, dtype=np.int64)  # 0: no class, 1: a class, -1: perhaps one

    def take(self, block: Block) -> None:
        """Read a block; LopsError: a text that is no string, or a label that is no class name."""
        columns, names = self.columns, self.columns.names
        cells = dict(zip(names, columns.cells(block, names), strict=True))
        for name in (columns.label, *columns.votes):
            if name is not None:
                self.tally.words.update(block.missing(name).values())
        start = self._start + self.tally.rows
        if columns.checked_column is not None:
            self._note_checked(block, cells[columns.checked_column], start)
        labels, of_rows = self._reader.take(cells, block)
        self._note_kinds()
        rows = np.arange(len(block)) if self._rest.most else np.flatnonzero(self._kinds[of_rows])
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
        for row, cell in enumerate(cells):
            if is_unlabelled(cell):
                continue
            text = cell_text(cell)
            known = self.checked.setdefault(start + row, Checked(text)).label
            if known != text:
                raise LopsError(
                    f"{block.place(row)}: checked as {text!r:.80} in column "
                    f"{self.columns.checked_column!r}, and as {known!r:.80} in "
                    f"{typed('checked')}; correct one of them"
                )

    def _note_kinds(self) -> None:
        new = self.tally.labels[len(self._keys) :]
        if not new:
            return
        keys = np.array(_keys(new), dtype=np.uint64)
        soft, is_named = self.columns.soft_labels, self.columns.is_named
        kinds = [
            0 if is_named(label) else -1 if not soft and minus_one({label, 0, 1}) else 1
            for label in new
        ]
        self._keys = np.concatenate([self._keys, keys])
        self._kinds = np.concatenate([self._kinds, np.array(kinds, dtype=np.int64)])

    def _add(self, rows: Sequence[SampledRow], of_rows: np.ndarray, positions: np.ndarray) -> None:
        keys = content_keys([row.text for row in rows], self.seed)
        of_labels, kinds = self._keys[of_rows], self._kinds[of_rows]
        first = np.isin(positions, list(self.checked))
        for draw, kind in ((self._draw, 1), (self._minus, -1), (self._rest, 0)):
            of_kind = np.flatnonzero(kinds == kind)
            chosen = [rows[i] for i in of_kind.tolist()]
            draw.add(keys[of_kind], of_labels[of_kind], positions[of_kind], chosen, first[of_kind])

    def join(self, later: Survey) -> None:
        """Add a survey of rows that follow."""
        self.tally.join(later.tally)
        self._note_kinds()
        self.checked |= later.checked
        self._draw.join(later._draw)
        self._minus.join(later._minus)
        self._rest.join(later._rest)

    def classes(self) -> Classes:
        """Return the classes of the whole table; LopsError: labels that cannot be scored."""
        return read_classes(self.tally, self.columns)

    def is_enough(self, classes: Classes) -> bool:
        """Return whether the sample is complete in spite of the limits."""
        self._settle(classes)
        return self._draw.is_enough(rows_by_key(classes))

    def _settle(self, classes: Classes) -> None:
        perhaps = [self.tally.labels[i] for i in np.flatnonzero(self._kinds < 0).tolist()]
        of = self._draw if any(label in classes.code_of for label in perhaps) else self._rest
        of.join(self._minus)
        self._minus = Draw(self.most)

    def sample(self, classes: Classes) -> Sample:
        """Return the sample, and forget it here, since it takes memory."""
        self._settle(classes)
        drawn, rest = self._draw.result(), self._rest.result()
        sample = Sample(self.columns, classes, drawn, rest, self.tally, self.checked)
        self._draw = self._minus = Draw(self.most)
        self._rest = Draw(self._rest.most)
        return sample


def rows_by_key(classes: Classes) -> dict[int, int]:
    """Return the hash of each label, as it was given and drawn by, -> its rows."""
    rows_of: Counter[int] = Counter()
    for key, rows in zip(_keys(classes.rows), classes.rows.values(), strict=True):
        rows_of[key] += rows
    return dict(rows_of)


def _keys(labels: Iterable[Hashable]) -> list[int]:
    # As bytes: unlike texts, labels differ by white space.
    return content_keys([valid_text(str(label)).encode() for label in labels], 0).tolist()


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
                f"string; check {typed('text')}"
            )
        texts.append("" if text is None else text if text.isascii() else valid_text(text))
    return texts
