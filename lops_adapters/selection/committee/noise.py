"""How many labels are wrong, and between which limits.

Notation: n samples, m checked rows, k classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lops_adapters.selection.committee.shifts import Rows, Shifts, expit

Z = 1.2815515655446004  # of a range that holds 80 %


class Rate(NamedTuple):
    """A share of wrong labels, in [0, 1], its range, and the number of checked rows.

    The truth is in the range in about 80 % of tables.
    """

    value: float
    low: float
    high: float
    checked: int


@dataclass(frozen=True)
class Noise:
    """The share of wrong labels: what members, other tables and checked rows say together.

    Attributes:
        holds: whether the ranges hold the truth in about 80 % of tables; else they are too narrow.
    """

    total: Rate
    of_classes: Sequence[Rate]
    holds: bool

    @property
    def rate(self) -> float:
        """The share of all samples, in [0, 1]."""
        return self.total.value

    @property
    def low(self) -> float:
        """The lower end of its range."""
        return self.total.low

    @property
    def high(self) -> float:
        """The upper end of its range."""
        return self.total.high

    @classmethod
    def of(
        cls,
        shifts: Shifts,
        rows: Rows,
        wrong: np.ndarray,
        checked: np.ndarray,
        certain: np.ndarray,
        holds: bool,
    ) -> Noise:
        """Return the noise of n samples.

        Args:
            shifts, rows: of the samples.
            wrong: (n,) probabilities that labels are wrong; 0 or 1 of checked rows.
            checked: (m,) positions of the checked rows.
            certain: (n,) bool, labels that are believed, and checked rows and their copies.
        """
        is_checked = np.zeros(len(wrong), dtype=bool)
        is_checked[checked] = True
        free, likely = ~certain, expit(shifts.odds(rows)[0])
        total = _rate(shifts, rows, wrong, likely, free, len(checked))
        of_classes = []
        for code in range(shifts.k):
            own = np.flatnonzero(rows.codes == code)
            asked = int(is_checked[own].sum())
            of_classes.append(_rate(shifts, rows[own], wrong[own], likely[own], free[own], asked))
        return cls(total, of_classes, holds)


def _rate(
    shifts: Shifts,
    rows: Rows,
    wrong: np.ndarray,
    likely: np.ndarray,
    free: np.ndarray,
    checked: int,
) -> Rate:
    """Return the mean of probabilities, (n,), of which ``free`` ones are uncertain.

    Its log-odds are about Gaussian; their variance is that of the shifts, by the gradient, and of
    the labels given the shifts. ``likely``: the probabilities with all shifts at their means.
    """
    n = max(1, len(wrong))
    share = float(wrong.sum()) / n
    if not free.any() or not 0 < share < 1:
        return Rate(share, share, share, checked)
    variance = shifts.variance_of_sum(rows, free * likely * (1 - likely) / n)
    variance += float((free * wrong * (1 - wrong)).sum()) / n**2
    width = Z * variance**0.5 / (share * (1 - share))
    odds = float(np.log(share / (1 - share)))
    return Rate(share, float(expit(odds - width)), float(expit(odds + width)), checked)


def as_arrays(checked: Mapping[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and codes of checked rows, each (m,) int64."""
    return np.array([*checked], dtype=np.int64), np.array([*checked.values()], dtype=np.int64)
