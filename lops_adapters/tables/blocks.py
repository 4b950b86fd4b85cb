"""The second pass over a table: every block is judged and written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.judge import Verdict
from lops_adapters.selection.sampled import Sampled
from lops_adapters.tables.classes import Classes
from lops_adapters.tables.readers import Block, Table
from lops_adapters.tables.replacing import replaced
from lops_adapters.tables.results import ABSTAINED, GIVEN, PARTS, WEIGHT, types_like
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.survey import text_of
from lops_adapters.tables.writers import Writer, writer_for
from lops_adapters.texts.result import COLUMNS
from lops_adapters.texts.totals import Totals

Files = Sequence[tuple[str, Path, str]]  # part, path, format


@dataclass(frozen=True)
class Judging:
    """What judging takes; can be pickled.

    Attributes:
        wanted: the columns.
        classes: of the whole table.
        sampled: the fitted committee.
        seed: of the draw.
        relabel: smallest probability of a suggestion that relabels a rejected row.
        escape: an apostrophe before cells that a spreadsheet takes for formulas.
        weights: add a column of sample weights.

    """

    wanted: Wanted
    classes: Classes
    sampled: Sampled
    seed: int
    relabel: float
    escape: bool = False
    weights: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are added; a committee has no learning times."""
        return (*COLUMNS[1:], WEIGHT) if self.weights else COLUMNS[1:]

    def judge(
        self, texts: Sequence[str], codes: np.ndarray, positions: np.ndarray
    ) -> tuple[Verdict, np.ndarray]:
        """Return the verdicts on labelled rows, and which of them are relabelled, (m,) bool."""
        verdict = self.sampled(texts, codes, content_keys(texts, self.seed), positions)
        other = (verdict.suggested != codes) & (verdict.probability >= self.relabel)
        return verdict, ~verdict.mask & other

    def added(self, verdict: Verdict) -> dict[str, list[Any]]:
        """Return the added columns."""
        found = {
            "lops_confidence": verdict.right.tolist(),
            "lops_selected": verdict.mask.tolist(),
            "lops_suggested": self.given(verdict.suggested),
            WEIGHT: verdict.right.tolist(),
        }
        return {name: found[name] for name in self.columns}

    def given(self, codes: np.ndarray) -> list[Any]:
        """Return labels as in the table."""
        return [self.classes.values[self.classes.names[code]] for code in codes.tolist()]


def write_blocks(table: Table, judging: Judging, files: Files, start: int = 0) -> Totals:
    """Judge a table, or a part that begins at the row ``start``, and write it; return the counts.

    Raises:
        LopsError: what reading, judging and writing raise.

    """
    totals = Totals.of(len(judging.classes.names))
    with ExitStack() as stack:
        writers = []
        for part, path, kind in files:
            columns = judging.columns
            new = {"relabelled": (*columns, GIVEN), ABSTAINED: ()}.get(part, columns)
            like = types_like(judging.wanted.label)
            writer = writer_for(path, kind, table, new, like, judging.escape)
            writers.append((part, stack.enter_context(writer)))
        for block in table.blocks():
            _write(table, judging, block, start, writers, totals)
            start += len(block)
    return totals


def part_files(place: Path, kind: str, classes: Classes) -> Files:
    """Return the files of a folder: kept, rejected, relabelled and, if any, abstained rows."""
    parts = (*PARTS, ABSTAINED) if classes.abstained else PARTS
    return [(part, place / f"{part}.{kind}", kind) for part in parts]


class Judgement(NamedTuple):
    """What is known of a block.

    Attributes:
        at: (m,) int64 places of the labelled rows.
        codes: (m,) int64 of their labels.
        verdict: on these.
        relabelled: (m,) bool.

    """

    at: np.ndarray
    codes: np.ndarray
    verdict: Verdict
    relabelled: np.ndarray


def judge_block(
    table: Any, judging: Judging, block: Block, start: int, totals: Totals
) -> Judgement:
    """Judge a block that begins at the row ``start``, and add its rows to ``totals``.

    Raises:
        LopsError: a text that is not a string, and what the judge raises.

    """
    wanted, classes = judging.wanted, judging.classes
    names = [str(name) for name in (wanted.text, wanted.label, wanted.gold) if name is not None]
    texts, labels, *gold = columns_of(table, block, names)
    codes = classes.codes(labels)
    at = np.flatnonzero(codes >= 0)
    own = codes[at]
    place = f"{table.paths[0]}, {table.unit} {start + 1} or one after it"
    said = [text_of(texts[i], place) for i in at.tolist()]
    verdict, relabelled = judging.judge(said, own, start + at)
    known = [gold[0][i] for i in at.tolist()] if gold else None
    totals.count(own, verdict, None if known is None else classes.gold_codes(known))
    totals.relabelled += int(relabelled.sum())
    totals.abstained += len(block) - len(at)
    return Judgement(at, own, verdict, relabelled)


def _write(
    table: Table,
    judging: Judging,
    block: Block,
    start: int,
    writers: Sequence[tuple[str, Writer]],
    totals: Totals,
) -> None:
    """Judge and write one block, and add its rows to ``totals``."""
    at, codes, verdict, relabelled = judge_block(table, judging, block, start, totals)
    parts = {"kept": verdict.mask, "rejected": ~verdict.mask, "relabelled": relabelled}
    for part, writer in writers:
        if part == ABSTAINED:
            writer.write(block, np.setdiff1d(np.arange(len(block)), at), {})
            continue
        chosen = np.flatnonzero(parts[part])
        rows, added = at[chosen], judging.added(verdict.at(chosen))
        if part == "relabelled":
            added[GIVEN] = judging.given(codes[chosen])
            if judging.weights:
                added[WEIGHT] = verdict.probability[chosen].tolist()
            label = str(judging.wanted.label)
            other = replaced(table, block, rows, label, added["lops_suggested"])
            writer.write(other, np.arange(len(rows)), added)
        else:
            writer.write(block, rows, added)


def columns_of(table: Any, block: Block, names: Sequence[str]) -> list[list[Any]]:
    """Return the values of columns of a block; a missing key of a JSON object is None."""
    if block.lines is not None:
        records = [json.loads(line) for line in block.lines]
        return [[record.get(name) for record in records] for name in names]
    places = [table.columns.index(name) for name in names]
    if block.values is not None:
        return [[row[place] for row in block.values] for place in places]
    return [list(block.batch.column(place).to_pylist()) for place in places]
