"""What every format has: how files begin, blocks of rows, and writers of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from lops_adapters.formats.layouts import Layout

BLOCK_ROWS = 8192
Like = Mapping[str, str | type]  # new column -> a column whose type it has, or a type of Python
Added = Mapping[str, Sequence[Any]]  # new column -> one value per row, None: empty cell
Names = tuple[str, ...]
Row = TypeVar("Row")


@dataclass(frozen=True)
class Reading:
    """How files are read.

    Attributes:
        delimiter: of CSV and TSV; empty: decided from the first lines.
        sheets: of spreadsheets; none: the first.
        header_row: line of the names of columns of CSV, TSV and spreadsheets, or one before it.
        quotes: whether quotes hold cells of CSV and TSV together; None: decided from the file.
        keep_na: cells such as NULL and N/A are text in CSV, TSV and spreadsheets, too.
        nested: names that may be paths to nested values of JSON.
        raw: blocks of text formats hold the text of every row, to write it again.
    """

    delimiter: str = ""
    encoding: str = "utf-8"
    quiet: bool = True
    sheets: tuple[str, ...] = ()
    header_row: int = 1
    quotes: bool | None = None
    keep_na: bool = False
    raw: bool = False
    nested: tuple[str, ...] = ()


@dataclass(frozen=True)
class Start:
    """The beginning of a file, and how it is read on.

    Attributes:
        columns: their names; of JSON, all keys, and paths that are asked for.
        types: of the columns, where the format has types: pyarrow's schema.
        marked: the text begins with UTF-8's byte order mark, as Excel writes and expects it.
        names: column of class ids -> the names of the classes, where the file holds them.
        mark: the first bytes of a text.
        header, footer: the text before and behind the rows.
        layout: columns by the tool that wrote the file, if its records tell them.
        part: the only rows to read, one of :meth:`Format.parts`; None: all.
        notes: sentences about what is read, and what is not.
    """

    format: str
    columns: Names
    reading: Reading
    types: Any = None
    marked: bool = False
    part: Any = None
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mark: bytes = b""
    header: str = ""
    footer: str = ""
    layout: Layout | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Derived:
    """A column that is read from others, and never written; can be pickled.

    Attributes:
        parts: the columns that it is read from.
        read: (block, cells of each part) -> its cells.
    """

    parts: Names
    read: Callable[[Block, list[list[Any]]], list[Any]]


@dataclass
class Block(ABC):
    """Consecutive rows of one file, as the file holds them.

    Attributes:
        numbers: line or number, from 1, of each row.
        unit: of the numbers: line or row.
        raw: the text of each row, with its line end; None: not asked for, or no text format.
        derived: further columns, by their names.
    """

    path: Path
    numbers: Sequence[int]
    unit: ClassVar[str] = "row"
    raw: list[str] | None = field(default=None, kw_only=True)
    derived: Mapping[str, Derived] = field(default_factory=dict, kw_only=True)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def unpacked(self) -> int:
        """How many bytes more than the file its rows take, for formats that pack."""
        return 0

    def place(self, row: int) -> str:
        """Return where a row of the block stands, for messages."""
        return f"{self.path}, {self.unit} {self.numbers[row]}"

    def missing(self, name: str) -> dict[int, str]:
        """Return row in the block -> cell of a column that says in words that it is missing."""
        return {}

    def cells(self, names: Sequence[str]) -> list[list[Any]]:
        """Return the values of columns, also of derived ones, a list each.

        None for a missing key of a JSON object. Raises a LopsError: a row that cannot be read, with
        its place.
        """
        derived = {name: self.derived[name] for name in names if name in self.derived}
        if not derived:
            return self.values(names)
        read = {name: one.read(self, self.values(one.parts)) for name, one in derived.items()}
        return [read[name] if name in read else self.values([name])[0] for name in names]

    @abstractmethod
    def values(self, names: Sequence[str]) -> list[list[Any]]:
        """Return the values of columns of the file, as :meth:`cells`."""

    @abstractmethod
    def records(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        """Return the rows as values in the order of the columns of the table, for other formats.

        Raises a LopsError: a value that has no column.
        """

    @abstractmethod
    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        """Return the block with other values in a column, by the place of the row in the block.

        Everything else stays as it is, in the file's own text where it has one.
        """


class Writer(ABC):
    """Write rows of blocks into one file; a context manager that completes the file on leaving.

    ``encoding``: of the file, if it is a text.
    """

    def __init__(self, path: Path, encoding: str) -> None:
        self._file: Any = path.open("w", encoding=encoding, newline="")

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    @abstractmethod
    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write the rows of a block at (m,) positions; ``added`` has m values per new column.

        Raises a LopsError: a value that the format cannot hold.
        """


