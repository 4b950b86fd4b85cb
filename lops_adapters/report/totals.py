"""What a run counts over all rows of a table, block by block."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lops_adapters.core import ClassReport
from lops_adapters.labels.classes import NO_GOLD
from lops_adapters.report.contents import ClassRow, Counts

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
        return Totals(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def count(
        self,
        codes: np.ndarray,
        kept: np.ndarray,
        right: np.ndarray,
        suggested: np.ndarray,
        gold: np.ndarray | None = None,
        checked: np.ndarray | None = None,
    ) -> None:
        """Count a block of m rows.

        Args:
            codes: (m,) int64 of the labels.
            kept, right: (m,) bool, and the probabilities that the labels are right.
            suggested: (m,) int64 codes; below 0: none.
            gold: (m,) codes of the gold labels, by ``Classes.gold_codes``.
            checked: (m,) codes, of the person's label where a row is checked.
        """
        k = len(self.rows)
        self.rows += np.bincount(codes, minlength=k)
        self.kept += np.bincount(codes[kept], minlength=k)
        below, below_right = rungs(right)
        self.below += below
        self.below_right += below_right
        self.corrections += confusion(codes, suggested, ~kept, k)
        if gold is None:
            return
        known, wrong = gold != NO_GOLD, (gold != codes) & (gold != NO_GOLD)
        self.with_gold += np.bincount(codes[known], minlength=k)
        self.wrong += np.bincount(codes[wrong], minlength=k)
        self.gold_kept += np.bincount(codes[known & kept], minlength=k)
        wrong_kept = known & kept & (gold != (codes if checked is None else checked))
        self.wrong_kept += np.bincount(codes[wrong_kept], minlength=k)

    def reports(self, per_class: Mapping[Hashable, ClassReport]) -> dict[Hashable, ClassReport]:
        """Return reports of the whole table, with the reasons of the sample's."""
        counts = zip(per_class.items(), self.rows.tolist(), self.kept.tolist(), strict=True)
        return {
            label: report._replace(count=count, threshold=kept, learnt=0, kept=kept)
            for (label, report), count, kept in counts
        }

    def counts(self, classes: Sequence[tuple[str, str]]) -> Counts:
        """Return what a page shows of these, given the k classes with the reason of each."""
        columns = (
            self.rows, self.kept, self.with_gold, self.wrong, self.gold_kept, self.wrong_kept
        )  # fmt: skip
        numbers = [column.tolist() for column in columns]
        n, kept, with_gold, wrong, gold_kept, wrong_kept = map(sum, numbers)
        return Counts(
            n,
            kept,
            self.abstained,
            [
                ClassRow(label, rows, kept, why, _share(wrong, gold), _share(wrong_kept, gold_kept))
                for (label, why), rows, kept, gold, wrong, gold_kept, wrong_kept in zip(
                    classes, *numbers, strict=True
                )
            ],
            with_gold,
            gold_kept,
            _share(wrong, with_gold),
            _share(wrong_kept, gold_kept),
            pairs_of(self.corrections, [label for label, _ in classes]),
        )

    @property
    def ladder(self) -> list[tuple[float, int, float]]:
        """(Least probability, rows that it rejects, right labels among these), ascending."""
        right = (self.below_right / 1e6).tolist()
        return list(zip(RUNGS, self.below.tolist(), right, strict=True))


def confusion(codes: np.ndarray, suggested: np.ndarray, rejected: np.ndarray, k: int) -> np.ndarray:
    """Return how many rejected rows of each label have each suggestion, (k, k) int64."""
    pairs = (codes * k + suggested)[rejected & (suggested >= 0)]
    return np.bincount(pairs, minlength=k * k).reshape(k, k)


def pairs_of(counts: np.ndarray, classes: Sequence[Any]) -> list[tuple[Any, Any, int]]:
    """Return (label, suggested label, rows), most frequent first, ties by label; 0 is left out."""
    found = [(classes[i], classes[j], int(counts[i, j])) for i, j in np.argwhere(counts).tolist()]
    return sorted(found, key=lambda pair: (-pair[2], str(pair[0])))


def suggestions(counts: np.ndarray, classes: Sequence[Any]) -> list[tuple[Any, Any, int]]:
    """Return (label, another suggested label, rows), most frequent first, ties by label."""
    return [one for one in pairs_of(counts, classes) if one[0] != one[1]]


def rungs(right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many labels are right with a probability below each of :data:`RUNGS`, and the
    expected number of right ones among these, in millionths: (r,) int64 each.

    ``right`` are (m,) probabilities that labels are right.
    """
    below = right[:, None] < np.array(RUNGS)
    millionths = np.rint(1e6 * np.clip(np.nan_to_num(right), 0, 1)).astype(np.int64)
    return below.sum(axis=0), (below * millionths[:, None]).sum(axis=0)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
