"""Rows written in another order than they are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.tables.readers import Block
from lops_adapters.tables.writers import Added, Writer


class Ordered:
    """A writer that keeps its rows in memory and hands them on in an order when it is left.

    Args:
        writer: of the file.
        order: (m,) int, places among all rows that are written, as they arrive.

    """

    def __init__(self, writer: Writer, order: np.ndarray) -> None:
        self._writer, self._order = writer, order
        self._blocks: list[Block] = []
        self._added: dict[str, list[Any]] = {}

    def __enter__(self) -> Ordered:
        self._writer.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            if not any(raised) and len(self._order):
                added = {
                    name: [values[i] for i in self._order.tolist()]
                    for name, values in self._added.items()
                }
                self._writer.write(_joined(self._blocks), self._order, added)
        finally:
            self._writer.__exit__(*raised)

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Keep rows of a block."""
        self._blocks.append(_part(block, rows))
        for name, values in added.items():
            self._added.setdefault(name, []).extend(values)


def _part(block: Block, rows: np.ndarray) -> Block:
    """Return some rows of a block."""
    at = rows.tolist()
    if block.values is not None:
        return Block(values=[block.values[i] for i in at])
    if block.lines is not None:
        return Block(lines=[block.lines[i] for i in at])
    return Block(batch=block.batch.take(rows))


def _joined(blocks: list[Block]) -> Block:
    """Return blocks of one kind as one."""
    first = blocks[0]
    if first.values is not None:
        return Block(values=[row for block in blocks for row in block.values or ()])
    if first.lines is not None:
        return Block(lines=[line for block in blocks for line in block.lines or ()])
    pyarrow = extras.load("pyarrow", "Ordering rows of Parquet")
    table = pyarrow.Table.from_batches([block.batch for block in blocks]).combine_chunks()
    return Block(batch=table.to_batches()[0])
