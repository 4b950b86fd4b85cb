"""Files with one document per row: tables of every format, pickled frames, AG News's CSV."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lops_adapters import formats
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.rows import CorpusColumns, Rows, name_of
from lops_adapters.datasets.safe_pickle import read_frame
from lops_adapters.formats.base import Block, Reading
from lops_adapters.formats.cells import is_missing, single
from lops_adapters.formats.delimited import csv_records

_AGNEWS_HEADER = ["class index", "title", "description"]


def read_table(path: Path, columns: CorpusColumns) -> Rows:
    """Read a file of one of the formats of tables, or the AG News CSV, which has no header."""
    kind = formats.to_read(path)
    asked = (columns.text, columns.label, columns.id)
    reading = Reading(quiet=columns.quiet, nested=tuple(filter(None, asked)))
    start = kind.start(path, reading)
    if columns.text is None and kind.name == "csv" and _is_agnews_start(start.columns):
        columns.refuse(f"{path} (AG News)")
        return _agnews_rows(path, columns.quiet)
    chosen = columns.choose(start.columns, str(path))
    names = tuple(name for name in (chosen.text, chosen.label, chosen.id) if name is not None)
    blocks = (
        (block.numbers, dict(zip(names, _cells(block, names, chosen.label), strict=True)))
        for block in kind.blocks(path, start, names)
    )
    return _gather(path, blocks, chosen, kind.unit)


def _cells(block: Block, names: Sequence[str], label: str | None) -> list[list[Any]]:
    """Return cells of columns; a label that is NULL or such, without quotes, is None."""
    columns, missing = block.cells(names), {} if label is None else block.missing(label)
    for row in missing:
        columns[names.index(str(label))][row] = None
    return columns


def read_pickle(path: Path, columns: CorpusColumns) -> Rows:
    """Read a pickled pandas DataFrame without pandas and without running it.

    See ``safe_pickle``.
    """
    frame = read_frame(path)
    chosen = columns.choose(list(frame), str(path))
    return _gather(path, [(range(len(frame[str(chosen.text)])), frame)], chosen, "row")


def is_agnews(path: Path) -> bool:
    """Return whether a file starts as the AG News CSV: a class from 1 to 4, title, description."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    try:
        _, first = next(csv_records(path, quiet=True), (0, []))
    except LopsError:
        return False
    return _is_agnews_start(first)


def _is_agnews_start(record: Sequence[str]) -> bool:
    classed = len(record) == 3 and record[0] in published.AGNEWS_CLASSES
    return classed or [field.lower() for field in record] == _AGNEWS_HEADER


def _agnews_rows(path: Path, quiet: bool) -> Rows:
    texts, labels = [], []
    for line, record in csv_records(path, quiet):
        if line == 1 and [field.lower() for field in record] == _AGNEWS_HEADER:
            continue
        if len(record) != 3 or record[0] not in published.AGNEWS_CLASSES:
            raise LopsError(
                f"{path}, line {line}: found {record!r:.200}; "
                "wanted a class from 1 to 4, title, description"
            )
        texts.append(f"{record[1]} {record[2]}")
        labels.append(published.AGNEWS_CLASSES[record[0]])
    seeds = published.SEEDS["agnews"]
    return Rows(texts, labels=labels, classes=sorted(seeds), seeds=seeds)


def _gather(
    path: Path,
    blocks: Iterable[tuple[Sequence[int], Mapping[str, Sequence[Any]]]],
    chosen: CorpusColumns,
    unit: str,
) -> Rows:
    """Collect the chosen columns of blocks, which are the numbers of rows and their cells.

    Each cell is checked while its place in the file is known.
    """
    texts: list[str] = []
    labels: list[str] = []
    ids: list[str] = []
    for numbers, cells in blocks:
        rows = [f"{path}, {unit} {number}" for number in numbers]
        texts += _texts(cells[str(chosen.text)], rows, chosen)
        if chosen.label is not None:
            # Interned: a million rows share the names of a few classes.
            labels += map(sys.intern, _names(cells[chosen.label], rows, chosen.label))
        if chosen.id is not None:
            ids += _names(cells[chosen.id], rows, chosen.id)
    return Rows(
        texts,
        ids=ids if chosen.id is not None else None,
        labels=labels if chosen.label is not None else None,
    )


def _texts(cells: Sequence[Any], rows: Sequence[str], chosen: CorpusColumns) -> Iterator[str]:
    for text, row in zip(cells, rows, strict=True):
        if not isinstance(text, str):
            fault = "no text" if is_missing(text) else f"the text is {text!r:.80}"
            raise LopsError(
                f"{row}: {fault} in column {chosen.text!r}; wanted a string in every row. "
                "Drop the row, or write an empty string for an empty document"
            )
        yield text


def _names(cells: Sequence[Any], rows: Sequence[str], column: str) -> Iterator[str]:
    for cell, row in zip(cells, rows, strict=True):
        yield name_of(single(cell), f"{row}, column {column!r}")
