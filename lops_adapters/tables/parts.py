"""The parts of a table that a selection writes: what each chooses of a block, and its labels."""

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.console import unsure
from lops_adapters.formats import FORMATS
from lops_adapters.formats.base import Added, Block, Like, Writer
from lops_adapters.formats.cells import cell_texts
from lops_adapters.formats.readers import Table
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.naming import COUNTS, GIVEN, OURS, TABLE
from lops_adapters.report.totals import Totals
from lops_adapters.selection import Method
from lops_adapters.tables.scoring import ScoredBlock, Scoring
from lops_adapters.tables.survey import LABEL, TableJob
from lops_adapters.texts.result import COLUMNS

TO_CHECK = "to_check.csv"  # rows for a person to check, of the committee
SOURCES = "sources.csv"  # of votes, what is estimated of each source
SEND_BACK = "send_back.csv"  # rows whose label is most probably wrong, per source
DUPLICATES = "duplicates.csv"  # near-duplicates, if there are any
CORRECTED = "corrected"  # the whole table, with other labels where they are known
TRAIN = "train"  # corrected labels with weights, of the committee
ABSTAINED = "abstained"  # rows without a label, if there are any
ROW = f"{OURS}row"  # of a relabelled row: its number in the table, from 1
LABELS = ("lops_suggested", GIVEN, LABEL)  # columns of labels
OF_TABLE = {f"{OURS}{name}": name for name in (COUNTS, TABLE)}  # of relabelled rows
NEW = (*COLUMNS, GIVEN, LABEL, ROW, *OF_TABLE)  # every column that may be added
Files = Sequence[tuple[str, Path, str]]  # part, path, format
Rows = tuple[Block, np.ndarray, Added]  # what a writer takes
SUGGESTED = ("lops_suggested", "lops_confidence")


def _labelled(scored: ScoredBlock, which: np.ndarray, codes: np.ndarray) -> Rows:
    """Return some of the m labelled rows, (m,) bool, with labels, (m,) codes, and added columns."""
    chosen = np.flatnonzero(which)
    rows, added = scored.rows[chosen], scored.added(chosen)
    if scored.scoring.job.columns.own_label is None:
        return scored.block, rows, {**added, LABEL: scored.scoring.classes.given(codes[chosen])}
    return scored.with_labels(chosen, codes[chosen]), rows, added


def _kept(scored: ScoredBlock) -> Rows:
    return _labelled(scored, scored.assessment.mask, scored.checked_codes)


def _rejected(scored: ScoredBlock) -> Rows:
    return _labelled(scored, ~scored.assessment.mask, scored.codes)


def _relabelled(scored: ScoredBlock) -> Rows:
    block, rows, added = _labelled(scored, scored.relabelled, scored.assessment.suggested)
    table = scored.scoring.job.page.get("table", {})
    given = scored.scoring.classes.given(scored.codes[scored.relabelled])
    of_table = {column: [table.get(name)] * len(rows) for column, name in OF_TABLE.items()}
    numbers = (scored.start + rows + 1).tolist()
    return block, rows, {**added, GIVEN: given, ROW: numbers, **of_table}


def _abstained(scored: ScoredBlock) -> Rows:
    new = {} if scored.scoring.rest is None else dict(zip(SUGGESTED, scored.suggested, strict=True))
    return scored.block, scored.rest, new


def _corrected(scored: ScoredBlock) -> Rows:
    codes = np.where(scored.relabelled, scored.assessment.suggested, scored.checked_codes)
    block = scored.with_labels(np.arange(len(codes)), codes)
    return block, np.arange(len(block)), {}


def _train(scored: ScoredBlock) -> Rows:
    """Return rows that have a class, or get one: the most probable, or a checked one.

    The weight is its probability.
    """
    mask, right, suggested, probability, _ = scored.assessment
    others, weights = scored.suggested
    codes = np.where(mask, scored.checked_codes, suggested)
    known = np.flatnonzero(codes >= 0)
    labels = [*scored.scoring.classes.given(codes[known]), *others]
    weights = [*np.where(mask, right, probability)[known].tolist(), *weights]
    rows = np.concatenate([scored.rows[known], scored.rest[: len(others)]])
    order = np.argsort(rows)
    columns = (scored.start + rows + 1).tolist(), labels, weights
    ordered = ([column[i] for i in order.tolist()] for column in columns)
    added = dict(zip(("row", "label", "weight"), ordered, strict=True))
    return scored.block, rows[order], added


