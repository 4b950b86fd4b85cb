"""Which rows a person should check next, and what checks of random rows say.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels.
"""

import math
from collections.abc import Sequence

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee.noise import Rate
from lops_adapters.selection.outcome import Outcome

_Z = 1.959963984540054  # of a 95 % interval
_LEAST = 0.01  # of a row's weight: rows that seem certain are also checked


def check_order(codes: np.ndarray, seed: int, right: np.ndarray | None = None) -> np.ndarray:
    """Return all positions in the order in which to check them, (n,) int64.

    A row weighs p (1 - p) + 0.01, where p is the probability that its label is right: what is
    uncertain tells most about the shifts of table and classes. Without probabilities, all rows
    weigh the same. Classes take turns in proportion to the sum of their weights; within a class,
    rows are drawn at random, in proportion to them. So of the first m rows, each is one with a
    chance of about m times its share of all weights.

    ``codes`` are (n,) int, in an order that says nothing, such as that of
    :func:`lops_adapters.selection.canonical.content_order`; ``right`` (n,) probabilities.

    >>> check_order(np.array([0, 0, 0, 1]), seed=0).tolist()
    [0, 1, 3, 2]
    """
    weights = np.ones(len(codes)) if right is None else right * (1 - right) + _LEAST
    uniform = (tie_hash(np.arange(len(codes)), seed) + 0.5) / 2.0**64
    first = np.lexsort((-np.log(uniform) / weights, codes))
    totals, counts = np.bincount(codes, weights), np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ranks = np.empty(len(codes))
    ranks[first] = np.arange(len(codes)) - starts[codes[first]]
    offsets = tie_hash(np.arange(len(counts)), seed + 1) / 2.0**64
    turns = (ranks + offsets[codes]) / totals[codes]
    return np.lexsort((codes, turns))


def random_rate(wrong: int, checked: int, size: int) -> Rate | None:
    """Return the share of wrong labels among ``size`` rows, and its 95 % Wilson interval.

    By ``checked`` random rows, with the correction for a finite table; None: none is checked.

    >>> [round(number, 3) for number in random_rate(2, 10, 20)]
    [0.2, 0.079, 0.422, 10]
    """
    if not checked:
        return None
    share = wrong / checked
    if checked == size:
        return Rate(share, share, share, checked)
    effective = checked * (size - 1) / (size - checked)
    centre = share + _Z**2 / (2 * effective)
    half = _Z * math.sqrt(share * (1 - share) / effective + _Z**2 / (4 * effective**2))
    scale = 1 + _Z**2 / effective
    return Rate(
        share, max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale), checked
    )


def next_rows(order: np.ndarray, count: int, checked: Sequence[int] = ()) -> np.ndarray:
    """Return the first ``count`` positions of an order that are not checked yet, (<= count,)."""
    return order[~np.isin(order, np.asarray(checked, dtype=np.int64))][:count]


def rows_to_check(outcome: Outcome, labelled: Labelled, seed: int) -> np.ndarray:
    """Return all positions in the order in which to check them, (n,) int64."""
    order = content_order(labelled.samples, outcome.labels, seed)
    found = check_order(outcome.labels[order], seed, outcome.confidence[order])
    return np.asarray(order[found])
