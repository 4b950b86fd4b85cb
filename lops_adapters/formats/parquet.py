"""Parquet: typed columns in row groups, read and written by pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.console import progress, typed
from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Names, Reading, Start
from lops_adapters.formats.cells import cell_text, valid, valid_text
from lops_adapters.formats.class_ids import class_id, class_names
from lops_adapters.formats.lines import BAR_FROM_BYTES, LARGE, Unpacked
from lops_adapters.remote import is_remote

_OF_PYTHON = {int: "int64", float: "float64", bool: "bool_"}  # others are written as text
_TYPES = {"lops_learnt_at": "float64", "lops_confidence": "float64", "lops_selected": "bool_"}


def import_pyarrow(path: Path) -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet; a LopsError about ``path`` if they are not installed."""
    extras.load("pyarrow.compute", str(path))
    return extras.load("pyarrow", str(path)), extras.load("pyarrow.parquet", str(path))


def opened(path: Path) -> Any:
    """Return a context manager that yields what pyarrow reads: a path, or a remote file."""
    return path.open("rb", buffering=0) if is_remote(path) else nullcontext(path)


@dataclass
class BatchBlock(Block):
    """A pyarrow RecordBatch.

    ``class_names``: as in :class:`~lops_adapters.formats.base.Start`.
    """

    batch: Any
    class_names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def unpacked(self) -> int:
        return int(self.batch.nbytes)

    def values(self, names: Sequence[str]) -> list[list[Any]]:
        """Return the values of columns: names of classes for their ids, None for other ids."""
        columns = [self._values(name) for name in names]
        for index, name in enumerate(names):
            if name in self.class_names:
                name_of = dict(enumerate(self.class_names[name])).get
                columns[index] = [
                    [*map(name_of, code)] if isinstance(code, list) else name_of(code)
                    for code in columns[index]
                ]
        return columns

    def _values(self, name: str) -> list[Any]:
        """Return the values of a column; as text where Python has no such date or time zone."""
        column = self.batch.column(self.batch.schema.get_field_index(name))
        pyarrow, _ = import_pyarrow(self.path)
        try:
            return list(column.to_pylist())
        except UnicodeDecodeError as error:
            raise LopsError(
                f"cannot read {self.path}: a text that is not UTF-8 ({error}); write the file again"
            ) from None
        except (ValueError, OverflowError, LookupError):
            pass
        try:
            return list(column.cast(pyarrow.string()).to_pylist())
        except pyarrow.ArrowException:
            raise LopsError(
                f"{self.path}: column {name!r} holds {column.type} values that Python cannot hold; "
                "cast it to text, or drop it"
            ) from None

    def records(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        return list(zip(*map(self._values, columns), strict=True))

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        if not values:
            return self
        pyarrow, _ = import_pyarrow(self.path)
        index = self.batch.schema.get_field_index(column)
        cells, kind = self._values(column), self.batch.schema.field(index).type
        known = self.class_names.get(column)
        for row, value in values.items():
            if known is not None and value is not None:
                value = class_id(known, value, column)  # noqa: PLW2901
            cells[row] = [value] if _is_list(pyarrow, kind) else value
        columns = list(self.batch.columns)
        columns[index] = _array(pyarrow, cells, self.batch.schema.field(index))
        batch = pyarrow.RecordBatch.from_arrays(columns, schema=self.batch.schema)
        return replace(self, batch=batch)


def _is_list(pyarrow: Any, kind: Any) -> bool:
    return bool(pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind))


