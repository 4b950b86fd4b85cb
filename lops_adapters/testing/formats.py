"""What every file format promises."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Format, Reading


def check_format(
    format: Format, path: Path, rows: Sequence[Mapping[str, Any]], folder: Path
) -> None:
    """Check a file format.

    It names the columns, yields the rows in order and in blocks of any size with the place of each,
    refuses an empty file, and, if it is written, reads what it wrote.

    Args:
        format: need not be in :data:`lops_adapters.formats.FORMATS`.
        path: a file of the format.
        rows: what the file holds, column to value; the same columns in each.
        folder: an empty one, for files of the check.

    Raises:
        AssertionError: a promise is broken.
    """
    names = list(rows[0])
    start = format.start(path, Reading())
    lacking = [name for name in names if name not in start.columns]
    assert not lacking, f"{format.name}: the columns {start.columns} lack {lacking}"
    for size in (1, 2, len(rows) + 1):
        with mock.patch.object(base, "BLOCK_ROWS", size):
            _check_rows(format, list(format.blocks(path, start)), rows)
    for name in names:
        blocks = format.blocks(path, start, (name,))
        values = [value for block in blocks for value in block.cells([name])[0]]
        expected = [row[name] for row in rows]
        assert values == expected, f"{format.name}: alone, the column {name!r} holds other values"
    _check_empty(format, folder / f"empty{format.suffixes[0]}")
    if format.native == format.name:
        _check_written(format, path, rows, folder / f"written{format.suffixes[0]}")


def _check_rows(format: Format, blocks: Sequence[Block], rows: Sequence[Mapping[str, Any]]) -> None:
    names = list(rows[0])
    cells = [zip(*block.cells(names), strict=True) for block in blocks]
    read = [dict(zip(names, values, strict=True)) for part in cells for values in part]
    assert read == [dict(row) for row in rows], f"{format.name}: other rows, or in another order"
    numbers = [number for block in blocks for number in block.numbers]
    assert numbers == sorted(set(numbers)), f"{format.name}: numbers of rows do not ascend"
    places = {block.place(i) for block in blocks for i in range(len(block))}
    assert len(places) == len(rows), f"{format.name}: two rows have the same place"


def _check_empty(format: Format, path: Path) -> None:
    path.write_bytes(b"")
    message = ""
    try:
        format.start(path, Reading())
    except LopsError as error:
        message = str(error)
    assert message, f"{format.name} takes an empty file"
    assert path.name in message, f"{format.name}: the error names no file: {message}"


def _check_written(
    format: Format, path: Path, rows: Sequence[Mapping[str, Any]], output: Path
) -> None:
    start, (first, last) = format.start(path, Reading()), (0, len(rows) - 1)
    (block,) = format.blocks(path, start)
    with format.writer(output, start, ["added"], {}, False) as writer:
        writer.write(block, np.array([first, last]), {"added": ["one", "two"]})
    again = format.start(output, Reading())
    (block,) = format.blocks(output, again)
    expected = [{**rows[first], "added": "one"}, {**rows[last], "added": "two"}]
    names = list(expected[0])
    read = [dict(zip(names, row, strict=True)) for row in zip(*block.cells(names), strict=True)]
    assert read == expected, f"{format.name} reads {read} where it wrote {expected}"
