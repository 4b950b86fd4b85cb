"""Tables on disk, read as a stream: CSV, TSV, JSONL and Parquet, one or several files."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from lops_adapters import extras
from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.datasets.lines import BAR_FROM_BYTES
from lops_adapters.datasets.tables import DELIMITERS, csv_records
from lops_adapters.tables.files import format_to_read, is_sheet, reading
from lops_adapters.tables.repairs import writable_schema
from lops_adapters.tables.sheets import sheet_records
from lops_adapters.tables.text_files import check_wide, first_bytes, json_object, text_lines

BLOCK_ROWS = 8192


@dataclass(frozen=True)
class Block:
    """Consecutive rows as the file holds them; one of the three attributes is set.

    Attributes:
        values: CSV and TSV: rows of cells in the order of the columns, all strings.
        lines: JSONL: one JSON object per line, without the line end.
        batch: Parquet: a pyarrow RecordBatch.

    """

    values: list[list[str]] | None = None
    lines: list[str] | None = None
    batch: Any = None

    def __len__(self) -> int:
        return next(len(part) for part in (self.values, self.lines, self.batch) if part is not None)


@dataclass(frozen=True)
class Table:
    """Files with the same columns, read one after another, any number of times.

    Attributes:
        paths: the files.
        format: one of :data:`lops_adapters.tables.files.FORMATS`.
        columns: names of the columns; for JSONL, the keys of the first object.
        delimiter: of CSV and TSV.
        encoding: of CSV, TSV and JSONL.
        quiet: no progress bars.
        schema: pyarrow's schema of Parquet.
        sheet: of spreadsheets; None: the first.
        marked: the first file is CSV or TSV and begins with UTF-8's byte order mark, as Excel
            writes and expects it.
        groups: of Parquet, the row groups that are read; None: all.
        before: rows of the file before these.

    """

    paths: tuple[Path, ...]
    format: str
    columns: tuple[str, ...]
    delimiter: str
    encoding: str
    quiet: bool
    schema: Any = None
    marked: bool = False
    sheet: str | None = None
    groups: tuple[int, ...] | None = None
    before: int = 0

    @property
    def unit(self) -> str:
        """The unit of the numbers in :meth:`cells`: line or row."""
        return "row" if self.format == "parquet" or self.sheets else "line"

    @property
    def sheets(self) -> bool:
        """Whether the files are spreadsheets; their format is csv."""
        return is_sheet(self.paths[0])

    def cells(self, names: Sequence[str]) -> Iterator[tuple[Path, int, tuple[Any, ...]]]:
        """Yield (file, line or row number from 1, cells of the named columns).

        A missing key of a JSON object is None.

        Raises:
            LopsError: a bad byte, a row that does not fit the table, or a file of another format.

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
            yield from enumerate(rows, 1 + self.before)
        elif self.format == "jsonl":
            for number, line in self._json_lines(path):
                record = json_object(path, number, line)
                yield number, tuple(record.get(name) for name in names)
        else:
            places = [self.columns.index(name) for name in names]
            for number, fields in self._records(path):
                yield number, tuple(fields[place] for place in places)

    def blocks(self) -> Iterator[Block]:
        """Yield all rows in order, in blocks as the files hold them; raise as :meth:`cells`."""
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
        if is_sheet(path):
            records = sheet_records(path, self.sheet)
        else:
            lines = text_lines(path, self.encoding, self.quiet)
            records = csv_records(path, self.quiet, self.delimiter, lines)
        next(records, None)  # the header
        for line, record in records:
            if len(record) != len(self.columns):
                raise LopsError(
                    f"{path}, line {line}: found {len(record)} fields; wanted "
                    f"{len(self.columns)}, as in the header; quote fields that contain the "
                    "delimiter, or give --delimiter"
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
                parquet.ParquetFile(path, pre_buffer=False) as file,  # or it keeps what was read
                progress(
                    total=file.metadata.num_rows,
                    unit="row",
                    desc=path.name,
                    quiet=self.quiet or path.stat().st_size < BAR_FROM_BYTES,
                ) as bar,
            ):
                for batch in file.iter_batches(BLOCK_ROWS, self.groups, columns):
                    if columns is None:
                        arrays = [*map(_cast, batch.columns, self.schema.types)]
                        yield pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)
                    else:
                        yield batch.select(columns)
                    bar.update(len(batch))
        except pyarrow.ArrowException as error:
            raise LopsError(f"{path} cannot be read as Parquet ({error})") from None


