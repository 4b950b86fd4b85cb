"""From scores to kept positions: the best n, or a fraction, over all or per class."""

import math
from fractions import Fraction

import numpy as np

from lops_adapters.core import LopsError, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.outcome import Outcome, Predicted


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


def keep_best(
    labelled: Labelled,
    choice: Choice,
    scores: np.ndarray,
    stopped: str,
    *,
    learnt_at: np.ndarray | None = None,
    predicted: Predicted | None = None,
) -> Outcome:
    """Keep the samples with the highest scores.

    Args:
        choice: how many to keep; its method becomes the rule.
        scores: (n,) float64, higher is more trusted; a LopsError if one is NaN.
    """
    codes, k = labelled.codes, len(labelled.classes)
    if np.isnan(scores).any():
        raise LopsError(
            f"{choice.method}: a score is NaN; the probe's training has diverged, "
            "lower its learning rate"
        )
    n_kept: int | np.ndarray = total(len(codes), choice.n, choice.keep)
    if choice.per_class:
        n_kept = shares(codes, k, choice.n, choice.keep)
    mask = best(scores, codes, n_kept, choice.seed)
    over = "of the class" if choice.per_class else "over all classes"
    return Outcome.of(
        mask, scores, codes, k, rule=choice.method, stopped=stopped, why=f"highest scores {over}",
        learnt_at=learnt_at, predicted=predicted,
    )  # fmt: skip