class Parquet(base.Format):
    """Parquet. A part of a file is (its row groups, the number of rows before them)."""

    name = native = "parquet"
    suffixes: tuple[str, ...] = (".parquet", ".pq")
    unit = "row"

    def start(self, path: Path, reading: Reading) -> Start:
        pyarrow, parquet = import_pyarrow(path)
        try:
            with opened(path) as file:
                schema = parquet.read_schema(file)
        except pyarrow.ArrowException as error:
            raise LopsError(f"{path} cannot be read as Parquet ({error})") from None
        types = without_views(pyarrow, schema)
        return Start(self.name, tuple(schema.names), reading, types, names=class_names(schema))

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        pyarrow, parquet = import_pyarrow(path)
        groups, number = start.part or (None, 0)
        schema = start.types
        if columns is not None:
            schema = pyarrow.schema([schema.field(name) for name in dict.fromkeys(columns)])
        limit = Unpacked(path, "save it as JSONL")
        try:
            with (
                opened(path) as source,
                parquet.ParquetFile(source, pre_buffer=False) as file,  # or it keeps what was read
                progress(
                    total=file.metadata.num_rows,
                    unit="row",
                    desc=path.name,
                    quiet=start.reading.quiet or path.stat().st_size < BAR_FROM_BYTES,
                ) as bar,
            ):
                rows = _batch_rows(pyarrow, parquet, path, file, groups, schema)
                for batch in file.iter_batches(rows, groups, schema.names):
                    limit.count(batch.nbytes)
                    arrays = map(cast, batch.select(schema.names).columns, schema.types)
                    cast_batch = pyarrow.RecordBatch.from_arrays([*arrays], schema=schema)
                    numbers = range(number + 1, number + 1 + len(batch))
                    yield BatchBlock(path, numbers, cast_batch, start.names)
                    number += len(batch)
                    bar.update(len(batch))
        except pyarrow.ArrowException as error:
            raise LopsError(f"{path} cannot be read as Parquet ({error})") from None

    def parts(self, path: Path, rows: int) -> list[Any]:
        """Return consecutive row groups of at least so many rows."""
        _, parquet = import_pyarrow(path)
        with opened(path) as file:
            about = parquet.read_metadata(file)
        return grouped((about.row_group(i).num_rows for i in range(about.num_row_groups)), rows)

    def with_columns(
        self, start: Start, places: Sequence[int], like: str, added: Sequence[str]
    ) -> Any:
        """Return the schema of the columns at ``places``, and of added ones."""
        pyarrow, _ = import_pyarrow(Path(start.format))
        known = like in start.types.names  # a column that is read from others is of text
        kind = start.types.field(like).type if known else pyarrow.string()
        if pyarrow.types.is_dictionary(kind) or _is_list(pyarrow, kind):
            kind = kind.value_type
        fields = [start.types.field(index) for index in places]
        return pyarrow.schema([*fields, *((name, kind) for name in added)])

    def load(self, path: Path) -> None:
        import_pyarrow(path)

    def check_writable(self, path: Path, start: Start) -> None:
        """Raise a LopsError about the first column whose rows cannot be written as Parquet."""
        pyarrow, parquet = import_pyarrow(path)
        for one in start.types:
            alone = pyarrow.schema([one])
            try:
                empty = pyarrow.RecordBatch.from_arrays(
                    [pyarrow.array([], type=one.type)], schema=alone
                )
                with parquet.ParquetWriter(pyarrow.BufferOutputStream(), alone) as file:
                    file.write_batch(empty.take(pyarrow.array([], type=pyarrow.int64())))
            except pyarrow.ArrowException:
                raise LopsError(
                    f"{path}: column {one.name!r} has the type {one.type}, whose rows cannot "
                    "be written as Parquet; cast or drop the column, or give "
                    f"{typed('format', 'jsonl')}"
                ) from None

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: base.Like, escape: bool
    ) -> base.Writer:
        return ParquetRows(path, start, added, like)


def without_views(pyarrow: Any, schema: Any) -> Any:
    """Return a schema with plain strings and bytes; Arrow takes no rows of its other kinds."""
    plain = {"string_view": pyarrow.large_string(), "binary_view": pyarrow.large_binary()}
    for index, one in enumerate(schema):
        if str(one.type) in plain:
            schema = schema.set(index, one.with_type(plain[str(one.type)]))
    return schema


def cast(array: Any, kind: Any) -> Any:
    """Return an array of another type, or the same one."""
    return array if array.type == kind else array.cast(kind)


