"""CONTRIBUTING.md counts right, and what it says of new parts is all that a toy of each needs."""

import json
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
from lops_adapters.selection import METHODS, Method, Outcome, build, keep_best
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import MEMBERS, MemberFactory

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


def lengths_of(labelled):
    return np.array([float(len(text)) for text in labelled.samples])


class Longest(Method):
    """The longest texts."""

    needs_probe = False

    def __call__(self, labelled, choice):
        return keep_best(labelled, choice, lengths_of(labelled), "counted")


class Long(Method):
    """More than 114 characters."""

    needs_probe, texts, takes_n, takes_keep = False, True, False, False

    def __call__(self, labelled, choice):
        lengths, k = lengths_of(labelled), len(labelled.classes)
        how = {"rule": self.name, "stopped": "counted", "why": "long"}
        return Outcome.of(lengths > 114, lengths, labelled.codes, k, **how)


def test_a_method():
    """A class and a row."""
    with mock.patch.dict(METHODS, toy=Longest("toy", "the longest texts")):
        selection = build("toy", n=10)(TEXTS, LABELS)
    lengths = np.array(list(map(len, TEXTS)))
    assert len(selection.kept) == 10
    assert lengths[selection.kept].min() >= np.delete(lengths, selection.kept).max()


def test_a_method_that_decides_how_many_to_keep(tmp_path, monkeypatch, capsys):
    """No other file says what it keeps, and what its confidence is."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LopsError, match="'toy' decides how many to keep and does not say what"):
        Long("toy", "the long texts", per_class=None)
    row = Long("toy", "the long texts", "rows whose text is long", per_class=None)
    write_table(tmp_path / "a.csv", zip(LABELS, TEXTS, strict=True), ["label", "text"])
    with mock.patch.dict(METHODS, toy=row):
        select.main(["a.csv", "--text", "text", "--label", "label", "--method", "toy"])
    said = capsys.readouterr().out
    assert "\nMethod: toy. Kept: rows whose text is long.\n" in said
    assert "then train on the kept rows, with balanced classes." in said
    kept = [row["text"] for row in read_table(tmp_path / "a-lops" / "kept.csv")]
    assert kept == [text for text in TEXTS if len(text) > 114]
    assert 0 < len(kept) < 60
    summary = json.loads((tmp_path / "a-lops" / "summary.json").read_text())
    assert summary["is_probability"] is False


class SameWord(Member):
    """The labels of the other texts with the same first word."""

    name = "same word"

    def score(self, labelled):
        """Count, without the own label."""
        self.k = len(labelled.classes)
        self.counts = Counter(zip(self.firsts(labelled.samples), labelled.codes, strict=True))
        return self.shares(labelled.samples, np.eye(self.k)[labelled.codes])

    def score_unseen(self, samples, groups=None):
        """Count all."""
        return self.shares(samples, 0)

    def firsts(self, samples):
        """The first words."""
        return [text.split()[0] for text in samples]

    def shares(self, samples, own):
        """Of the classes, a little for each."""
        rows = [
            [self.counts[word, code] for code in range(self.k)] for word in self.firsts(samples)
        ]
        counts = np.array(rows) - own + 0.1
        return counts / counts.sum(axis=1, keepdims=True)


TOY = MemberFactory("toy", ("texts",), "the first word", lambda inputs: SameWord())
GOALS = [
    f"{text} {number}"
    for number in range(10)
    for text in ("goal late", "goal soon", "bank rates", "bank cuts")
]
THEIRS = ["money", "sport", "money", "money", *["sport", "sport", "money", "money"] * 9]


def test_a_member():
    """``score`` and a row."""
    with mock.patch.dict(MEMBERS, {"probe": MEMBERS["probe"], "toy": TOY}, clear=True):
        selection = build("committee", encoder=None)(GOALS, THEIRS)
    assert np.flatnonzero(~selection.mask).tolist() == [0]
    assert "same word" in selection.stopped
    with pytest.raises(LopsError, match="the member 'a' needs 'gold'; wanted some of texts, vect"):
        MemberFactory("a", ("gold",), "all", lambda inputs: SameWord())


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
