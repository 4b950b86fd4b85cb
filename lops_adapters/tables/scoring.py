"""The second pass over a table: every block is scored and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.formats.base import Block
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.labelled import Groups
from lops_adapters.labels.votes import VoteReader
from lops_adapters.report.totals import Totals
from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.committee.assessment import Assessment, FittedCommittee
from lops_adapters.tables.draw import row_ids
from lops_adapters.tables.survey import LABEL, TableJob, texts_of
from lops_adapters.texts.rest import Rest

# Places of labelled rows, the assessment on them, and when they were learnt.
Assessed = tuple[np.ndarray, Assessment, np.ndarray | None]


class SampleCommittee:
    """Assesses any block of a table by a committee that was fitted to a sample of its rows.

    Rows of the sample, and rows equal to one of them (same content, label or votes, and group; the
    first of these), keep what the committee said of the sample. Can be pickled.

    Args:
        committee: fitted to the sample.
        positions: (n,) int64 of the sample's rows in the table, ascending.
        assessment: of these rows, with the codes of the table.
        keys: (n,) uint64 of :func:`~lops_adapters.selection.canonical.content_keys`.
        codes: (n,) int64 of the labels; of votes, (n, sources) with the codes of the committee.
        places: (c,) int64 codes of the committee's classes in the table; default: the same codes.
        groups: (n,) int64 codes of the sample's groups, -1: none; None: no groups.
    """

    def __init__(
        self,
        committee: FittedCommittee,
        positions: np.ndarray,
        assessment: Assessment,
        keys: np.ndarray,
        codes: np.ndarray,
        places: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        self.committee, self._positions, self._assessment = committee, positions, assessment
        self._places = np.arange(len(committee.classes)) if places is None else places
        ids = _ids(keys, codes, groups)
        self._first = np.lexsort((positions, ids))
        self._ids = ids[self._first]

    def __call__(
        self,
        samples: Sequence[Any],
        codes: np.ndarray,
        keys: np.ndarray,
        positions: np.ndarray,
        groups: np.ndarray | None = None,
    ) -> Assessment:
        """Assess a block of m samples; arguments as of the sample's. Raises as the committee."""
        drawn, is_drawn = _searched(self._positions, positions)
        equal, is_equal = _searched(self._ids, _ids(keys, codes, groups))
        new = np.flatnonzero(~(is_drawn | is_equal))
        assessment = self._assessment.at(np.where(is_drawn, drawn, self._first[equal]))
        of_groups = None if groups is None else groups[new]
        of_new = self.committee([samples[i] for i in new.tolist()], codes[new], of_groups)
        suggested, labels = self._places[of_new.suggested], self._places[of_new.labels]
        of_new = of_new._replace(suggested=suggested, labels=labels)
        for part, unseen in zip(assessment, of_new, strict=True):
            part[new] = unseen
        return assessment


