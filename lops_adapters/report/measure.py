"""Numbers behind the charts and lists of a report: counted, ordered.

Notation: n rows; ``with_gold`` (n,) bool, rows with a gold label; ``wrong`` (n,) bool, rows whose
gold label differs, None without gold labels; confidences (n,) float64, finite, larger is more
trusted.
"""

import numpy as np

from lops_adapters.core import LopsError, tie_hash

# Confidence, rows at or above it, rows with a gold label, wrong ones among these (None: unknown).
Threshold = tuple[float, int, int, int | None]
_BINS = 11  # of learning times, at most


def finite(confidence: np.ndarray) -> np.ndarray:
    """Return confidences as (n,) float64, infinities clipped to the finite ones; LopsError: NaN.

    >>> finite(np.array([-np.inf, 0.25, 0.5])).tolist()
    [0.25, 0.25, 0.5]
    """
    scores = np.asarray(confidence, dtype=np.float64)
    if np.isnan(scores).any():
        row = int(np.isnan(scores).argmax())
        raise LopsError(f"the confidence of row {row} is NaN; wanted a number for every row")
    inside = scores[np.isfinite(scores)]
    return np.clip(scores, inside.min(), inside.max()) if len(inside) else np.sign(scores)


def own_threshold(confidence: np.ndarray, mask: np.ndarray, *, timed: bool) -> float | None:
    """Return the threshold that keeps exactly the kept rows; None without one.

    Classes may be cut at different confidences; then no threshold does. The threshold is 0 if that
    keeps exactly the kept rows and the confidence is not a learning time (``timed``), where 0 has
    no meaning; otherwise it is the lowest confidence kept.

    >>> scores, mask = np.array([0.5, 0.1, -0.2]), np.array([True, True, False])
    >>> own_threshold(scores, mask, timed=False), own_threshold(scores, mask, timed=True)
    (0.0, 0.1)
    >>> own_threshold(scores, ~mask, timed=True) is None
    True
    """
    if not mask.any():
        return None
    lowest = float(confidence[mask].min())
    highest_rejected = float(confidence[~mask].max(initial=-np.inf))
    if highest_rejected >= lowest:
        return None
    return 0.0 if not timed and lowest >= 0 > highest_rejected > -np.inf else lowest


def threshold_rows(
    confidence: np.ndarray,
    with_gold: np.ndarray,
    wrong: np.ndarray | None,
    own: float | None = None,
    size: int = 200,
) -> list[Threshold]:
    """Return the rows at or above each threshold, thresholds descending.

    More than ``size`` distinct confidences are thinned so that the numbers of rows are spread
    evenly. ``own``, at most the largest confidence, is always included.

    >>> with_gold, wrong = np.array([True, False, True]), np.array([True, False, False])
    >>> threshold_rows(np.array([0.5, 0.9, 0.5]), with_gold, wrong)
    [(0.9, 1, 0, 0), (0.5, 3, 2, 1)]
    """
    values, entering = np.unique(confidence, return_inverse=True)
    rows = np.bincount(entering)[::-1].cumsum()
    values = values[::-1]
    positions = np.arange(len(values))
    if len(values) > size:
        spread = size - (own is not None)
        evenly = np.searchsorted(rows, np.linspace(0, rows[-1], spread)[1:])
        positions = np.unique(np.concatenate([[0], evenly]))
    thresholds = np.union1d(values[positions], [] if own is None else [own])[::-1]
    # Of the descending confidences, the smallest one that reaches each threshold.
    last = np.searchsorted(-values, -thresholds, side="right") - 1
    known = np.bincount(entering, weights=with_gold)[::-1].cumsum().astype(int)[last].tolist()
    errors: list[int | None] = [None] * len(last)
    if wrong is not None:
        errors = np.bincount(entering, weights=wrong)[::-1].cumsum().astype(int)[last].tolist()
    return list(zip(thresholds.tolist(), rows[last].tolist(), known, errors, strict=True))


def learnt_bins(learnt_at: np.ndarray, mask: np.ndarray) -> list[tuple[float | None, int, int]]:
    """Return (time, kept, rejected) per learning time, last the rows never learnt (time None).

    Empty if no row has a time. More than eleven distinct times are binned in equal widths, named by
    their upper edge.

    >>> learnt_bins(np.array([1.0, 1.0, 2.0, np.inf]), np.array([True, True, True, False]))
    [(1.0, 2, 0), (2.0, 1, 0), (None, 0, 1)]
    """
    learnt = np.isfinite(learnt_at)
    if not learnt.any():
        return []
    times, bin_index = np.unique(learnt_at[learnt], return_inverse=True)
    if len(times) > _BINS:
        edges = np.linspace(times[0], times[-1], _BINS + 1)
        bin_index = np.clip(np.searchsorted(edges, learnt_at[learnt]) - 1, 0, _BINS - 1)
        times = edges[1:]
    kept = np.bincount(bin_index, weights=mask[learnt], minlength=len(times)).astype(int).tolist()
    every = np.bincount(bin_index, minlength=len(times)).tolist()
    bins: list[tuple[float | None, int, int]] = [
        (time, k, n - k) for time, k, n in zip(times.tolist(), kept, every, strict=True)
    ]
    if not learnt.all():
        never = mask[~learnt]
        bins.append((None, int(never.sum()), int((~never).sum())))
    return bins


def least_trusted(
    confidence: np.ndarray,
    codes: np.ndarray,
    mask: np.ndarray,
    doubt: np.ndarray,
    per_class: int,
    total: int,
) -> np.ndarray:
    """Return the positions of the least trusted rows, the least trusted first.

    Ties: rejected rows first, then the largest ``doubt``, then a hash. At most ``total`` in all and
    ``per_class`` per class; lowered where all classes together pass ``total`` (0: none).

    >>> confidence, codes = np.array([0.1, 0.9, 0.2]), np.array([0, 0, 1])
    >>> mask, doubt = np.zeros(3, bool), np.zeros(3)
    >>> least_trusted(confidence, codes, mask, doubt, per_class=1, total=9).tolist()
    [0, 2]
    """
    positions = np.arange(len(codes))
    order = np.lexsort((tie_hash(positions, 0), -doubt, mask, confidence))
    present = len(np.unique(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    rank = np.empty(len(codes), dtype=np.int64)
    rank[by_class] = positions - starts[codes[by_class]]
    return order[rank[order] < min(per_class, max(1, total // present))][:total]
