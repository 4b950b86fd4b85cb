"""CONTRIBUTING.md counts right, and what it says of new parts is all that a toy of each needs."""

import re
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from lops_adapters import formats
from lops_adapters.cli import select
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Format, Start, in_blocks
from lops_adapters.formats.delimited import TextBlock
from lops_adapters.runs.framework import FRAMEWORKS
from lops_adapters.selection import METHODS, build, member_table
from lops_adapters.selection.methods import Method
from lops_adapters.selection.ranked import Scored

from .noisy import noisy_texts, read_table, write_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = {  # a part of each kind, whose files are those of the table
    "framework": sorted(FRAMEWORKS),
    "selection method": ["o2u"],
    "committee member": [""],
    "file format": ["jsonl", "parquet", "xlsx"],
}


def section(kind):
    """The text on a new part of a kind."""
    return PAGE.partition(f"## A new {kind}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_files_are_counted_and_there(kind):
    text = section(kind)
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    files = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert f"That is {len(files)} files" in text
    for name in EXAMPLES[kind]:
        for file in files:
            assert (ROOT / file.replace("NAME", name)).is_file(), file.replace("NAME", name)


def test_the_pages_name_every_part():
    pages = {name: (ROOT / f"docs/{name}.md").read_text() for name in ("selection", "select")}
    rows = [line for line in pages["selection"].splitlines() if line.startswith("| `")]
    assert set(METHODS) <= {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    suffixes = [suffix for one in formats.FORMATS.values() for suffix in one.suffixes[:1]]
    assert not [suffix for suffix in suffixes if suffix.upper()[1:] not in pages["select"].upper()]


TEXTS, LABELS, _ = noisy_texts(n=60)


def longest(labelled, seen):
    return Scored(np.array([float(len(text)) for text in labelled.samples]), None, "counted")


def test_a_method():
    """``make`` and a row."""
    row = Method("toy", "the longest texts", lambda request: request.ranked(longest),
                 needs_probe=False)  # fmt: skip
    with mock.patch.dict(METHODS, toy=row):
        selection = build("toy", n=10)(TEXTS, LABELS)
    lengths = np.array(list(map(len, TEXTS)))
    assert len(selection.kept) == 10
    assert lengths[selection.kept].min() >= np.delete(lengths, selection.kept).max()


class SameWord:
    """The labels of the other texts with the same first word."""

    name, weight = "same word", 1.0

    def score(self, labelled, further=False):
        """Count."""
        codes, k = labelled.codes, len(labelled.classes)
        counts = np.full((len(codes), k), 0.1)
        firsts = [text.split()[0] for text in labelled.samples]
        of = Counter(zip(firsts, codes.tolist(), strict=True))
        for row, first in enumerate(firsts):
            for code in range(k):
                counts[row, code] += of[first, code] - (codes[row] == code)
        return counts / counts.sum(axis=1, keepdims=True)


def test_a_member():
    """``score`` and a line."""
    texts = ["goal late", "goal soon", "bank rates", "bank cuts"] * 10
    labels = ["sport", "sport", "money", "money"] * 10
    labels[0] = "money"
    with mock.patch.object(member_table, "Neighbours", return_value=SameWord()):
        selection = build("committee", encoder=None)(texts, labels)
    assert np.flatnonzero(~selection.mask).tolist() == [0]
    assert "same word" in selection.stopped


class Toy(Format):
    """Lines of a label, a colon and a text."""

    name, suffixes, native = "toy", (".toy",), "csv"

    def start(self, path, reading):
        """Columns have fixed names."""
        if not path.stat().st_size:
            raise LopsError(f"{path} is empty; wanted a line per text")
        return Start(self.name, ("label", "text"), reading)

    def blocks(self, path, start, columns=None):
        """Cut the lines."""
        with path.open(encoding=start.reading.encoding) as file:
            for lines in in_blocks(enumerate(file, 1)):
                rows = [line.rstrip("\n").split(":", 1) for _, line in lines]
                yield TextBlock(path, [number for number, _ in lines], start.columns, rows)


def test_a_format(tmp_path, monkeypatch):
    """``start``, ``blocks`` and a row: the rows of the same table in CSV."""
    monkeypatch.chdir(tmp_path)
    rows = [[label, text] for label, text in zip(LABELS, TEXTS, strict=True)]
    write_table(tmp_path / "a.csv", rows, ["label", "text"])
    (tmp_path / "b.toy").write_text("".join(f"{label}:{text}\n" for label, text in rows))
    options = ["--text", "text", "--label", "label", "--encoder", "none", "--quiet"]
    with mock.patch.dict(formats.FORMATS, toy=Toy()):
        for name in ("a.csv", "b.toy"):
            select.main([name, "--output", name[0], *options])
    kept = [read_table(tmp_path / name / "kept.csv") for name in "ab"]
    assert kept[0] == kept[1]
    assert 30 < len(kept[0]) < 60
