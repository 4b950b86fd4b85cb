"""JSONL: one JSON object per line. An object that is written again keeps its bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Names, Reading, Start, in_blocks
from lops_adapters.formats.cells import json_text, valid, valid_text
from lops_adapters.formats.lines import beginning, binary, text_lines
from lops_adapters.formats.paths import columns_of, steps_to, value_at
from lops_adapters.formats.quotes import SCANNED
from lops_adapters.formats.raw import RawRows
from lops_adapters.formats.spans import changed, items

_LONGEST = 2**20  # bytes of the first line that tell the layout
_BREAK = re.compile(r"(?<![ \t])[ \t]*[\r\n]\s*")  # each run of spaces is looked at once


def json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """Return the JSON object of a line; raise a LopsError if it is not one."""
    expected = "wanted one JSON object per line"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError: also of thousands of digits
        raise LopsError(f"{path}, line {number}: not JSON ({error}); {expected}") from None
    if not isinstance(record, dict):
        raise LopsError(f"{path}, line {number}: found {record!r:.80}; {expected}")
    return record


@dataclass
class JsonBlock(Block):
    """Lines with a JSON object each, without the line end."""

    unit = "line"
    lines: list[str]

    def _objects(self) -> Iterator[dict[str, Any]]:
        for number, line in zip(self.numbers, self.lines, strict=True):
            yield json_object(self.path, number, line)

    def values(self, names: Sequence[str]) -> list[list[Any]]:
        paths = any("." in name for name in names)
        get: Any = value_at if paths else dict.get
        rows = [[get(record, name) for name in names] for record in self._objects()]
        return [list(column) for column in zip(*rows, strict=True)]

    def records(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        """Return the values of the columns; a LopsError about a key that is no column."""
        names, rows = [valid_text(name) for name in columns], list[Sequence[Any]]()
        for record in map(valid, self._objects()):
            new = record.keys() - names
            if new:
                raise LopsError(
                    f"a row has a key {min(new)!r} that no row in the first {SCANNED >> 20} MiB "
                    f"has, so there is no column for it; give {typed('format', 'jsonl')}"
                )
            rows.append([value_at(record, name) for name in names])
        return rows

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        """Return the block with other values of a key; in a list if the value was in one."""
        lines, raw = list(self.lines), None if self.raw is None else list(self.raw)
        for row, value in values.items():
            record = json_object(self.path, self.numbers[row], lines[row])
            old = record.get(column)
            if column in record or "." not in column:
                new = [value] if isinstance(old, list) else value
                lines[row] = with_value(lines[row], column, new)
            else:
                steps = steps_to(record, column)
                if steps is None:
                    raise LopsError(
                        f"{self.place(row)} has no value at {column!r} that could be replaced; "
                        "leave the row out of the corrections"
                    )
                lines[row] = changed(lines[row], steps, value)
            if raw is not None:
                raw[row] = raw[row].replace(self.lines[row], lines[row], 1)
        return replace(self, lines=lines, raw=raw)


class Jsonl(base.Format):
    """JSONL."""

    name = native = "jsonl"
    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")
    packs = True
    ordered = False
    block: type[JsonBlock] = JsonBlock

    def fitting(self, path: Path) -> str:
        """Return prodigy for its examples, else jsonl."""
        if not path.is_file():
            return self.name
        with binary(path) as file:
            first = file.readline(_LONGEST)
        return "prodigy" if b'"_task_hash"' in first and b'"answer"' in first else self.name

    def start(self, path: Path, reading: Reading) -> Start:
        with binary(path) as file:
            mark = beginning(path, file, reading.encoding)
            lines = text_lines(path, reading.encoding, True, file)
            records = (json_object(path, number, line) for number, line in _first(lines))
            columns = columns_of(records, reading.nested)
        if not columns:
            raise LopsError(f"{path} is empty; wanted one JSON object per line")
        return Start(self.name, columns, reading, mark=mark)

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        lines = text_lines(path, start.reading.encoding, start.reading.quiet)
        if start.reading.raw:
            for parts in in_blocks(_with_text(lines)):
                numbers, texts = zip(*parts, strict=True)
                yield self.block(path, numbers, [*map(str.strip, texts)], raw=list(texts))
            return
        for rows in in_blocks(_filled(lines)):
            numbers, objects = zip(*rows, strict=True)
            yield self.block(path, numbers, list(objects))

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: base.Like, escape: bool
    ) -> base.Writer:
        return JsonRows(path, start.columns)

    def copier(self, path: Path, start: Start) -> base.Writer:
        return RawRows(path, start)


def _filled(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number, line.strip()) for number, line in enumerate(lines, 1) if line.strip())


def _first(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    size = 0
    for number, line in _filled(lines):
        yield number, line
        size += len(line)
        if size > SCANNED:
            return


def _with_text(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, each with blank lines after it, the first with those
    before it.
    """
    text, line_number = "", 0
    for number, line in enumerate(lines, 1):
        if line.strip() and line_number:
            yield line_number, text
            text, line_number = "", 0
        text, line_number = text + line, number if line.strip() else line_number
    if line_number:
        yield line_number, text


class JsonRows(base.Writer):
    """An object that was read keeps its bytes; the new keys are appended."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        super().__init__(path, "utf-8")
        self._columns = columns

    def write(self, block: Block, rows: np.ndarray, added: base.Added) -> None:
        if isinstance(block, JsonBlock):
            lines = block.lines
        else:
            records = block.records(self._columns)
            lines = [json_text(dict(zip(self._columns, cells, strict=True))) for cells in records]
        for index, row in enumerate(rows.tolist()):
            if not added:
                self._put(lines[row])
                continue
            head = lines[row][:-1].rstrip()  # without the closing brace
            added_text = json_text({name: values[index] for name, values in added.items()})
            self._put(f"{head}{'' if head == '{' else ', '}{added_text[1:]}")

    def _put(self, text: str) -> None:
        """Write an object; a line break in it, which stands between its parts, becomes a space."""
        self._file.write(f"{_BREAK.sub(' ', text)}\n")


def with_value(line: str, key: str, value: Any) -> str:
    """Return a line with a JSON object, with another value of a key; a missing key is appended.

    Of a key that occurs twice, both values are replaced.

    >>> with_value('{"n": 1.50, "label":"a" , "in": {"label": 1}}', "label", "b")
    '{"n": 1.50, "label":"b" , "in": {"label": 1}}'
    """
    text, replaced = json_text(value), 0
    spans = [(start, end) for name, start, end in items(line, line.index("{")) if name == key]
    for start, end in reversed(spans):
        line, replaced = line[:start] + text + line[end:], replaced + 1
    if replaced:
        return line
    head = line.rstrip()[:-1].rstrip()  # without the closing brace
    return f"{head}{'' if head.endswith('{') else ', '}{json_text({key: value})[1:]}"