PARTS = {
    "kept": _kept, "rejected": _rejected, "relabelled": _relabelled, ABSTAINED: _abstained,
    CORRECTED: _corrected, TRAIN: _train,
}  # fmt: skip
"""What each part has of a block."""


def types_like(label: str | None, values: Collection[Any] = ()) -> Like:
    """Return the types of added columns in Parquet.

    ``label``: column of labels, None: soft labels or votes; ``values``: the classes, all of one
    type, or integers and floats.
    """
    kinds = {type(value): None for value in values}
    kind = float if float in kinds else next(iter(kinds), str)
    example = kind if label is None else label
    return {**dict.fromkeys(LABELS, example), ROW: int}


def part_files(folder: Path, kind: str, classes: Classes, method: Method) -> Files:
    """Return the files of a folder: kept, rejected, relabelled and, if any, abstained rows.

    And, of a method that assesses labels, what to train on, always as CSV.
    """
    parts = ("kept", "rejected", "relabelled", *((ABSTAINED,) if classes.abstained else ()))
    files = [(part, folder / f"{part}.{kind}", kind) for part in parts]
    return [*files, (TRAIN, folder / f"{TRAIN}.csv", "csv")] if method.assesses else files


class TrainRows(Writer):
    """Write, as CSV, texts with the most probable label, and the probability that it is right.

    ``text`` is the column of texts; None: rows are numbered from 1 in their place. ``escape``:
    cells that a spreadsheet would run as formulas are marked.
    """

    def __init__(self, path: Path, text: str | None, escape: bool) -> None:
        super().__init__(path, "utf-8")
        self._text, self._escape = text, escape
        self._rows = storage.csv_writer(self._file, ",")
        self._rows.writerow(("text" if text is not None else "row", "label", "weight"))

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block; ``added`` holds ``label``, ``weight``, and ``row`` from 1."""
        texts: Iterable[Any] = added["row"]
        if self._text is not None:
            (cells,) = block.cells([self._text])
            texts = (cells[row] for row in rows.tolist())
        for text, label, weight in zip(texts, added["label"], added["weight"], strict=True):
            self._rows.writerow([*cell_texts((text, label), self._escape), f"{weight:.6g}"])


def write_parts(table: Table, scoring: Scoring, files: Files, start: int = 0) -> Totals:
    """Score a table, or a part that begins at the row ``start``, write it, return the counts."""
    totals = Totals.of(len(scoring.classes.names))
    with ExitStack() as stack:
        writers = [
            (PARTS[part], stack.enter_context(_writer(part, table, scoring, path, kind)))
            for part, path, kind in files
        ]
        for block in table.blocks():
            scored = scoring.score(block, start, totals)
            for of_part, writer in writers:
                writer.write(*of_part(scored))
            start += len(block)
    return totals


def _writer(part: str, table: Table, scoring: Scoring, path: Path, kind: str) -> Writer:
    job, values = scoring.job, scoring.classes.values.values()
    if part == TRAIN:
        return TrainRows(path, job.columns.text, job.escape)
    if part == CORRECTED and table.format.copies(kind):
        return table.format.copier(path, table.start)
    columns = {
        "relabelled": (*scoring.columns, GIVEN, ROW, *OF_TABLE),
        ABSTAINED: () if scoring.rest is None else SUGGESTED,
        CORRECTED: (),
    }.get(part, scoring.columns)
    like = types_like(job.columns.own_label, values)
    return FORMATS[kind].writer(path, table.start, columns, like, job.escape)


def rehearse_labels(table: Table, kind: str, job: TableJob, classes: Classes) -> None:
    """Raise a LopsError if the labels of a table cannot be written in a format.

    Every label is written with the first row, into each column that may hold it.
    """
    column, values = job.columns.own_label, list(classes.values.values())
    like = types_like(column, values)
    block = next(iter(table.blocks()))
    rows = np.zeros(len(values) + 2, dtype=np.int64)
    added: dict[str, list[Any]] = {name: [None] * len(rows) for name in NEW}
    added |= {name: [*values, unsure(values), None] for name in LABELS}
    with FORMATS[kind].writer(Path(os.devnull), table.start, NEW, like, job.escape) as writer:
        writer.write(block, rows, added)
        if column is not None:
            new = dict(zip(range(len(block)), values, strict=False))
            writer.write(block.replaced(column, new), rows[:1], {name: [None] for name in NEW})
