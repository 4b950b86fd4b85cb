"""The sample of a table: the rows among which labels are selected."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import cell_text, is_unlabelled
from lops_adapters.formats.files import reading
from lops_adapters.labels.checked_rows import Checked
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.columns import Columns, is_file
from lops_adapters.labels.labelled import Groups, Labelled
from lops_adapters.labels.naming import IDS, ROWS, TABLE, key_of
from lops_adapters.labels.soft import numbers
from lops_adapters.labels.tally import Tally
from lops_adapters.labels.votes import VoteReader, Votes
from lops_adapters.tables.draw import Drawn

_NOT_A_NUMBER = (TypeError, ValueError, OverflowError)


class SampledRow(NamedTuple):
    """A row of the sample; ``cells`` are of the columns that are read, in their order."""

    text: str
    label: Hashable
    path: Path
    number: int
    cells: tuple[Any, ...]


class Sample:
    """The n sampled rows, in the order of the table.

    Attributes:
        texts: of the rows; without a column of texts, row numbers in their place.
        rest: texts of sampled rows without a label.
        labelled: the rows with codes of the table's classes, by name, with votes and groups.
        gold, ids: None: no column. A missing gold label is None.
        vectors: (n, width) numbers to score in place of the texts; None: not given.
        groups: None: no column.
        shared_groups: (n,) int64 codes of the groups; -1: a row has none.
        reader: of votes; None: each row has one label.
    """

    def __init__(
        self,
        columns: Columns,
        classes: Classes,
        drawn: Drawn,
        rest: Drawn,
        tally: Tally,
        checked: Mapping[int, Checked],
    ) -> None:
        self.classes, self.drawn, self.columns = classes, drawn, columns
        self._shown, self._checked = tally.shown_places, checked
        rows: list[SampledRow] = self.drawn.rows
        of_columns = zip(*(row.cells for row in rows), strict=True)
        cells = dict(zip(columns.names, of_columns, strict=True))
        self.texts = [row.text for row in rows]
        self.rest = [row.text for row in rest.rows]
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
            every = read_npy(Path(str(columns.embeddings)), tally.rows)
            self.vectors = np.asarray(every[self.drawn.positions])
        elif columns.embeddings is not None:
            vectors = [*map(numbers, cells[columns.embeddings])]
            self.vectors = matrix(
                vectors, f"{typed('embeddings')} {columns.embeddings}", self.place
            )

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the table."""
        return len(self.texts) == int(self.classes.counts.sum())

    def checked(self) -> dict[int, str | None]:
        """Return position in the sample -> label by a person; None: none of the classes."""
        position = {row: i for i, row in enumerate(self.drawn.positions.tolist())}
        for row, (_, check) in self._checked.items():
            if check is not None and self.columns.text is not None and row in position:
                check([self.texts[position[row]]])
        outside = [row + 1 for row in self._checked if row not in position]
        if outside:
            raise LopsError(
                f"{len(outside):,} checked rows cannot be used: row {outside[0]:,} and such have "
                "no label, or the table has no such rows. Take rows of to_check.csv"
            )
        meant = self.classes.meant({one.label for one in self._checked.values()})
        return {position[row]: meant[one.label] for row, one in self._checked.items()}

    def keys(self, table: Mapping[str, str]) -> list[str] | None:
        """Return what names the rows in files; None: their numbers, in a table of known checksum.

        ``table`` as for :func:`~lops_adapters.labels.naming.naming`.
        """
        kind, column = self.columns.counted
        if not column or (kind == ROWS and table.get(TABLE)):
            return None
        cells = self.texts if self.ids is None or kind != IDS else self.ids
        return [key_of(kind, cell) for cell in cells]

    def place(self, positions: Sequence[int]) -> str:
        """Return where rows of the sample stand, for a message."""
        rows = [self.drawn.rows[i] for i in positions[:5]]
        return self._shown([(row.path, row.number) for row in rows], len(positions))


def read_npy(path: Path, n: int) -> np.ndarray:
    """Return a matrix of numbers with n rows from an .npy file, not read before it is used."""
    with reading(path):
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError:
            raise
        except Exception as error:  # of numpy, zipfile or Python's own parser
            raise LopsError(
                f"{typed('embeddings')} {path} cannot be read ({error!s:.100}); wanted a matrix of "
                "numbers, as numpy.save writes it"
            ) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        shape, kind = getattr(array, "shape", "?"), getattr(array, "dtype", type(array).__name__)
        raise LopsError(
            f"{typed('embeddings')} {path} holds {kind} of shape {shape}; wanted a matrix of "
            "numbers, a row per row of the table"
        )
    if len(array) != n:
        raise LopsError(
            f"{typed('embeddings')} {path} has {len(array):,} rows, and the table {n:,}; wanted "
            "one per row"
        )
    return array


def matrix(rows: Sequence[Any], option: str, where: Callable[[Sequence[int]], str]) -> np.ndarray:
    """Return lists of numbers of equal length as a matrix, (n, width) float32.

    ``option`` names their column and ``where`` positions, in the LopsError about a cell of another
    kind or length, or a number too large for a float.
    """
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    made = np.empty((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        fine = isinstance(row, list) and len(row) == width > 0
        try:
            made[i] = row if fine else np.nan
        except _NOT_A_NUMBER:
            fine = False
        if not fine:
            needed = f"{width} numbers, as in {where([0])}" if width and i else "a list of numbers"
            raise LopsError(f"{option}, {where([i])}: found {row!r:.60}; wanted {needed}")
    return made