def _ids(keys: np.ndarray, codes: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return (m,) uint64 numbers by content, label or votes, and group."""
    for of_source in np.atleast_2d(codes.T):
        keys = row_ids(keys, of_source.astype(np.uint64))
    return keys if groups is None else tie_hash(keys ^ (groups + 1).astype(np.uint64), 3)


def _searched(ordered: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each value in an ascending array, and whether it is there."""
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return places, ordered[places] == values


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """What scoring a block takes; can be pickled.

    Attributes:
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

    def score(self, block: Block, start: int, totals: Totals) -> ScoredBlock:
        """Score a block that begins at the row ``start``, and add its rows to ``totals``."""
        rows = self._known if self.sampled is None else self._new
        scored = ScoredBlock(self, block, start, *rows(block, start))
        gold = None
        if self.job.columns.gold is not None:
            (labels,) = self.job.columns.cells(block, [self.job.columns.gold])
            gold = self.classes.gold_codes([labels[i] for i in scored.rows.tolist()])
        assessed = scored.assessment
        which = scored.codes, assessed.mask, assessed.right, assessed.suggested
        totals.count(*which, gold, scored.checked_codes)
        totals.relabelled += int(scored.relabelled.sum())
        totals.abstained += len(block) - len(scored.rows)
        return scored

    def _known(self, block: Block, start: int) -> Assessed:
        first, last = np.searchsorted(self.positions, (start, start + len(block)))
        rows = self.positions[first:last] - start
        learnt_at = None if self.learnt_at is None else self.learnt_at[first:last]
        assessment = self.assessment.at(np.arange(first, last))
        return rows, assessment, learnt_at

    def _new(self, block: Block, start: int) -> Assessed:
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
        return rows, assessment, None


@dataclass(frozen=True)
class ScoredBlock:
    """A block of a table with what is said of its m labelled rows.

    Attributes:
        start: the row of the table that it begins at, from 0.
        rows: (m,) int64 places in the block.
        assessment: on these.
        learnt_at: (m,) float64 epochs, inf: never; None: the method has no learning times.
    """

    scoring: Scoring
    block: Block
    start: int
    rows: np.ndarray
    assessment: Assessment
    learnt_at: np.ndarray | None

    @property
    def codes(self) -> np.ndarray:
        """The codes of their labels, (m,) int64."""
        return self.assessment.labels

    @cached_property
    def checked_codes(self) -> np.ndarray:
        """The same, and of the person's labels where rows are checked.

        These, and copies of them, are the kept rows whose probability is exactly 1.
        """
        mask, right, suggested, *_ = self.assessment
        if not self.scoring.has_checks:
            return self.codes
        return np.where(mask & (right == 1), suggested, self.codes)

    @cached_property
    def relabelled(self) -> np.ndarray:
        """(m,) bool, rejected rows with a sure suggestion."""
        mask, _, suggested, probability, codes = self.assessment
        sure = (suggested != codes) & (probability >= self.scoring.job.relabel)
        return np.asarray(~mask & sure)

    @cached_property
    def rest(self) -> np.ndarray:
        """The places of the rows without a label, int64."""
        return np.setdiff1d(np.arange(len(self.block)), self.rows)

    @cached_property
    def suggested(self) -> tuple[list[Any], list[float]]:
        """Labels of the rest, as in the table, and how probable; empty, if they get none."""
        scoring = self.scoring
        if scoring.rest is None:
            return [], []
        (texts,) = self.block.cells([str(scoring.job.columns.text)])
        codes, probability = scoring.rest(texts_of(texts, self.block, self.rest))
        names = [str(scoring.rest.classes[code]) for code in codes.tolist()]
        return [scoring.classes.values[name] for name in names], probability.tolist()

    def added(self, index: np.ndarray) -> dict[str, list[Any]]:
        """Return the added columns of the labelled rows at (m,) positions."""
        assessment, given = self.assessment.at(index), self.scoring.classes.given
        columns: dict[str, list[Any]] = {
            LABEL: given(self.codes[index]),
            "lops_confidence": assessment.right.tolist(),
            "lops_selected": assessment.mask.tolist(),
            "lops_suggested": given(assessment.said),
        }
        if self.learnt_at is not None:
            times = self.learnt_at[index]
            columns["lops_learnt_at"] = [t if np.isfinite(t) else None for t in times.tolist()]
        return {name: columns[name] for name in self.scoring.columns}

    def with_labels(self, index: np.ndarray, codes: np.ndarray) -> Block:
        """Return the block in which the labelled rows at (m,) positions have these labels."""
        columns, rows = self.scoring.job.columns, self.rows[index]
        changed = np.flatnonzero(codes != self.codes[index])
        if columns.classes is not None:  # the cell may only nearly name the class
            changed = np.arange(len(codes))
        labels = self.scoring.classes.given(codes[changed])
        new = dict(zip(rows[changed].tolist(), labels, strict=True))
        return self.block.replaced(str(columns.label), new) if new else self.block