def open_table(
    paths: Sequence[Path],
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    quiet: bool = False,
    sheet: str | None = None,
) -> Table:
    """Read the beginnings of files and return them as a table.

    Args:
        paths: at least one file, all of one format.
        delimiter: of CSV or TSV, one character; default: by the suffix.
        encoding: of text files, a name that Python knows.
        quiet: no progress bars.
        sheet: name of the sheet to read, of spreadsheets; default: the first.

    Raises:
        LopsError: an unknown suffix, several formats, different columns, an empty file, or two
            columns of one name.

    """
    kind = _format_of_all(paths)
    _check_options(kind, delimiter, encoding)
    if sheet is not None and not all(map(is_sheet, paths)):
        raise LopsError(f"--sheet is {sheet!r}, but {paths[0]} is no spreadsheet; leave it out")
    chosen = delimiter or DELIMITERS.get(f".{kind}", ",")
    schemas = {}
    for path in paths:
        with reading(path):
            if kind != "parquet" and not is_sheet(path):
                check_wide(path, encoding)
            schemas[path] = _start_of(path, kind, chosen, encoding, sheet)
    first = paths[0]
    columns, schema = schemas[first]
    for path, found in schemas.items():
        same_keys = kind == "jsonl" and set(found[0]) == set(columns)  # keys have no order
        if found != (columns, schema) and not same_keys:
            what = "types of columns" if found[0] == columns else "columns"
            raise LopsError(
                f"{path} has other {what} than {first}: {listed(map(repr, found[0]))}, "
                f"not {listed(map(repr, columns))}; give files with the same columns and types"
            )
    doubled = [name for name, times in Counter(columns).items() if times > 1]
    if doubled:
        times = columns.count(doubled[0])
        raise LopsError(f"{first}: {times} columns are named {doubled[0]!r}; rename all but one")
    text = kind in ("csv", "tsv") and not is_sheet(first)
    marked = text and first_bytes(first).startswith(codecs.BOM_UTF8)
    return Table(tuple(paths), kind, columns, chosen, encoding, quiet, schema, marked, sheet)


def _format_of_all(paths: Sequence[Path]) -> str:
    formats = sorted({"xlsx" if is_sheet(path) else format_to_read(path) for path in paths})
    if len(formats) > 1:
        raise LopsError(
            f"the files have several formats ({', '.join(formats)}); give files of one format"
        )
    return format_to_read(paths[0])


def _check_options(kind: str, delimiter: str | None, encoding: str) -> None:
    try:
        b"x".decode(encoding, "ignore")
    except (LookupError, ValueError):  # also of codecs that are not of text, such as hex
        raise LopsError(
            f"--encoding is {encoding!r}, which Python does not know; "
            "wanted a name such as utf-8, cp1252 or latin-1"
        ) from None
    if delimiter is not None and (
        len(delimiter) != 1 or delimiter in '"\r\n\0' or kind not in ("csv", "tsv")
    ):
        raise LopsError(
            f"--delimiter is {delimiter!r} for a {kind} file; wanted one character, for CSV or TSV"
        )


def _start_of(
    path: Path, kind: str, delimiter: str, encoding: str, sheet: str | None
) -> tuple[tuple[str, ...], Any]:
    """Return the names of a file's columns, and pyarrow's schema of Parquet."""
    if kind == "parquet":
        pyarrow, parquet = import_pyarrow(path)
        try:
            schema = parquet.read_schema(path)
        except pyarrow.ArrowException as error:
            raise LopsError(f"{path} cannot be read as Parquet ({error})") from None
        return tuple(schema.names), writable_schema(pyarrow, schema)
    lines = iter(()) if is_sheet(path) else text_lines(path, encoding, True)
    if kind == "jsonl":
        filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        number, line = next(filled, (0, ""))
        if not number:
            raise LopsError(f"{path} is empty; wanted one JSON object per line")
        return tuple(json_object(path, number, line)), None
    records = csv_records(path, True, delimiter, lines)
    _, header = next(sheet_records(path, sheet) if is_sheet(path) else records, (0, []))
    if not header:
        raise LopsError(f"{path} is empty; wanted a header with the names of the columns")
    return tuple(header), None


def _cast(array: Any, kind: Any) -> Any:
    return array if array.type == kind else array.cast(kind)


def import_pyarrow(path: Path) -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet; a LopsError about ``path`` if they are not installed."""
    return extras.load("pyarrow", str(path)), extras.load("pyarrow.parquet", str(path))


def _parts(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while part := list(islice(rows, BLOCK_ROWS)):
        yield part
