"""Rows for a person to check, what the checks say of all labels, and what a committee says of each.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels. The samples fall into two strata:
those whose suggested label differs from the pseudo-label, and the others. As many rows are checked
in one as in the other, since errors are rare in the second one.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.outcome import Outcome

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


class Review(NamedTuple):
    """What to check next, and what checked rows say.

    Attributes:
        order: (n,) int64, all positions in the order in which to check them.
        rate: the share of wrong labels by the checked rows; None: none is checked.
        rates: the same by the code of each class with checked rows.
    """

    order: np.ndarray
    rate: Rate | None
    rates: Mapping[int, Rate]


def review(outcome: Outcome, labelled: Labelled, seed: int) -> Review:
    """Measure the noise by checked rows, and order the samples for checking by the seed."""
    rows = np.array(list(labelled.checked), dtype=np.int64)
    true = np.array([*labelled.checked.values()], dtype=np.int64)
    codes, before = outcome.labels, outcome.before
    order = content_order(labelled.samples, codes, seed)
    order = order[check_order(codes[order], before[order], seed)]
    each = (
        (code, noise_rate(codes, before, rows, true, codes == code))
        for code in range(len(labelled.classes))
    )
    rates = {code: rate for code, rate in each if rate is not None}
    return Review(order, noise_rate(codes, before, rows, true), rates)
