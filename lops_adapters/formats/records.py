"""Rows as values, of tables that are put together from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lops_adapters.formats.base import Block


@dataclass
class RecordBlock(Block):
    """Rows of values, in the order of the columns."""

    columns: Sequence[str]
    rows: list[list[Any]]

    def values(self, names: Sequence[str]) -> list[list[Any]]:
        places = [self.columns.index(name) for name in names]
        return [[row[index] for row in self.rows] for index in places]

    def records(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        return list(self.rows)

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        index, rows = self.columns.index(column), list(self.rows)
        for row, value in values.items():
            rows[row] = [*rows[row][:index], value, *rows[row][index + 1 :]]
        return replace(self, rows=rows)


class LineBlock(RecordBlock):
    """Rows that are known by their lines."""

    unit = "line"
