"""Rows written as they were read, with added columns: CSV, TSV, JSONL and Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.tables.files import NOT_UTF8
from lops_adapters.tables.readers import Block, Table, import_pyarrow
from lops_adapters.tables.repairs import check_schema, valid, valid_text

_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")  # that begin a formula in a spreadsheet
Like = Mapping[str, str | type]  # new column -> a column whose type it has, or int or float
Added = Mapping[str, Sequence[Any]]  # new column -> one value per row, None: empty cell


class Writer(Protocol):
    """Write rows of blocks into one file; a context manager that completes the file on leaving."""

    def __enter__(self) -> Writer:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """Complete the file."""

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write the rows of a block at (m,) positions; ``added`` has m values per new column."""


def writer_for(
    path: Path, kind: str, table: Table, added: Sequence[str], like: Like, escape: bool = False
) -> Writer:
    """Return a writer.

    Args:
        path: of the file, which need not have the format's suffix.
        kind: csv, tsv, jsonl or parquet.
        table: where the rows come from.
        added: names of the new columns.
        like: new column -> the column of the table whose type it has, in Parquet, or int or float;
            default: text.
        escape: CSV and TSV: an apostrophe before cells that a spreadsheet takes for formulas.

    """
    if kind == "parquet":
        return ParquetRows(path, table, added, like)
    if kind == "jsonl":
        return JsonRows(path, table)
    return DelimitedRows(path, table, added, "\t" if kind == "tsv" else ",", escape)


def rehearse(table: Table, kind: str, added: Sequence[str], like: Like) -> None:
    """Raise what writing a table in a format would raise.

    All rows are converted if the format is not the table's: some values have no place there.
    """
    if kind == table.format:
        if table.schema is not None:
            check_schema(*import_pyarrow(table.paths[0]), table.schema, table.paths[0])
        return
    with writer_for(Path(os.devnull), kind, table, added, like) as writer:
        for block in table.blocks():
            nothing = dict.fromkeys(added, [None] * len(block))
            try:
                writer.write(block, np.arange(len(block)), nothing)
            except UnicodeDecodeError as error:
                raise LopsError(f"cannot read {table.paths[0]}: {NOT_UTF8.format(error)}") from None
            except RecursionError:
                raise LopsError(
                    f"{table.paths[0]}: a cell is nested too deeply for {kind}; "
                    f"give --format {table.format}"
                ) from None


class _TextFile:
    _encoding = "utf-8"

    def __init__(self, path: Path) -> None:
        self._path, self._stack = path, ExitStack()

    def __enter__(self) -> Any:
        self._file = self._stack.enter_context(
            self._path.open("w", encoding=self._encoding, newline="")
        )
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _begin(self) -> None:
        pass


class DelimitedRows(_TextFile):
    """CSV or TSV in UTF-8, with a header and the input's byte order mark, if it has one.

    Cells that were text stay as they are; a file of the same kind keeps its delimiter.
    """

    def __init__(
        self, path: Path, table: Table, added: Sequence[str], delimiter: str, escape: bool = False
    ) -> None:
        super().__init__(path)
        self._cell = without_formula if escape else cell_text
        self._table, self._added = table, list(added)
        self._encoding = "utf-8-sig" if table.marked else "utf-8"
        same_kind = table.format == ("tsv" if delimiter == "\t" else "csv")
        self._delimiter = table.delimiter if same_kind else delimiter

    def _begin(self) -> None:
        self._rows = storage.csv_writer(self._file, self._delimiter)
        self._rows.writerow([*map(valid_text, self._table.columns), *self._added])

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block."""
        cells = block.values if block.values is not None else list(_cells(self._table, block))
        new = [added[name] for name in self._added]
        extra: Iterable[Sequence[Any]] = zip(*new, strict=True) if new else repeat((), len(rows))
        for row, more in zip(rows.tolist(), extra, strict=True):
            self._rows.writerow(
                [*map(self._cell, cells[row]), *(self._cell(_number_text(cell)) for cell in more)]
            )


class JsonRows(_TextFile):
    """JSONL. An object that was read keeps its bytes; the new keys are appended."""

    def __init__(self, path: Path, table: Table) -> None:
        super().__init__(path)
        self._table = table

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block."""
        lines = block.lines
        if lines is None:
            records = (
                dict(zip(self._table.columns, cells, strict=True))
                for cells in _cells(self._table, block)
            )
            lines = [json_text(record) for record in records]
        for place, row in enumerate(rows.tolist()):
            if not added:
                self._file.write(f"{lines[row]}\n")
                continue
            head = lines[row][:-1].rstrip()  # without the closing brace
            more = json_text({name: values[place] for name, values in added.items()})
            self._file.write(f"{head}{'' if head == '{' else ', '}{more[1:]}\n")


