"""From scores to kept positions: the best n, or a fraction, over all or per class."""

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from lops_adapters.core import ClassReport, Selection, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.suggestions import Listener


class Scored(NamedTuple):
    """(n,) float64 scores, higher is more trusted, times of learning, and how a probe trained."""

    scores: np.ndarray
    learnt_at: np.ndarray | None
    stopped: str


# From labelled samples, and what receives predictions, to scores.
Scorer = Callable[[Labelled, Listener | None], Scored]


def total(count: int, n: int | None, keep: float) -> int:
    """Return how many of ``count`` samples to keep: n, or the fraction rounded up.

    >>> total(100, None, 0.29), total(100, 7, 0.29), total(100, 700, 0.29)
    (29, 7, 100)
    """
    return math.ceil(Fraction(repr(float(keep))) * count) if n is None else min(n, count)


def shares(codes: np.ndarray, n_classes: int, n: int | None, keep: float) -> np.ndarray:
    """Return how many to keep per class, (k,) int64: the same share of each class.

    The total is n, or each class keeps the fraction, rounded up. If n does not divide evenly, the
    classes with the largest remainders keep one more; ties go to the first.

    >>> codes = np.array([0, 0, 0, 1, 1])
    >>> shares(codes, 2, 3, 0.5).tolist(), shares(codes, 2, None, 0.5).tolist()
    ([2, 1], [2, 1])
    """
    counts = np.bincount(codes, minlength=n_classes)
    if n is None:
        return np.array([total(int(count), None, keep) for count in counts], dtype=np.int64)
    n = total(len(codes), n, keep)
    whole, rest = np.divmod(counts * n, len(codes))
    rounded_up = np.argsort(-rest, kind="stable")[: n - whole.sum()]
    whole[rounded_up] += 1
    return whole


def best(scores: np.ndarray, codes: np.ndarray, n_kept: int | np.ndarray, seed: int) -> np.ndarray:
    """Return the mask, (n,) bool, of the highest scores: ``n_kept`` in all, or (k,) per class.

    Ties go to the smaller :func:`tie_hash`.

    >>> best(np.array([0.1, 0.3, 0.2]), np.array([0, 1, 1]), np.array([1, 1]), seed=0).tolist()
    [True, True, False]
    """
    groups = codes if np.ndim(n_kept) else np.zeros_like(codes)
    order = np.lexsort((tie_hash(np.arange(len(codes)), seed), -scores, groups))
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    rank = np.arange(len(codes)) - starts[groups[order]]
    mask = np.zeros(len(codes), dtype=bool)
    mask[order] = rank < np.atleast_1d(n_kept)[groups[order]]
    return mask


def selection_of(
    mask: np.ndarray,
    scored: Scored,
    classes: Sequence[Hashable],
    codes: np.ndarray,
    name: str,
    why: str | Sequence[str],
) -> Selection:
    """Return the selection of a mask; each class's threshold is the number kept.

    ``why`` is one reason for all classes, or one per class.
    """
    n, k = len(codes), len(classes)
    learnt_at = np.full(n, np.inf) if scored.learnt_at is None else scored.learnt_at
    numbers = [
        np.bincount(codes[which], minlength=k).tolist()
        for which in (np.ones(n, dtype=bool), np.isfinite(learnt_at), mask)
    ]
    reasons = [why] * k if isinstance(why, str) else why
    reports = {
        label: ClassReport(count, kept, learnt, kept, None, reason)
        for label, count, learnt, kept, reason in zip(classes, *numbers, reasons, strict=True)
    }
    return Selection(mask, learnt_at, scored.scores, reports, name, scored.stopped)
