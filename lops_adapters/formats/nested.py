"""Exports whose records hold several annotations: a row per annotation, written back in place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Format, Names, Reading, Start, in_blocks
from lops_adapters.formats.json_array import ArrayBlock, RawObjects, around, objects, whole_text
from lops_adapters.formats.layouts import Layout, check_shape
from lops_adapters.formats.paths import Steps
from lops_adapters.formats.records import RecordBlock
from lops_adapters.formats.spans import changed, without


class Annotation(NamedTuple):
    """A row: its cells, the places of its labels in the record, and what deleting the row removes.

    ``parts``: elements of arrays; none: the record itself.
    """

    cells: dict[str, Any]
    places: dict[str, Steps]
    parts: list[Steps]


@dataclass
class NestedBlock(RecordBlock):
    """Annotations of consecutive records; ``texts`` of the records, if they are written again."""

    found: list[Annotation] = field(default_factory=list)
    record_of: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        texts = list(self.texts)
        for row, value in values.items() if texts else ():
            steps = self.found[row].places.get(column)
            if steps is None:
                raise LopsError(
                    f"{self.place(row)} has no label in {column!r} that could be replaced; label "
                    "it in the tool, or leave the row out of the corrections"
                )
            texts[self.record_of[row]] = changed(texts[self.record_of[row]], steps, value)
        block = super().replaced(column, values)
        return replace(block, texts=texts)  # type: ignore[call-arg]


class Nested(Format):
    """An array of records of a tool; it is told by its first one.

    ``shape``: of a record, see :mod:`~lops_adapters.formats.layouts`.
    """

    suffixes = ()
    unit = "row"
    native = "jsonl"
    copied = "json"
    shape: Any

    @abstractmethod
    def annotations(self, record: dict[str, Any]) -> list[Annotation]:
        """Return the annotations of a record; of one without, a row without labels."""

    @abstractmethod
    def layout(self, records: Sequence[dict[str, Any]]) -> Layout | None:
        """Return which columns hold texts, labels and annotators; None if several may."""

    def start(self, path: Path, reading: Reading) -> Start:
        """Read the names of all columns, and the text around the records."""
        text, about = around(path, reading)
        records = [record for _, _, record in objects(path, text)]
        for number, record in enumerate(records, 1):
            check_shape(record, self.shape, f"{path}, {self.unit} {number}")
        rows = (row.cells for record in records for row in self.annotations(record))
        names = tuple(dict.fromkeys(name for cells in rows for name in cells))
        return replace(about, format=self.name, columns=names, layout=self.layout(records))

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        text, _ = whole_text(path, start.reading)
        number, previous_end = 0, 0
        for records in in_blocks(objects(path, text)):
            block = NestedBlock(path, [], start.columns, [])
            for index, (begin, end, record) in enumerate(records):
                number += 1
                for row in self.annotations(record):
                    block.found.append(row)
                    block.record_of.append(index)
                    block.rows.append([row.cells.get(name) for name in start.columns])
                    block.numbers.append(number)  # type: ignore[attr-defined]
                if start.reading.raw:
                    block.texts.append(text[previous_end or begin : end])
                previous_end = end
            yield block

    def copier(self, path: Path, start: Start) -> base.Writer:
        return _Records(path, start)


class _Records(RawObjects):
    """Records of blocks, without the annotations of rows that are left out."""

    def write(self, block: Block, rows: np.ndarray, added: base.Added) -> None:
        assert isinstance(block, NestedBlock)
        texts, left = list(block.texts), set(range(len(block.texts)))
        parts: list[tuple[int, Steps]] = []
        for row in set(range(len(block))) - set(rows.tolist()):
            parts += [(block.record_of[row], steps) for steps in block.found[row].parts]
            left -= set() if block.found[row].parts else {block.record_of[row]}
        for record, steps in sorted(parts, reverse=True):  # the last first: others keep their place
            texts[record] = without(texts[record], steps)
        array = ArrayBlock(block.path, range(len(texts)), texts, raw=texts)
        super().write(array, np.array(sorted(left), dtype=np.int64), {})
