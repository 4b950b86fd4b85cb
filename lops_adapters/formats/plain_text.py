"""Plain text: a text per line, with fastText's labels, and folders of one text per file."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block, Format, Names, Reading, Start, in_blocks
from lops_adapters.formats.cells import single
from lops_adapters.formats.headers import SPACED
from lops_adapters.formats.lines import binary, text_lines
from lops_adapters.formats.records import LineBlock, RecordBlock

LABEL = "__label__"


class Lines(Format):
    """A text per line; fastText writes its labels first, such as ``__label__sports``.

    A first line with tabs, or with spaces between names in quotes, is the header of a table.
    """

    name = "txt"
    suffixes = (".txt",)
    packs = True
    native = "csv"

    def fitting(self, path: Path) -> str:
        """Return tsv for a table, as spreadsheets and R write it, else txt."""
        first = _first_line(path)
        is_table = "\t" in first or SPACED.fullmatch(first)
        return "tsv" if is_table and not first.startswith(LABEL) else self.name

    def counts(self, path: Path) -> bool:
        """Return whether the first line has a label; others of a folder may be notes."""
        return _first_line(path).startswith(LABEL)

    def start(self, path: Path, reading: Reading) -> Start:
        """Look for a label in the first line."""
        first = next(text_lines(path, reading.encoding, True), "")
        if not first:
            raise LopsError(f"{path} is empty; wanted a text per line")
        columns = ("label", "text") if first.startswith(LABEL) else ("text",)
        return Start(self.name, columns, reading)

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        lines = enumerate(text_lines(path, start.reading.encoding, start.reading.quiet), 1)
        filled = ((number, line.rstrip("\r\n")) for number, line in lines if line.strip())
        for rows in in_blocks(filled):
            numbers, texts = zip(*rows, strict=True)
            cells = [_labelled(text) if len(start.columns) > 1 else [text] for text in texts]
            yield LineBlock(path, numbers, start.columns, cells)


def _first_line(path: Path) -> str:
    with binary(path) as file:
        first = file.readline()
    wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = first.decode("utf-16" if wide else "utf-8-sig", "replace")
    return text.partition("\n")[0].partition("\r")[0]


def _labelled(line: str) -> list[Any]:
    """Return the label, or a list of several, and the text of a line.

    >>> _labelled("__label__a good match"), _labelled("__label__a __label__b x"), _labelled("x")
    (['a', 'good match'], [['a', 'b'], 'x'], [None, 'x'])
    """
    words, labels = line.split(" "), []
    while words and words[0].startswith(LABEL):
        labels.append(words.pop(0).removeprefix(LABEL))
    return [single(labels), " ".join(words)]


class Folders(Format):
    """A folder of class folders, with a text per file; ``id`` is class and name of the file."""

    name = "folders"
    suffixes = ()
    unit = "row"
    native = "csv"

    def start(self, path: Path, reading: Reading) -> Start:
        return Start(self.name, ("id", "label", "text"), reading)

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        for rows in in_blocks(enumerate(texts_in(path), 1)):
            cells = [
                [
                    file.relative_to(path).as_posix(),
                    file.parent.name,
                    "".join(text_lines(file, start.reading.encoding, True)),
                ]
                for _, file in rows
            ]
            yield RecordBlock(path, [number for number, _ in rows], start.columns, cells)


def texts_in(folder: Path) -> list[Path]:
    """Return the files of class folders without a suffix, or with .txt; [] if one class."""
    classes = [entry for entry in folder.iterdir() if entry.is_dir() and _is_shown(entry)]
    files = [
        [file for file in one.iterdir() if file.is_file() and _is_shown(file) and _is_text(file)]
        for one in sorted(classes)
    ]
    filled = [sorted(one) for one in files if one]
    return [file for one in filled for file in one] if len(filled) > 1 else []


def _is_shown(path: Path) -> bool:
    return not path.name.startswith(".")


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in ("", ".txt")
