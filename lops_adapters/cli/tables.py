"""Tables on disk, read in a stream: CSV, TSV, JSONL and Parquet, one file or several with the same
columns.
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lops_adapters.cli.files import format_of, reading
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.datasets.lines import BAR_FROM_BYTES, raw_lines
from lops_adapters.datasets.tables import DELIMITERS, csv_records

BLOCK_ROWS = 8192
WIDE = {  # 32 first: its little-endian mark begins with that of 16
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


@dataclass(frozen=True)
class Block:
    """Some rows that follow one another, as the file holds them. One of the three is there.

    Attributes:
        values: rows of cells in the order of the columns, all strings; of CSV and TSV.
        lines: one JSON object a line, without the line's end; of JSONL.
        batch: a pyarrow RecordBatch; of Parquet.

    """

    values: list[list[str]] | None = None
    lines: list[str] | None = None
    batch: Any = None

    def __len__(self) -> int:
        return next(len(part) for part in (self.values, self.lines, self.batch) if part is not None)


@dataclass(frozen=True)
class Table:
    """Files with the same columns, read one after another as often as need be.

    Attributes:
        paths: the files.
        format: one of :data:`FORMATS`.
        columns: names of the columns; of JSONL the keys of the first object.
        delimiter: of CSV and TSV.
        encoding: of CSV, TSV and JSONL.
        quiet: no progress bars.
        schema: pyarrow's, of Parquet.
        marked: whether the first file is CSV or TSV and begins with the byte order mark of UTF-8,
            as Excel writes it and wants it.

    """

    paths: tuple[Path, ...]
    format: str
    columns: tuple[str, ...]
    delimiter: str
    encoding: str
    quiet: bool
    schema: Any = None
    marked: bool = False

    @property
    def unit(self) -> str:
        """What the numbers of :meth:`cells` count: lines of a file, or rows."""
        return "row" if self.format == "parquet" else "line"

    def cells(self, names: Sequence[str]) -> Iterator[tuple[Path, int, tuple[Any, ...]]]:
        """Yield (file, number of the line or row from 1, the cells of the named columns); a missing
        key of a JSON object is None.

        Raises:
            LopsError: a bad byte, a row that is no row of the table, or a file that is not of its
                format.

        """
        for path in self.paths:
            with reading(path):
                for number, cells in self._cells(path, names):
                    yield path, number, cells

    def _cells(self, path: Path, names: Sequence[str]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        if self.format == "parquet":
            rows = (
                row
                for batch in self._batches(path, list(names))
                for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)
            )
            yield from enumerate(rows, 1)
        elif self.format == "jsonl":
            for number, line in self._json_lines(path):
                record = _json_object(path, number, line)
                yield number, tuple(record.get(name) for name in names)
        else:
            places = [self.columns.index(name) for name in names]
            for number, fields in self._records(path):
                yield number, tuple(fields[place] for place in places)

    def blocks(self) -> Iterator[Block]:
        """Yield all rows in their order, in blocks, each as its file holds it; errors as of
        :meth:`cells`.
        """
        for path in self.paths:
            with reading(path):
                yield from self._blocks(path)

    def _blocks(self, path: Path) -> Iterator[Block]:
        if self.format == "parquet":
            yield from (Block(batch=batch) for batch in self._batches(path, None))
        elif self.format == "jsonl":
            lines = (line.strip() for _, line in self._json_lines(path))
            yield from (Block(lines=part) for part in _parts(lines))
        else:
            records = (record for _, record in self._records(path))
            yield from (Block(values=part) for part in _parts(records))

    def _records(self, path: Path) -> Iterator[tuple[int, list[str]]]:
        records = csv_records(
            path, self.quiet, self.delimiter, text_lines(path, self.encoding, self.quiet)
        )
        next(records, None)  # the header
        for line, record in records:
            if len(record) != len(self.columns):
                raise LopsError(
                    f"{path}, line {line}: {len(record)} fields, but the header names {len(self.columns)}; "
                    "put fields that contain the delimiter in quotes, or name the delimiter with --delimiter"
                )
            yield line, record

    def _json_lines(self, path: Path) -> Iterator[tuple[int, str]]:
        return (
            (number, line)
            for number, line in enumerate(text_lines(path, self.encoding, self.quiet), 1)
            if line.strip()
        )

    def _batches(self, path: Path, columns: list[str] | None) -> Iterator[Any]:
        pyarrow, parquet = import_pyarrow(path)
        try:
            with (
                parquet.ParquetFile(path) as file,
                tqdm(
                    total=file.metadata.num_rows,
                    unit="row",
                    desc=path.name,
                    disable=self.quiet or path.stat().st_size < BAR_FROM_BYTES,
                ) as bar,
            ):
                for batch in file.iter_batches(batch_size=BLOCK_ROWS, columns=columns):
                    yield batch if columns is None else batch.select(columns)
                    bar.update(len(batch))
        except pyarrow.ArrowException as error:
            raise LopsError(f"{path}: cannot be read as Parquet ({error})") from None


def open_table(
    paths: Sequence[Path],
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    quiet: bool = False,
) -> Table:
    """Look at the beginning of files and return them as a table.

    Args:
        paths: at least one file, all of one format.
        delimiter: of CSV or TSV, one character. Default: by the suffix.
        encoding: of text files, a name that Python knows.
        quiet: no progress bars.

    Raises:
        LopsError: an unknown suffix, files of several formats or with different columns, an empty
            file, two columns of one name.

    """
    formats = {format_of(path) for path in paths}
    if len(formats) > 1:
        raise LopsError(
            f"the files are of several formats ({', '.join(sorted(formats))}); give files of one format"
        )
    (kind,) = formats
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise LopsError(
            f"--encoding is {encoding!r}, which Python does not know; wanted a name such as utf-8, cp1252 or latin-1"
        ) from None
    if delimiter is not None and (len(delimiter) != 1 or kind not in ("csv", "tsv")):
        raise LopsError(
            f"--delimiter is {delimiter!r} for a {kind} file; wanted one character, for CSV or TSV"
        )
    chosen = delimiter or DELIMITERS.get(f".{kind}", ",")
    schemas = {}
    for path in paths:
        with reading(path):
            if kind != "parquet":
                _check_wide(path, encoding)
            schemas[path] = _start_of(path, kind, chosen, encoding)
    first = paths[0]
    for path, (columns, schema) in schemas.items():
        if (columns, schema) != schemas[first] and (
            kind != "jsonl" or set(columns) != set(schemas[first][0])
        ):
            what = "types of columns" if columns == schemas[first][0] else "columns"
            raise LopsError(
                f"{path} has other {what} than {first}: {listed(map(repr, columns))}, not {listed(map(repr, schemas[first][0]))}; "
                "give files with the same columns in the same order"
            )
    columns, schema = schemas[first]
    doubled = [name for name, times in Counter(columns).items() if times > 1]
    if doubled:
        raise LopsError(
            f"{first}: {columns.count(doubled[0])} columns are called {doubled[0]!r}; rename all but one"
        )
    marked = kind in ("csv", "tsv") and _first_bytes(first).startswith(codecs.BOM_UTF8)
    return Table(tuple(paths), kind, columns, chosen, encoding, quiet, schema, marked)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def _check_wide(path: Path, encoding: str) -> None:
    """Raise a LopsError where the byte order mark of a file names another encoding than the one it
    would be read in.
    """
    start, name = _first_bytes(path), codecs.lookup(encoding).name
    found = next((wide for wide, marks in WIDE.items() if start.startswith(marks)), None)
    if found is not None and not name.startswith(found):
        raise LopsError(
            f"{path} is in {found.upper()}, as its first bytes say, and not in {name}; give --encoding {found}"
        )


def _start_of(path: Path, kind: str, delimiter: str, encoding: str) -> tuple[tuple[str, ...], Any]:
    """Names of the columns of a file, and pyarrow's schema where it has one."""
    if kind == "parquet":
        pyarrow, parquet = import_pyarrow(path)
        try:
            schema = parquet.read_schema(path)
        except pyarrow.ArrowException as error:
            raise LopsError(f"{path}: cannot be read as Parquet ({error})") from None
        return tuple(schema.names), schema
    lines = text_lines(path, encoding, True)
    if kind == "jsonl":
        number, line = next(
            ((number, line) for number, line in enumerate(lines, 1) if line.strip()), (0, "")
        )
        if not number:
            raise LopsError(f"{path}: the file is empty; one JSON object a line is needed")
        return tuple(_json_object(path, number, line)), None
    _, header = next(csv_records(path, True, delimiter, lines), (0, []))
    if not header:
        raise LopsError(
            f"{path}: the file is empty; a header with the names of the columns is needed"
        )
    return tuple(header), None


