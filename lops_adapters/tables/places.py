"""The lines or numbers of rows in the files of a table, for messages."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lops_adapters.tables.readers import Table

_SHOWN = 5  # places named in a message


class Places:
    """Lines or row numbers of all rows of a table."""

    def __init__(self, table: Table) -> None:
        self._unit, self._one_file = table.unit, len(table.paths) == 1
        self._numbers, self._starts = array("q"), array("q")
        self._paths: list[Path] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, path: Path, number: int) -> None:
        """Note the place of the next row."""
        if not self._paths or path != self._paths[-1]:
            self._paths.append(path)
            self._starts.append(len(self._numbers))
        self._numbers.append(number)

    def named(self, rows: Sequence[int]) -> str:
        """Return the places of rows for a message, the first of them."""
        files = np.searchsorted(self._starts, rows[:_SHOWN], side="right") - 1
        first = [
            (self._paths[file], self._numbers[row])
            for file, row in zip(files.tolist(), rows, strict=False)
        ]
        if len({path for path, _ in first}) == 1:
            shown = ", ".join(str(number) for _, number in first)
            shown += "" if self._one_file else f" of {first[0][0]}"
        else:
            shown = ", ".join(f"{number} of {path}" for path, number in first)
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        return f"{self._unit}{'s' if len(rows) > 1 else ''} {shown}{more}"
