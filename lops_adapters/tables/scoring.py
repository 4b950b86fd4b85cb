"""The second pass over a table: every block is scored and written."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import unsure
from lops_adapters.formats import FORMATS
from lops_adapters.formats.base import Block, Writer
from lops_adapters.formats.readers import Table
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.labelled import Groups
from lops_adapters.labels.votes import VoteReader
from lops_adapters.report.totals import Totals
from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.committee.assessment import Assessment
from lops_adapters.tables.job import TableJob
from lops_adapters.tables.results import (
    ABSTAINED,
    CORRECTED,
    GIVEN,
    LABEL,
    LABELS,
    NEW,
    OF_TABLE,
    ROW,
    TRAIN,
    Files,
    TrainRows,
    types_like,
)
from lops_adapters.tables.sample_committee import SampleCommittee
from lops_adapters.tables.survey import texts_of
from lops_adapters.texts.rest import Rest

Suggested = tuple[list[Any], list[float]]  # labels as in the table, and their probabilities


class ScoredRows(NamedTuple):
    """The labelled rows of a block.

    Attributes:
        rows: (m,) int64 places in the block.
        assessment: on these.
        learnt_at: (m,) float64 epochs, inf: never; None: the method has no learning times.
        relabelled: (m,) bool.
    """

    rows: np.ndarray
    assessment: Assessment
    learnt_at: np.ndarray | None
    relabelled: np.ndarray

    @property
    def codes(self) -> np.ndarray:
        """The codes of their labels, (m,) int64."""
        return self.assessment.labels


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """What scoring a block takes; can be pickled.

    Attributes:
        job: what is asked for.
        classes: of the whole table.
        columns: that are added.
        positions: (n,) int64 of the sample in the table, ascending.
        assessment: on the sample.
        learnt_at: (n,) of the sample; None: the method has no learning times.
        has_checks: whether a person has checked rows.
        sampled: the committee that was fitted to the sample; None: the sample is the table.
        rest: labels the rows that have no label; None: they get none.
        reader: of votes; None: each row has one label.
        groups: of the sample; None: no groups.
    """

    job: TableJob
    classes: Classes
    columns: tuple[str, ...]
    positions: np.ndarray
    assessment: Assessment
    learnt_at: np.ndarray | None
    has_checks: bool
    sampled: SampleCommittee | None = None
    rest: Rest | None = None
    reader: VoteReader | None = None
    groups: Groups | None = None

    def score(self, block: Block, start: int, totals: Totals) -> ScoredRows:
        """Score a block that begins at the row ``start``, and add its rows to ``totals``."""
        scored = self._known(block, start) if self.sampled is None else self._new(block, start)
        gold = None
        if self.job.columns.gold is not None:
            (labels,) = self.job.columns.cells(block, [self.job.columns.gold])
            gold = self.classes.gold_codes([labels[i] for i in scored.rows.tolist()])
        assessed = scored.assessment
        which = scored.codes, assessed.mask, assessed.right, assessed.suggested
        totals.count(*which, gold, self.checked_codes(scored))
        totals.relabelled += int(scored.relabelled.sum())
        totals.abstained += len(block) - len(scored.rows)
        return scored

    def _known(self, block: Block, start: int) -> ScoredRows:
        """Return the assessment of rows of the sample, which is the table."""
        first, last = np.searchsorted(self.positions, (start, start + len(block)))
        rows = self.positions[first:last] - start
        learnt_at = None if self.learnt_at is None else self.learnt_at[first:last]
        assessment = self.assessment.at(np.arange(first, last))
        return self._scored(rows, assessment, learnt_at)

    def _new(self, block: Block, start: int) -> ScoredRows:
        """Assess rows by the committee."""
        assert self.sampled is not None
        if self.reader is None:
            names = [str(self.job.columns.text), str(self.job.columns.label)]
            texts, labels = self.job.columns.cells(block, names)
            codes = self.classes.codes(labels)
            rows = np.flatnonzero(codes >= 0)
        else:
            names = [str(self.job.columns.text), *self.reader.columns]
            texts, *cells = self.job.columns.cells(block, names)
            codes = self.reader.votes(cells).among(self.sampled.committee.classes)
            rows = np.flatnonzero((codes >= 0).any(axis=1))
        read = texts_of(texts, block, rows)
        keys = content_keys(read, self.job.choice.seed)
        groups = None
        if self.groups is not None:
            (cells,) = block.cells([str(self.job.columns.group)])
            groups = self.groups.of([cells[i] for i in rows.tolist()])
        assessment = self.sampled(read, codes[rows], keys, start + rows, groups)
        return self._scored(rows, assessment, None)

    def suggested(self, block: Block, rows: np.ndarray) -> Suggested:
        """Return labels of (m,) rows without one, and how probable; empty, if they get none."""
        if self.rest is None:
            return [], []
        (texts,) = block.cells([str(self.job.columns.text)])
        codes, probability = self.rest(texts_of(texts, block, rows))
        names = [str(self.rest.classes[code]) for code in codes.tolist()]
        return [self.classes.values[name] for name in names], probability.tolist()

    def _scored(
        self, rows: np.ndarray, assessment: Assessment, learnt_at: np.ndarray | None
    ) -> ScoredRows:
        sure = (assessment.suggested != assessment.labels) & (
            assessment.probability >= self.job.relabel
        )
        return ScoredRows(rows, assessment, learnt_at, ~assessment.mask & sure)

    def checked_codes(self, scored: ScoredRows) -> np.ndarray:
        """Return the codes of the labels, (m,), and of the person's where rows are checked.

        These, and copies of them, are the kept rows whose probability is exactly 1.
        """
        assessed = scored.assessment
        if not self.has_checks:
            return scored.codes
        return np.where(assessed.mask & (assessed.right == 1), assessed.suggested, scored.codes)

    def added(self, scored: ScoredRows, index: Any) -> dict[str, list[Any]]:
        """Return the added columns of the labelled rows at (m,) positions, or of a slice."""
        assessment = scored.assessment.at(index)
        columns: dict[str, list[Any]] = {
            LABEL: self.given(scored.codes[index]),
            "lops_confidence": assessment.right.tolist(),
            "lops_selected": assessment.mask.tolist(),
            "lops_suggested": self.given(assessment.said),
        }
        if scored.learnt_at is not None:
            times = scored.learnt_at[index]
            columns["lops_learnt_at"] = [t if np.isfinite(t) else None for t in times.tolist()]
        return {name: columns[name] for name in self.columns}

    def to_train(
        self, scored: ScoredRows, start: int, rest: np.ndarray, suggested: Suggested
    ) -> tuple[np.ndarray, dict[str, list[Any]]]:
        """Return the rows of a block that have a class, or get one, and what to train on.

        The label is the most probable one, or a checked one; the weight is its probability.
        """
        assessed = scored.assessment
        codes = np.where(assessed.mask, self.checked_codes(scored), assessed.suggested)
        known = np.flatnonzero(codes >= 0)
        weights = np.where(assessed.mask, assessed.right, assessed.probability)[known].tolist()
        labels, rows = [*self.given(codes[known]), *suggested[0]], scored.rows[known]
        rows = np.concatenate([rows, rest[: len(suggested[0])]])
        columns = ((start + rows + 1).tolist(), labels, [*weights, *suggested[1]])
        order = np.argsort(rows)
        ordered = ([column[i] for i in order.tolist()] for column in columns)
        return rows[order], dict(zip(("row", "label", "weight"), ordered, strict=True))

    def given(self, codes: np.ndarray) -> list[Any]:
        """Return labels as in the table; None for -1, the word for unsure for -2."""
        values = [self.classes.values[name] for name in self.classes.names]
        values += [unsure(values), None]
        return [values[code] for code in codes.tolist()]


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


def write_parts(table: Table, scoring: Scoring, files: Files, start: int = 0) -> Totals:
    """Score a table, or a part that begins at the row ``start``, write it, return the counts."""
    totals = Totals.of(len(scoring.classes.names))
    like = types_like(scoring.job.columns.own_label, scoring.classes.values.values())
    suggested = () if scoring.rest is None else ("lops_suggested", "lops_confidence")
    with ExitStack() as stack:
        writers = []
        new = {
            "relabelled": (*scoring.columns, GIVEN, ROW, *OF_TABLE),
            ABSTAINED: suggested,
            CORRECTED: (),
        }
        for part, path, kind in files:
            writer: Writer
            if part == TRAIN:
                writer = TrainRows(path, scoring.job.columns.text, scoring.job.escape)
            elif part == CORRECTED and table.format.copies(kind):
                writer = table.format.copier(path, table.start)
            else:
                columns = new.get(part, scoring.columns)
                writer = FORMATS[kind].writer(path, table.start, columns, like, scoring.job.escape)
            writers.append((part, stack.enter_context(writer)))
        for block in table.blocks():
            scored = scoring.score(block, start, totals)
            _write(scoring, block, start, scored, writers)
            start += len(block)
    return totals


def _with_labels(
    scoring: Scoring, block: Block, rows: np.ndarray, old_codes: np.ndarray, codes: np.ndarray
) -> Block:
    """Return a block in which (m,) rows have other labels; ``old_codes``: the codes they have."""
    changed = np.flatnonzero(codes != old_codes)
    if scoring.job.columns.classes is not None:  # the cell may only nearly name the class
        changed = np.arange(len(codes))
    new = dict(zip(rows[changed].tolist(), scoring.given(codes[changed]), strict=True))
    return block.replaced(str(scoring.job.columns.label), new) if new else block


def _write(
    scoring: Scoring,
    block: Block,
    start: int,
    scored: ScoredRows,
    writers: Iterable[tuple[str, Writer]],
) -> None:
    """Write the rows of a block to the parts that they belong to."""
    kept = scored.assessment.mask
    rest = np.setdiff1d(np.arange(len(block)), scored.rows)
    suggested = scoring.suggested(block, rest)
    parts = {"kept": kept, "rejected": ~kept, "relabelled": scored.relabelled}
    for part, writer in writers:
        if part == CORRECTED:
            new_codes = np.where(
                scored.relabelled, scored.assessment.suggested, scoring.checked_codes(scored)
            )
            whole = _with_labels(scoring, block, scored.rows, scored.codes, new_codes)
            writer.write(whole, np.arange(len(block)), {})
            continue
        if part == ABSTAINED:
            new = dict(zip(("lops_suggested", "lops_confidence"), suggested, strict=True))
            writer.write(block, rest, {} if scoring.rest is None else new)
            continue
        if part == TRAIN:
            writer.write(block, *scoring.to_train(scored, start, rest, suggested))
            continue
        chosen = np.flatnonzero(parts[part])
        rows, added = scored.rows[chosen], scoring.added(scored, chosen)
        codes = old_codes = scored.codes[chosen]
        if part == "kept":
            codes = scoring.checked_codes(scored)[chosen]
        if part == "relabelled":
            codes = scored.assessment.suggested[chosen]
            added[GIVEN], added[ROW] = scoring.given(old_codes), (start + rows + 1).tolist()
            table = scoring.job.page.get("table", {})
            added |= {column: [table.get(name)] * len(rows) for column, name in OF_TABLE.items()}
        if scoring.job.columns.own_label is None:
            added[LABEL] = scoring.given(codes)
            writer.write(block, rows, added)
        else:
            writer.write(_with_labels(scoring, block, rows, old_codes, codes), rows, added)
