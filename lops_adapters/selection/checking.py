"""Rows for a person to check, what the checks say of all labels, and what a committee says of each.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels. The samples fall into two strata:
those whose suggested label differs from the pseudo-label, and the others. As many rows are checked
in one as in the other, since errors are rare in the second one.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.posterior import NoiseEstimate
from lops_adapters.selection.suggestions import Estimates, Suggestions

_Z = 1.959963984540054  # of a 95 % interval


class Rate(NamedTuple):
    """A share of wrong labels, in [0, 1], its 95 % interval, and the number of checked rows."""

    value: float
    low: float
    high: float
    checked: int


def check_order(codes: np.ndarray, suggested: np.ndarray, seed: int) -> np.ndarray:
    """Return all positions in the order in which to check them, (n,) int64.

    The two strata take turns. Within a stratum, classes alternate in proportion to their sizes, so
    that every first part of the order is a stratified random sample: in a stratum of N rows, m
    of which are checked, each row is checked with the probability m / N.

    Both are (n,) int codes, in an order that says nothing, such as that of
    :func:`lops_adapters.selection.canonical.content_order`.

    >>> check_order(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1]), seed=0).tolist()
    [2, 4, 1, 5, 3, 0]
    """
    differs = suggested != codes
    turns = np.empty(len(codes))
    for stratum, first in ((differs, 0.0), (~differs, 0.5)):
        rows = np.flatnonzero(stratum)
        turns[rows[_spread(codes[rows], rows, seed)]] = np.arange(len(rows)) + first
    return np.asarray(np.argsort(turns, kind="stable"), dtype=np.int64)


def _spread(codes: np.ndarray, positions: np.ndarray, seed: int) -> np.ndarray:
    """Return an order of rows in which every class is spread evenly; within it, by hash."""
    keys = tie_hash(positions, seed)
    by_class = np.lexsort((keys, codes))
    counts = np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ranks = np.empty(len(codes))
    ranks[by_class] = np.arange(len(codes)) - starts[codes[by_class]]
    offsets = tie_hash(np.arange(len(counts)), seed + 1) / 2.0**64
    return np.lexsort((codes, (ranks + offsets[codes]) / counts[codes]))


def noise_rate(
    codes: np.ndarray,
    suggested: np.ndarray,
    rows: np.ndarray,
    true: np.ndarray,
    among: np.ndarray | None = None,
) -> Rate | None:
    """Estimate the share of wrong labels from checked rows, without bias.

    The shares of the two strata, weighted by their sizes (Cochran, Sampling Techniques, 1977,
    section 5.3). The interval joins Wilson intervals of the strata (Zou and Donner, Statistics in
    Medicine, 2008), with the correction for finite strata. It holds for rows in
    :func:`check_order`; rows that a person picks because they look wrong bias it.

    ``rows`` are (m,) int positions of the checked rows, ``true`` (m,) int their codes by the
    person, -1: another class; ``among`` (n,) bool, the rows to estimate for, such as one class;
    default: all. Returns None if no such row is checked.
    """
    among = np.ones(len(codes), dtype=bool) if among is None else among
    asked = among[rows]
    rows, true = rows[asked], true[asked]
    if not len(rows):
        return None
    differs = suggested != codes
    wrong = true != codes[rows]
    value = below = above = 0.0
    for stratum in (differs, ~differs):
        size, checked = int((stratum & among).sum()), stratum[rows]
        if not size:
            continue
        share, low, high = _wilson(int(wrong[checked].sum()), int(checked.sum()), size)
        weight = size / int(among.sum())
        value += weight * share
        below += (weight * (share - low)) ** 2
        above += (weight * (high - share)) ** 2
    low, high = max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above))
    return Rate(value, low, high, len(rows))


def _wilson(wrong: int, checked: int, size: int) -> tuple[float, float, float]:
    """Return a share and its Wilson interval; one half between 0 and 1 if nothing is checked."""
    if checked == 0:
        return 0.5, 0.0, 1.0
    share = wrong / checked
    if checked == size:
        return share, share, share
    effective = checked * (size - 1) / (size - checked)
    centre = share + _Z**2 / (2 * effective)
    half = _Z * math.sqrt(share * (1 - share) / effective + _Z**2 / (4 * effective**2))
    scale = 1 + _Z**2 / effective
    return share, max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def next_rows(order: np.ndarray, count: int, checked: Sequence[int] = ()) -> np.ndarray:
    """Return the first ``count`` positions of an order that are not checked yet, (<= count,)."""
    return order[~np.isin(order, np.asarray(checked, dtype=np.int64))][:count]


class Assessed(Suggestions):
    """Suggestions that keep what a committee says of every sample.

    Args:
        n: number of samples.

    Attributes:
        codes, probability: as of :class:`lops_adapters.selection.Suggestions`; after
            :meth:`settle`, of the most probable true class, given members, labels and checked rows.
        labels: (n,) int64 codes of the labels, after :meth:`settle`.
        before: (n,) int64, the most probable true class without checked rows; of votes, the
            weighted majority; after :meth:`settle`.
        right: (n,) float64, the probability that the label is right; 1 for a checked row, 0 for one
            of no class. This and what follows is None before :meth:`finish`.
        noise: the estimate; None if the members cannot tell.
        check_order: (n,) int64, all positions in the order in which to check them.
        rate, rates: shares of wrong labels by the checked rows, of all and of each class; None and
            empty if none is checked.
    """

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.labels = self.before = self.codes
        self.right: np.ndarray | None = None
        self.noise: NoiseEstimate | None = None
        self.check_order: np.ndarray | None = None
        self.rate: Rate | None = None
        self.rates: dict[int, Rate] = {}
        self._true = np.empty((n, 0))

    def settle(self, estimates: Estimates) -> None:
        without_checks, true, self.labels, self.noise = estimates
        self._true = true
        self.before = without_checks.argmax(axis=1)
        self.codes, self.probability = true.argmax(axis=1), true.max(axis=1)

    def finish(self, labelled: Labelled, seed: int) -> None:
        """Measure the noise by checked rows, and order the samples for checking by the seed."""
        rows = np.array(list(labelled.checked), dtype=np.int64)
        true, codes = np.array([*labelled.checked.values()], dtype=np.int64), self.labels
        self.right = self._true[np.arange(len(codes)), codes]
        self.right[rows], none = true != -1, rows[true == -1]
        self.codes[none], self.probability[none] = -1, np.nan
        order = content_order(labelled.samples, codes, seed)
        self.check_order = order[check_order(codes[order], self.before[order], seed)]
        self.rate = noise_rate(codes, self.before, rows, true)
        for code in range(self._true.shape[1]):
            rate = noise_rate(codes, self.before, rows, true, codes == code)
            if rate is not None:
                self.rates[code] = rate
