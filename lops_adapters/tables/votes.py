"""The votes of label sources in a table: columns of labels, or a column that names the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import cell_text, is_unlabelled
from lops_adapters.formats.readers import Table
from lops_adapters.selection.sources import Votes
from lops_adapters.tables.classes import Classes
from lops_adapters.tables.columns import Wanted, require
from lops_adapters.texts.abstentions import code_or_label


def vote_columns(table: Table, asked: Sequence[str], dropped: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that ``--labels`` names: names, lists of names and patterns.

    Args:
        table: with the columns.
        asked: such as ``rule1,rule2`` or ``rule*``.
        dropped: columns to leave out.

    Raises:
        LopsError: a name or a pattern that no column has, or fewer than two columns.

    """
    columns: list[str] = []
    for part in asked:
        for name in [part] if part in table.columns else part.split(","):
            matching = [column for column in table.columns if fnmatchcase(column, name)]
            if name in table.columns or not matching:
                require(table, name, "--labels")
                matching = [name]
            columns += matching
    unknown = [name for name in dropped if asked and name not in columns]
    if unknown:
        raise LopsError(
            f"--drop-source is {unknown[0]!r:.80}, and the sources are {listed(columns, 10)}; give "
            "one of them"
        )
    kept = tuple(dict.fromkeys(name for name in columns if name not in dropped))
    if asked and len(kept) < 2:
        raise LopsError(
            f"--labels names {len(kept)} column{'' if len(kept) == 1 else 's'}; wanted at least "
            "two, one per source; for one column of labels use --label"
        )
    return kept


def majority(cells: Sequence[Sequence[Any]], is_named: Callable[[Any], bool]) -> list[Any]:
    """Return the most frequent vote of each row; None without one. Ties: the first source's.

    It only groups rows until the votes are weighed. A vote of -1 counts if there is no other.

    Args:
        cells: of every source, a vote per row.
        is_named: whether a vote is named as none.

    """
    known: set[Any] = set().union(*cells)
    gone = {vote for vote in known if is_unlabelled(vote) or is_named(vote)}
    minus = {vote for vote in known - gone if code_or_label(vote) == -1}
    labels: list[Any] = []
    for row in zip(*cells, strict=True):
        votes = [cell for cell in row if cell not in gone]
        votes = [cell for cell in votes if cell not in minus] or votes
        labels.append(max(votes, key=votes.count) if votes else None)
    return labels


class VoteReader:
    """Reads blocks as votes; can be pickled.

    Args:
        wanted: the columns.
        classes: of the table.
        cells: of the column that names the sources, if there is one.

    Raises:
        LopsError: there is only one source, and none was dropped.

    """

    def __init__(self, wanted: Wanted, classes: Classes, cells: Sequence[Any] = ()) -> None:
        self._wanted, self._classes = wanted, classes
        self.sources = tuple(wanted.votes or sorted(set(map(source_name, cells))))
        if len(self.sources) < 2 and not wanted.votes and not wanted.dropped:
            raise LopsError(
                f"--source: all rows are from the source {self.sources[0]!r:.80}; leave --source "
                "out"
            )
        self._place = {name: i for i, name in enumerate(self.sources)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        if self._wanted.votes:
            return tuple(self._wanted.votes)
        return str(self._wanted.label), str(self._wanted.source)

    def votes(self, cells: Sequence[Sequence[Any]]) -> Votes:
        """Return the votes of rows, given the cells of every column."""
        if self._wanted.votes:
            codes = np.stack([self._classes.codes(column) for column in cells], axis=1)
        else:
            labels, sources = cells
            codes = np.full((len(labels), len(self.sources)), -1, dtype=np.int64)
            places = [self._place.get(source_name(source), -1) for source in sources]
            rows = np.flatnonzero(np.array(places) >= 0)
            columns = np.array(places, dtype=np.int64)[rows]
            codes[rows, columns] = self._classes.codes(labels)[rows]
        return Votes(self.sources, self._classes.names, codes.astype(np.int32))


def source_name(cell: Any) -> str:
    """Return the name of a source; missing ones are one source without a name."""
    return "" if is_unlabelled(cell) else cell_text(cell)
