"""What a run counts over all rows of a table, block by block."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from lops_adapters.core import ClassReport
from lops_adapters.labels.classes import NO_GOLD
from lops_adapters.report.contents import SelectionPage, counted
from lops_adapters.selection.committee.assessment import Assessment

RUNGS = (0.5, 0.6, 0.7, 0.8, 0.9)  # least probabilities of a kept label


@dataclass
class Totals:
    """Counts of k classes; the counts of two blocks are added.

    Attributes:
        rows, kept: (k,) int64 rows, and kept ones.
        with_gold, wrong: (k,) int64 rows with a gold label, and rows whose gold label differs.
        gold_kept, wrong_kept: the same of the kept rows.
        corrections: (k, k) int64 rejected rows by label and suggestion.
        below, below_right: (r,) int64 rows whose label is right with a probability below each of
            :data:`RUNGS`, and the expected number of right labels among these, in millionths:
            integers, so that blocks add up to the same sum in any order.
        relabelled, abstained: rows with a sure suggestion; rows without a label.
    """

    rows: np.ndarray
    kept: np.ndarray
    with_gold: np.ndarray
    wrong: np.ndarray
    gold_kept: np.ndarray
    wrong_kept: np.ndarray
    corrections: np.ndarray
    below: np.ndarray
    below_right: np.ndarray
    relabelled: int = 0
    abstained: int = 0

    @classmethod
    def of(cls, n_classes: int) -> Totals:
        """Return zeros."""
        zeros: dict[str, Any] = {
            one.name: np.zeros(n_classes, dtype=np.int64) for one in fields(cls)[:6]
        }
        rungs = np.zeros((2, len(RUNGS)), dtype=np.int64)
        corrections = np.zeros((n_classes, n_classes), dtype=np.int64)
        return cls(**zeros, corrections=corrections, below=rungs[0], below_right=rungs[1])

    def __add__(self, other: Totals) -> Totals:
        """Return the counts of both."""
        return Totals(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def count(
        self,
        codes: np.ndarray,
        assessment: Assessment,
        gold: np.ndarray | None = None,
        checked: np.ndarray | None = None,
    ) -> None:
        """Count a block of (m,) int64 class codes, and the assessment of these.

        ``gold`` are (m,) codes of the gold labels, by ``Classes.gold_codes``; ``checked`` (m,)
        class codes, of the person's label where a row is checked.
        """
        k, kept = len(self.rows), assessment.mask
        self.rows += np.bincount(codes, minlength=k)
        self.kept += np.bincount(codes[kept], minlength=k)
        below, below_right = rungs(assessment.right)
        self.below += below
        self.below_right += below_right
        corrected = ~kept & (assessment.suggested >= 0)
        pairs = np.bincount((codes * k + assessment.suggested)[corrected], minlength=k * k)
        self.corrections += pairs.reshape(k, k)
        if gold is None:
            return
        known, wrong = gold != NO_GOLD, (gold != codes) & (gold != NO_GOLD)
        self.with_gold += np.bincount(codes[known], minlength=k)
        self.wrong += np.bincount(codes[wrong], minlength=k)
        self.gold_kept += np.bincount(codes[known & kept], minlength=k)
        wrong_kept = known & kept & (gold != (codes if checked is None else checked))
        self.wrong_kept += np.bincount(codes[wrong_kept], minlength=k)

    def confused(self, classes: Sequence[Hashable]) -> list[tuple[Any, Any, int]]:
        """Return (label, suggested label, rejected rows), most frequent first, ties by label."""
        pairs = [
            (classes[i], classes[j], int(self.corrections[i, j]))
            for i, j in np.argwhere(self.corrections).tolist()
        ]
        return sorted(pairs, key=lambda pair: (-pair[2], str(pair[0])))

    def suggestions(self, classes: Sequence[Hashable]) -> list[tuple[Any, Any, int]]:
        """Return the same of suggestions that differ from the label."""
        return [pair for pair in self.confused(classes) if pair[0] != pair[1]]

    def reports(self, per_class: Mapping[Hashable, ClassReport]) -> dict[Hashable, ClassReport]:
        """Return reports of the whole table, with the reasons of the sample's."""
        counts = zip(per_class.items(), self.rows.tolist(), self.kept.tolist(), strict=True)
        return {
            label: report._replace(count=count, threshold=kept, learnt=0, kept=kept)
            for (label, report), count, kept in counts
        }

    def page(self, sample: SelectionPage) -> SelectionPage:
        """Return the page of a sample with the counts of the whole table."""
        classes = [(row.label, row.why) for row in sample.classes]
        confused = self.confused([label for label, _ in classes])
        of_gold = self.with_gold, self.wrong, self.gold_kept, self.wrong_kept
        counts = counted(classes, self.rows, self.kept, *of_gold)
        return replace(
            sample,
            **counts,
            n_abstained=self.abstained,
            confused=confused,
            ladder=ladder_of(self.below, self.below_right) if sample.estimate else [],
        )


def rungs(right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many labels are right with a probability below each of :data:`RUNGS`, and the
    expected number of right ones among these, in millionths: (r,) int64 each.

    ``right`` are (m,) probabilities that labels are right.
    """
    below = right[:, None] < np.array(RUNGS)
    millionths = np.rint(1e6 * np.clip(np.nan_to_num(right), 0, 1)).astype(np.int64)
    return below.sum(axis=0), (below * millionths[:, None]).sum(axis=0)


def ladder_of(below: np.ndarray, below_right: np.ndarray) -> list[tuple[float, int, float]]:
    """Return (least probability, rows that it rejects, right labels among these), ascending."""
    return list(zip(RUNGS, below.tolist(), (below_right / 1e6).tolist(), strict=True))
