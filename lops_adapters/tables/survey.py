"""The first pass over a table that may not fit in memory: labels are counted, a sample is drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import is_unlabelled
from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.draw import Draw, Drawn, Limits
from lops_adapters.tables.classes import Classes, Labels
from lops_adapters.tables.readers import BLOCK_ROWS, Table
from lops_adapters.tables.repairs import valid_text
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.text_files import text_lines
from lops_adapters.tables.writers import cell_text
from lops_adapters.texts.abstentions import minus_one

PROBE_ROWS = 300_000  # of the sample, by default


def may_exceed(table: Table, most: int) -> bool:
    """Return whether a table may have more than ``most`` rows, from its lines, without parsing."""
    left = most
    for path in table.paths:
        if table.format == "parquet":
            left -= _parquet_rows(path)
        elif table.sheets:
            left -= sum(1 for _ in replace(table, paths=(path,)).cells([]))
        else:
            for _ in text_lines(path, table.encoding, True):
                left -= 1
                if left < -1:  # the header
                    return True
    return left < 0


def _parquet_rows(path: Path) -> int:
    from lops_adapters.tables.readers import import_pyarrow

    _, parquet = import_pyarrow(path)
    return int(parquet.read_metadata(path).num_rows)


@dataclass
class Survey:
    """What the first pass finds; those of consecutive parts of a table can be joined.

    Args:
        most: rows of the sample.
        seed: of the draw.
        limits: of the draw.

    Attributes:
        rows: of the table, also those without a label.
        labels: counted.

    """

    most: int
    seed: int
    limits: Limits | None = None
    rows: int = 0
    labels: Labels = field(default_factory=Labels)

    def __post_init__(self) -> None:
        self._draw = Draw(self.most, self.limits)
        # Whether -1 is a class is known only at the end, so its rows are drawn apart.
        self._minus = Draw(self.most, self.limits)
        self._keys: dict[Hashable, tuple[int, bool]] = {}

    def read(self, table: Table, wanted: Wanted, start: int = 0) -> None:
        """Read a table, or a part of one that begins at the row ``start``.

        Raises:
            LopsError: a text that is not a string, or a label that is no class name.

        """
        block: list[tuple[int, str, tuple[Any, ...]]] = []
        gone: dict[Hashable, bool] = {}  # label -> whether it is named as no class
        for path, number, cells in table.cells(_columns(wanted)):
            place = f"{path}, {table.unit} {number}"
            label = cells[1]
            is_there = self.labels.add(label, place)
            if is_there and label not in gone:
                gone[label] = wanted.abstain is not None and cell_text(label) in wanted.abstain
            if is_there and not gone[label]:
                block.append((start + self.rows, text_of(cells[0], place), cells))
            self.rows += 1
            if len(block) == BLOCK_ROWS:
                self._take(block)
                block = []
        self._take(block)

    def _take(self, block: Sequence[tuple[int, str, tuple[Any, ...]]]) -> None:
        if not block:
            return
        keys = content_keys([text for _, text, _ in block], self.seed)
        found = [self._key(cells[1]) for *_, cells in block]
        labels = np.array([key for key, _ in found], dtype=np.uint64)
        minus = np.array([is_minus for _, is_minus in found])
        positions = np.array([position for position, *_ in block], dtype=np.int64)
        for draw, chosen in ((self._draw, ~minus), (self._minus, minus)):
            at = np.flatnonzero(chosen)
            rows = [block[i][1:] for i in at.tolist()]
            draw.add(keys[at], labels[at], positions[at], rows)

    def _key(self, label: Hashable) -> tuple[int, bool]:
        """Return the hash of a label's name, and whether it is -1."""
        if label not in self._keys:
            key = int(content_keys([valid_text(str(label))], 0)[0])
            self._keys[label] = key, bool(minus_one({label, 0, 1}))
        return self._keys[label]

    def join(self, later: Survey) -> None:
        """Add a survey of rows that follow."""
        self.rows += later.rows
        self.labels.join(later.labels)
        self._draw.join(later._draw)
        self._minus.join(later._minus)

    def clear(self) -> None:
        """Forget the rows, which take memory."""
        self._draw = self._minus = Draw(self.most)

    def exceeds(self) -> bool:
        """Return whether there are more labelled rows than the sample has."""
        return sum(self.labels.counts.values()) > self.most

    def is_enough(self, classes: Classes) -> bool:
        """Return whether the sample is complete in spite of the limits."""
        self._settle(classes)
        counts = dict(zip(classes.keys().tolist(), classes.counts.tolist(), strict=True))
        return self._draw.is_enough(counts)

    def _settle(self, classes: Classes) -> None:
        if any(self._key(label)[1] for label in classes.name_of):
            self._draw.join(self._minus)
            self._minus = Draw(self.most)

    def sample(self, classes: Classes) -> Sample:
        """Return the sample of the labelled rows."""
        self._settle(classes)
        return Sample(self._draw.result(), classes)


class Sample:
    """The sampled rows, in the order of the table.

    Attributes:
        drawn: keys, ids, positions and (text, cells) of the rows.
        texts, labels: as names.
        values: the cells of gold label and id, where these columns are given.

    """

    def __init__(self, drawn: Drawn, classes: Classes) -> None:
        self.drawn = drawn
        self.texts: list[str] = [text for text, _ in drawn.rows]
        self.labels: list[str] = [classes.name_of[cells[1]] for _, cells in drawn.rows]
        self.values: list[tuple[Any, ...]] = [cells[2:] for _, cells in drawn.rows]

    def gold(self, wanted: Wanted, classes: Classes) -> list[str | None] | None:
        """Return the names of the gold labels, None for a missing one; None: no column."""
        if wanted.gold is None:
            return None
        return [None if is_unlabelled(v[0]) else classes.gold_name(v[0]) for v in self.values]

    def ids(self, wanted: Wanted) -> list[str] | None:
        """Return the ids; None: no column."""
        return None if wanted.id is None else [cell_text(v[-1]) for v in self.values]


def _columns(wanted: Wanted) -> list[str]:
    """Return the columns to read, texts and labels first; one may be there twice."""
    given = (wanted.text, wanted.label, wanted.gold, wanted.id)
    return [name for name in given if name is not None]


def text_of(text: Any, place: str) -> str:
    """Return a text as it is judged; a LopsError with its place if it is no string."""
    if text is not None and not isinstance(text, str):
        raise LopsError(
            f"{place}: the text is {text!r:.60} ({type(text).__name__}); wanted a string; "
            "check --text"
        )
    return valid_text(text or "")