def _batch_rows(pyarrow: Any, parquet: Any, path: Path, file: Any, groups: Any, schema: Any) -> int:
    """Return how many rows to read at a time: fewer if they repeat long values.

    A column's dictionary holds each value once, so its longest one tells how large rows may be
    before any row is read. Raises a LopsError of pages that unpack to too much.
    """
    pages, about = Unpacked(path, "save it as JSONL"), file.metadata
    kinds = zip(schema.names, schema.types, strict=True)
    texts = [name for name, kind in kinds
             if any(is_kind(kind) for is_kind in (pyarrow.types.is_string, pyarrow.types.is_binary,
                    pyarrow.types.is_large_string, pyarrow.types.is_large_binary))]  # fmt: skip
    rows = base.BLOCK_ROWS
    with (
        opened(path) as source,
        parquet.ParquetFile(source, pre_buffer=False, read_dictionary=texts) as packed,
    ):
        for group in range(about.num_row_groups) if groups is None else groups:
            # Not by the metadata of its columns: pyarrow ends the process if these are damaged.
            pages.count(max(0, about.row_group(group).total_byte_size))
            longest = 1
            for name in texts:
                for batch in islice(packed.iter_batches(1, [group], [name]), 1):
                    lengths = pyarrow.compute.binary_length(batch.column(0).dictionary)
                    longest += pyarrow.compute.max(lengths).as_py() or 0
            rows = min(rows, max(1, LARGE // longest))
    return rows


def _array(pyarrow: Any, cells: list[Any], field: Any) -> Any:
    """Return the cells of a column; LopsError: one that its type cannot hold."""
    if pyarrow.types.is_string(field.type):  # labels may be dates or decimals
        cells = [cell if cell is None else cell_text(cell) for cell in cells]
    try:
        return pyarrow.array(cells, type=field.type)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise LopsError(
            f"column {field.name!r} has the type {field.type} ({error!s:.100}); wanted one that "
            f"holds every label; cast the labels to text, or give {typed('format', 'jsonl')}"
        ) from None


def grouped(sizes: Iterable[int], least: int) -> list[tuple[tuple[int, ...], int]]:
    """Return consecutive row groups of at least so many rows, and the rows before them.

    >>> grouped([60_000, 60_000, 5], 100_000)
    [((0, 1), 0), ((2,), 120000)]
    """
    parts: list[tuple[tuple[int, ...], int]] = []
    groups: list[int] = []
    first_row = rows = 0
    for number, size in enumerate(sizes):
        groups.append(number)
        rows += size
        if rows >= least:
            parts.append((tuple(groups), first_row))
            first_row, groups, rows = first_row + rows, [], 0
    return [*parts, (tuple(groups), first_row)] if groups or not parts else parts


class ParquetRows(base.Writer):
    """Parquet with the schema of the input, or one inferred from the first block."""

    def __init__(self, path: Path, start: Start, added: Sequence[str], like: base.Like) -> None:
        self._path, self._start, self._added, self._like = path, start, list(added), like
        self._pyarrow, self._parquet = import_pyarrow(path)
        self._columns = [valid_text(name) for name in start.columns]
        self._file: Any = None

    def __exit__(self, *raised: object) -> None:
        if self._file is None and not any(raised):
            text = self._pyarrow.string()
            strings = self._pyarrow.schema([(name, text) for name in self._columns])
            self._open(self._start.types or strings)
        if self._file is not None:
            self._file.close()
            if is_remote(self._path):
                self._sink.close()

    def write(self, block: Block, rows: np.ndarray, added: base.Added) -> None:
        """Write rows of a block."""
        pa = self._pyarrow
        batch = block.batch if isinstance(block, BatchBlock) else self._batch(block)
        if self._file is None:
            self._open(batch.schema)
        if not len(rows):
            return
        chosen = batch.take(pa.array(rows, type=pa.int64()))
        new = (_array(pa, valid(list(added[name])), self._schema.field(name))
               for name in self._added)  # fmt: skip
        columns = [*chosen.columns, *new]
        self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def _open(self, schema: Any) -> None:
        pa = self._pyarrow
        for name in self._added:
            kind, example = getattr(pa, _TYPES.get(name, "string"))(), self._like.get(name)
            if isinstance(example, str) and example not in self._start.names:
                kind = schema.field(valid_text(example)).type
            elif not isinstance(example, str | None):
                kind = getattr(pa, _OF_PYTHON.get(example, "string"))()
            if pa.types.is_dictionary(kind) or _is_list(pa, kind):
                kind = kind.value_type
            schema = schema.append(pa.field(name, kind))
        self._schema = schema
        self._sink: Any = self._path.open("wb") if is_remote(self._path) else self._path
        self._file = self._writer(self._sink, schema)

    def _writer(self, sink: Any, schema: Any) -> Any:
        return self._parquet.ParquetWriter(sink, schema)

    def _batch(self, block: Block) -> Any:
        """Return all rows of a block of another format."""
        pa = self._pyarrow
        rows = zip(*block.records(self._start.columns), strict=True)
        columns = {name: list(values) for name, values in zip(self._columns, rows, strict=True)}
        known = self._start.types if self._start.format == "parquet" else None
        if self._file is not None:
            known = pa.schema([self._schema.field(name) for name in self._columns])
        try:
            return pa.RecordBatch.from_pydict(columns, schema=known)
        except (pa.ArrowException, TypeError) as error:
            raise LopsError(
                f"a column has values of several types ({error}); Parquet allows one; "
                f"give {typed('format', 'jsonl')}"
            ) from None
        except OverflowError:
            raise LopsError(
                "a column has an integer of more than 64 bits, which Parquet does not hold; give "
                f"{typed('format', 'jsonl')}"
            ) from None
