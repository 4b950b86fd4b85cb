"""JSON: one array of objects. An object that is written again keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Names, Reading, Start, in_blocks
from lops_adapters.formats.jsonl import JsonBlock, Jsonl, JsonRows
from lops_adapters.formats.lines import beginning, binary, text_lines
from lops_adapters.formats.paths import columns_of
from lops_adapters.formats.quotes import SCANNED
from lops_adapters.formats.raw import RawRows

_BETWEEN = ",\n"
_STARTS = 2**20  # bytes that tell the layout
_DECODER = json.JSONDecoder()


class ArrayBlock(JsonBlock):
    """Objects of an array."""

    unit = "row"


class Json(Jsonl):
    """A JSON file: an array of objects. Lines of objects and exports are told by their start."""

    name = native = "json"
    suffixes = (".json",)
    unit = "row"

    def fitting(self, path: Path) -> str:
        """Return the format of lines of objects, of one object, of a tool's records, or json."""
        if not path.is_file():
            return self.name
        start = _first_text(path)
        if start.startswith("{"):
            line, _, rest = start.partition("\n")
            return "jsonl" if _is_object(line) and rest.strip() else "json-table"
        return _tool(start) or self.name

    def counts(self, path: Path) -> bool:
        """Return whether the file is an array of objects; others of a folder may be settings."""
        start = _first_text(path)
        return start.startswith("[") and start[1:].lstrip().startswith("{")

    def start(self, path: Path, reading: Reading) -> Start:
        """Read the keys of all objects, and the text around the objects."""
        text, start = around(path, reading)
        first = takewhile(lambda one: one[0] < SCANNED, objects(path, text))
        columns = columns_of((record for _, _, record in first), reading.nested)
        return replace(start, columns=columns)

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        text, _ = whole_text(path, start.reading)
        number, previous_end = 0, 0
        for rows in in_blocks(objects(path, text)):
            spans = [(begin, end) for begin, end, _ in rows]
            raw: list[str] | None = [] if start.reading.raw else None
            for begin, end in spans if raw is not None else ():
                raw.append(text[previous_end or begin : end])  # type: ignore[union-attr]
                previous_end = end
            numbers = range(number + 1, number + 1 + len(rows))
            yield ArrayBlock(path, numbers, [text[begin:end] for begin, end in spans], raw=raw)
            number += len(rows)

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: base.Like, escape: bool
    ) -> base.Writer:
        return ArrayRows(path, start.columns)

    def copier(self, path: Path, start: Start) -> base.Writer:
        """Return a writer of objects that keep their text, and what stands between them."""
        return RawObjects(path, start)


def around(path: Path, reading: Reading) -> tuple[str, Start]:
    """Return the text of a file, and its beginning without columns: what is around the objects."""
    text, mark = whole_text(path, reading)
    first = next(objects(path, text), None)
    if first is None:
        raise LopsError(f"{path} is empty; wanted an array of objects")
    footer = text[text.rstrip().rfind("}") + 1 :]
    header = text[: first[0]]
    return text, Start(Json.name, (), reading, mark=mark, header=header, footer=footer)


def whole_text(path: Path, reading: Reading) -> tuple[str, bytes]:
    """Return the text of a file, and its first bytes."""
    with binary(path) as file:
        mark = beginning(path, file, reading.encoding)
        return "".join(text_lines(path, reading.encoding, reading.quiet, file)), mark


def objects(path: Path, text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (start, end, object) of the objects of an array."""
    expected = 'wanted an array of objects, such as [{"text": "a", "label": "x"}]'
    i = _filled(text, 0)
    if text[i : i + 1] != "[":
        raise LopsError(f"{path}: found {text[i : i + 40]!r}; {expected}")
    i, number = _filled(text, i + 1), 0
    while text[i : i + 1] != "]":
        number += 1
        try:
            record, end = _DECODER.raw_decode(text, i)
        except (ValueError, RecursionError) as error:
            raise LopsError(f"{path}, row {number}: not JSON ({error}); {expected}") from None
        if not isinstance(record, dict):
            raise LopsError(f"{path}, row {number}: found {record!r:.80}; {expected}")
        yield i, end, record
        i = _filled(text, end)
        if text[i : i + 1] == ",":
            i = _filled(text, i + 1)
        elif text[i : i + 1] != "]":
            raise LopsError(f"{path}, after row {number}: found {text[i : i + 40]!r}; {expected}")


def _filled(text: str, i: int) -> int:
    while text[i : i + 1] and text[i] in " \t\r\n":
        i += 1
    return i


def _first_text(path: Path) -> str:
    with binary(path) as file:
        return file.read(_STARTS).decode("utf-8-sig", "replace").lstrip()


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _tool(start: str) -> str | None:
    """Return the format of an array by its first object: tasks or records of a tool."""
    if not start.startswith("["):
        return None
    try:
        first, _ = _DECODER.raw_decode(start, _filled(start, 1))
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    if isinstance(first.get("fields"), dict) and isinstance(first.get("responses"), dict):
        return "argilla"
    done = first.get("annotations", first.get("completions"))
    return "label-studio" if isinstance(first.get("data"), dict) and type(done) is list else None


class ArrayRows(JsonRows):
    """An array of objects, one per line."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        super().__init__(path, columns)
        self._between = "[\n"

    def _put(self, text: str) -> None:
        self._file.write(f"{self._between}{text}")
        self._between = _BETWEEN

    def __exit__(self, *raised: object) -> None:
        self._file.write("\n]\n" if self._between == _BETWEEN else "[]\n")
        super().__exit__(*raised)


class RawObjects(RawRows):
    """Objects of blocks that hold their text, with what stands between them."""

    def __init__(self, path: Path, start: Start) -> None:
        super().__init__(path, start)
        self._footer, self._is_first = start.footer, True

    def write(self, block: Block, rows: np.ndarray, added: base.Added) -> None:
        """Write rows of a block; ``added`` is empty."""
        assert block.raw is not None
        for row in rows.tolist():
            text = block.raw[row]
            if self._is_first:
                text = text[text.index("{") :]
            elif text.startswith("{"):  # the first of another file
                text = f"{_BETWEEN}{text}"
            self._put(text, joined=True)
            self._is_first = False

    def __exit__(self, *raised: object) -> None:
        if not any(raised):
            self._put(self._footer, joined=True)
        super().__exit__(*raised)