def require(table: Table, name: str, option: str) -> None:
    """Raise a LopsError that names the columns there are, and the nearest, where a table lacks a
    column.
    """
    if name in table.columns:
        return
    hint = _about_delimiter(table, name)
    if not hint:
        lower = {column.lower(): column for column in reversed(table.columns)}
        near = get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
        hint = f" Did you mean {option} {lower[near[0]]!r}?" if near else ""
        if len(table.columns) == 1 and table.format in ("csv", "tsv"):
            hint += " Is --delimiter right?"
    raise LopsError(
        f"{table.paths[0]} has no column {name!r}; its columns are {listed(map(repr, table.columns))}.{hint}"
    )


def _about_delimiter(table: Table, name: str) -> str:
    """A sentence about the delimiter, where another one would make the column, or more than one
    column, of the header.
    """
    if table.format not in ("csv", "tsv"):
        return ""
    header = table.delimiter.join(table.columns)
    for other, given in ((",", "','"), (";", "';'"), ("\t", "tab"), ("|", "'|'")):
        names = [part.strip('"') for part in header.split(other)]
        if (
            other != table.delimiter
            and len(names) > 1
            and (len(table.columns) == 1 or name in names)
        ):
            return f" Its columns are separated by {given}: give --delimiter {given}"
    return ""


def text_lines(path: Path, encoding: str, quiet: bool) -> Iterator[str]:
    """Yield the lines of a text file, ends included; only a line feed ends a line.

    Raises:
        LopsError: bytes that are not of the encoding, with the line.

    """
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        try:
            yield from raw_lines(path, quiet)
        except LopsError as error:
            raise LopsError(
                f"{error}, or name the encoding it has, for instance --encoding cp1252"
            ) from None
        return
    number = 0
    try:
        with path.open(encoding=encoding, newline="\n") as file:
            for number, line in enumerate(file, 1):  # noqa: B007 (for the message)
                yield line
    except UnicodeError as error:
        raise LopsError(
            f"{path}, after line {number}: these bytes are not {encoding} ({error}); give another --encoding"
        ) from None


def import_pyarrow(path: Path) -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet, or raise a LopsError that says how to install them."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise LopsError(
            f"{path}: Parquet needs pyarrow, which is not installed; run: pip install 'lops_adapters[parquet]'"
        ) from None
    return pyarrow, parquet


def _json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise LopsError(
            f"{path}, line {number}: no JSON ({error}); one JSON object a line is needed"
        ) from None
    if not isinstance(record, dict):
        raise LopsError(
            f"{path}, line {number}: found {record!r:.80}; one JSON object a line is needed"
        )
    return record


def _parts(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while part := list(islice(rows, BLOCK_ROWS)):
        yield part