class Format(ABC):
    """A file format.

    Attributes:
        name: as in the option ``format``.
        suffixes: of its files, in lower case.
        unit: of the numbers of rows: line or row.
        packs: a file may also be packed by gzip.
        native: the format that its rows are written in, if no other is asked for; another one
            where the format is only read.
        copied: the format, by its suffix, that :meth:`copier` writes; empty: its name.
        ordered: whether columns have an order.
        names_differ: no two columns have the same name.
    """

    name: str
    suffixes: tuple[str, ...]
    unit: str = "line"
    packs: bool = False
    native: str
    copied: str = ""
    ordered: bool = True
    names_differ: bool = True

    def fitting(self, path: Path) -> str:
        """Return the name of the format of a file with this suffix, by its contents."""
        return self.name

    def counts(self, path: Path) -> bool:
        """Return whether a file of a folder counts as one of its tables."""
        return True

    @abstractmethod
    def start(self, path: Path, reading: Reading) -> Start:
        """Read the beginning of a file; a LopsError if it is empty or of another format."""

    @abstractmethod
    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        """Yield the rows of a file in blocks.

        Args:
            start: its beginning, or the one of the first file of several.
            columns: the only ones that are asked for, so that others need not be read.

        Raises a LopsError: what cannot be read, with its place.
        """

    def parts(self, path: Path, rows: int) -> list[Any]:
        """Return the parts of a file that are read apart, of about so many rows; None: all of it.

        Text cannot be cut, since a quoted cell may hold line ends.
        """
        return [None]

    def with_columns(
        self, start: Start, places: Sequence[int], like: str, added: Sequence[str]
    ) -> Any:
        """Return the types of the columns at ``places``, and of added ones; None without types.

        The added columns have the type of the column ``like``.
        """
        return None

    def load(self, path: Path) -> None:  # noqa: B027 (most need none)
        """Raise a LopsError about ``path`` if a library of the format is not installed."""

    def check_writable(self, path: Path, start: Start) -> None:  # noqa: B027 (most can)
        """Raise a LopsError about rows of this format that cannot be written in it again."""

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: Like, escape: bool
    ) -> Writer:
        """Return a writer of rows.

        Args:
            path: of the file, which need not have the format's suffix.
            start: of the table that the rows come from, of any format.
            like: new column -> the column of the table whose type it has, in Parquet, or a type of
                Python; default: text.
            escape: CSV and TSV: an apostrophe before cells that a spreadsheet takes for formulas.
        """
        raise NotImplementedError(f"{self.name} is only read")

    def copies(self, kind: str) -> bool:
        """Return whether :meth:`copier` writes a file of a format, by its suffix."""
        return kind == (self.copied or self.name)

    def copier(self, path: Path, start: Start) -> Writer:
        """Return a writer of rows of this format, which keep their text if the format is text.

        The table is read with ``Reading.raw``. Other formats are written anew.
        """
        return self.writer(path, start, (), {}, False)


def in_blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows in lists of at most :data:`BLOCK_ROWS`."""
    rows = iter(rows)
    while part := list(islice(rows, BLOCK_ROWS)):
        yield part