class ParquetRows:
    """Parquet with the schema of the input, or one inferred from the first block."""

    def __init__(self, path: Path, table: Table, added: Sequence[str], like: Like) -> None:
        self._path, self._table, self._added, self._like = path, table, list(added), like
        self._pyarrow, self._parquet = import_pyarrow(path)
        self._file: Any = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is None and not any(raised):
            text = self._pyarrow.string()
            strings = self._pyarrow.schema([(name, text) for name in self._table.columns])
            self._open(self._table.schema or strings)
        if self._file is not None:
            self._file.close()

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block.

        Raises:
            LopsError: JSON objects with values of another type than in earlier blocks.

        """
        pa = self._pyarrow
        batch = block.batch if block.batch is not None else self._batch(block)
        if self._file is None:
            self._open(batch.schema)
        chosen = batch.take(pa.array(rows, type=pa.int64()))
        columns = [
            *chosen.columns,
            *(
                pa.array(valid(list(added[name])), type=self._schema.field(name).type)
                for name in self._added
            ),
        ]
        self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def _open(self, schema: Any) -> None:
        pa = self._pyarrow
        types = {
            "lops_learnt_at": pa.float64(),
            "lops_confidence": pa.float64(),
            "lops_selected": pa.bool_(),
        }
        for name in self._added:
            kind = types.get(name, pa.string())
            example = self._like.get(name)
            if isinstance(example, str):
                kind = schema.field(example).type
            elif example is not None:
                kind = pa.int64() if example is int else pa.float64()
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            schema = schema.append(pa.field(name, kind))
        self._schema = schema
        self._file = self._parquet.ParquetWriter(self._path, schema)

    def _batch(self, block: Block) -> Any:
        pa, names = self._pyarrow, [valid_text(name) for name in self._table.columns]
        cells = zip(*_cells(self._table, block), strict=True)
        columns = {name: list(values) for name, values in zip(names, cells, strict=True)}
        known = None
        if self._file is not None:
            known = pa.schema([self._schema.field(name) for name in names])
        try:
            return pa.RecordBatch.from_pydict(columns, schema=known)
        except (pa.ArrowException, TypeError) as error:
            raise LopsError(
                f"a column has values of several types ({error}); Parquet allows one; "
                "give --format jsonl"
            ) from None
        except OverflowError:
            raise LopsError(
                "a column has an integer of more than 64 bits, which Parquet does not hold; give "
                "--format jsonl"
            ) from None


def _cells(table: Table, block: Block) -> Any:
    """Return the rows of a block as values in the order of the columns."""
    if block.values is not None:
        return block.values
    if block.batch is not None:
        return zip(*(column.to_pylist() for column in block.batch.columns), strict=True)
    records = [valid(json.loads(line)) for line in block.lines or ()]
    for record in records:
        new = set(record) - set(map(valid_text, table.columns))
        if new:
            raise LopsError(
                f"a row has a key {sorted(new)[0]!r} that the first row lacks, "
                "so there is no column for it; give --format jsonl"
            )
    names = [valid_text(name) for name in table.columns]
    return ([record.get(name) for name in names] for record in records)


def values_of(table: Table, block: Block, column: str) -> list[Any]:
    """Return the values of one column of a block; of a JSON object without the key, None."""
    place = table.columns.index(column)
    if block.values is not None:
        return [row[place] for row in block.values]
    if block.batch is not None:
        return list(block.batch.column(place).to_pylist())
    return [json.loads(line).get(column) for line in block.lines or ()]


def cell_text(value: Any) -> str:
    """Return a value as the text of a CSV cell: empty for None, JSON for lists and objects.

    >>> [cell_text(value) for value in ("a", None, 1.5, True, ["x"])]
    ['a', '', '1.5', 'true', '["x"]']
    """
    if isinstance(value, str):
        return valid_text(value)
    if value is None:
        return ""
    return json_text(value) if isinstance(value, bool | list | dict) else str(value)


def without_formula(value: Any) -> str:
    """Return :func:`cell_text`, with an apostrophe before the sign of a formula.

    >>> [without_formula(value) for value in ("=1+1", "-2.5", "-x", "a")]
    ["'=1+1", '-2.5', "'-x", 'a']
    """
    text = cell_text(value)
    if not text.startswith(_SIGNS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _number_text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:.6g}" if isinstance(value, float) else cell_text(value)


def json_text(value: Any) -> str:
    """Return a value as JSON; a lone surrogate is escaped."""
    text = json.dumps(storage.plain(value), ensure_ascii=False, default=str)
    if valid_text(text) == text:
        return text
    return json.dumps(storage.plain(value), default=str)
