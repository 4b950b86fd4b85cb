"""Significance of a difference between predictions, and the share of a gap that is closed.

Notation: n documents, k classes, s runs (seeds) per side; a difference is first minus second side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lops_adapters.core import LopsError
from lops_adapters.evaluation.noise import Label, Labels, check_aligned, comparable

_CELLS_AT_ONCE = 4_000_000  # numbers in one array of resampled counts, 32 MB


class Difference(NamedTuple):
    """How two sides differ in one score.

    Attributes:
        difference: first side minus second side on the documents themselves, in [-1, 1].
        low, high: bounds of the percentile confidence interval.
        p_value: two-sided, in (0, 1]: twice the smaller of the shares of resamples with a
            difference of at most 0 and of at least 0. The sample itself counts as a resample, so
            the p-value is never 0.

    """

    difference: float
    low: float
    high: float
    p_value: float


class Significance(NamedTuple):
    """The differences in micro-F1 and in macro-F1."""

    micro: Difference
    macro: Difference


def paired_bootstrap(
    gold: Labels,
    first: Labels,
    second: Labels,
    classes: Sequence[Label],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Significance:
    """Compare two sets of predictions by a paired bootstrap over documents.

    Each resample draws documents with replacement, the same for both sides. The result holds for
    these two trained classifiers on other documents, not for other seeds; for these see
    :func:`paired_bootstrap_over_seeds`.

    Args:
        gold, first, second: (n,) str or int; gold labels and the two predictions, aligned.
        classes: all classes that may occur.
        resamples: at least 1.
        confidence: of the interval, in (0, 1).
        seed: of the resamples.

    Raises:
        LopsError: lengths differ, there is no document, a label is not among the classes, or a
            number is out of its range.

    >>> gold = ["a", "b"] * 50
    >>> found = paired_bootstrap(gold, gold, ["a"] * 100, ["a", "b"])
    >>> found.micro.difference, found.micro.low > 0.3, found.micro.p_value < 0.01
    (0.5, True, True)
    """
    return _bootstrap(gold, [first], [second], classes, resamples, confidence, seed)


def paired_bootstrap_over_seeds(
    gold: Labels,
    first: Sequence[Labels],
    second: Sequence[Labels],
    classes: Sequence[Label],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Significance:
    """Compare several runs of two sides, paired by seed, by resampling seeds and documents.

    The difference is the mean over the seeds. Each resample draws s seeds with replacement, and
    documents, the same for all seeds. With three seeds, as in the paper, the interval is only a
    rough account of their variance, but better than none.

    Args:
        gold: (n,) str or int; gold labels.
        first, second: s sequences of (n,) predictions; the runs of each side, paired by position.
        classes, resamples, confidence, seed: As for :func:`paired_bootstrap`.

    Raises:
        LopsError: as for :func:`paired_bootstrap`; or the sides have different numbers of runs, or
            none.

    >>> gold = ["a", "b"] * 50
    >>> wrong = ["a"] * 100
    >>> found = paired_bootstrap_over_seeds(gold, [gold, wrong], [wrong, wrong], ["a", "b"])
    >>> found.micro.difference
    0.25
    """
    if len(first) != len(second) or not len(first):
        raise LopsError(
            f"found {len(first)} runs of the first side and {len(second)} of the second; "
            "wanted equally many, at least one"
        )
    return _bootstrap(gold, first, second, classes, resamples, confidence, seed)


def share_of_gap_closed(standard: float, method: float, optimal: float) -> float | None:
    """Return the share of the gap from Standard to OptimalFilter that a method closes.

    None if OptimalFilter is not better than Standard.

    Args:
        standard, method, optimal: the same score of the three; larger is better.

    >>> share_of_gap_closed(0.5, 0.75, 1.0), share_of_gap_closed(0.9, 0.9, 0.9)
    (0.5, None)
    """
    gap = optimal - standard
    return (method - standard) / gap if gap > 0 else None


def _bootstrap(
    gold: Labels,
    first: Sequence[Labels],
    second: Sequence[Labels],
    classes: Sequence[Label],
    resamples: int,
    confidence: float,
    seed: int,
) -> Significance:
    if resamples < 1 or not 0 < confidence < 1:
        raise LopsError(
            f"resamples is {resamples}, confidence {confidence}; "
            "wanted at least 1, and a number between 0 and 1"
        )
    columns, k = _coded(gold, [*first, *second], classes)
    # Documents with equal gold labels and predictions are interchangeable: drawing documents means
    # drawing the count of each kind.
    kinds, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    observed = _differences(counts[:, None].astype(np.float64), kinds, k).mean(axis=2)[:, 0]
    rng = np.random.default_rng(seed)
    n_seeds, found = len(first), []
    at_once = max(1, _CELLS_AT_ONCE // len(counts))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=size).T
        drawn = np.ascontiguousarray(drawn, dtype=np.float64)
        runs = rng.multinomial(n_seeds, np.full(n_seeds, 1 / n_seeds), size=size) / n_seeds
        found.append((_differences(drawn, kinds, k) * runs).sum(axis=2))
    resampled = np.concatenate(found, axis=1)
    micro, macro = (
        _difference(float(value), row, confidence)
        for value, row in zip(observed, resampled, strict=True)
    )
    return Significance(micro, macro)


def _coded(
    gold: Labels, predictions: Sequence[Labels], classes: Sequence[Label]
) -> tuple[list[NDArray[np.int64]], int]:
    """Return gold labels and predictions as class numbers, (n,) each, and the number of classes."""
    numbered = {f"prediction {number}": labels for number, labels in enumerate(predictions)}
    named = {"gold": gold, **numbered}
    *arrays, names = comparable(**named, classes=classes)
    check_aligned(**dict(zip(named, arrays, strict=True)))
    if not len(arrays[0]):
        raise LopsError("there is no document; a comparison needs at least one")
    if len(set(names.tolist())) != len(names):
        raise LopsError(f"classes is {names.tolist()}; name every class once")
    columns = [_codes(name, array, names) for name, array in zip(named, arrays, strict=True)]
    return columns, len(names)


def _differences(
    weights: NDArray[np.float64], kinds: NDArray[np.int64], k: int
) -> NDArray[np.float64]:
    """Return first minus second, (2, r, s), of micro and macro-F1.

    ``weights`` (m, r) are r weightings of the m ``kinds`` of documents, (m, 1 + 2 s), of s runs.
    """
    n_seeds = (kinds.shape[1] - 1) // 2
    of_gold, total = _sums(kinds[:, 0], weights, k), weights.sum(axis=0)
    scores = []
    for column in range(1, 1 + 2 * n_seeds):
        right = kinds[:, column] == kinds[:, 0]
        correct = _sums(kinds[right, 0], weights[right], k)
        scores.append(_f1(correct, of_gold + _sums(kinds[:, column], weights, k), total))
    return np.stack([scores[run] - scores[n_seeds + run] for run in range(n_seeds)], axis=2)


def _sums(labels: NDArray[np.int64], weights: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the sum of the weights, (m, r), of each class, (k, r)."""
    from scipy import sparse

    n = len(labels)
    members = sparse.csr_matrix((np.ones(n), (labels, np.arange(n))), shape=(k, n))
    found: NDArray[np.float64] = members @ weights
    return found


def _codes(name: str, labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position in `classes` of every label; an unknown label is a LopsError."""
    unknown = sorted(set(labels.tolist()) - set(classes.tolist()))
    if unknown:
        raise LopsError(
            f"{name} holds {unknown[:5]}, not among the classes {classes.tolist()}; "
            "add them to classes"
        )
    position = {label: i for i, label in enumerate(classes.tolist())}
    positions = (position[label] for label in labels.tolist())
    return np.fromiter(positions, dtype=np.int64, count=len(labels))


def _f1(
    correct: NDArray[np.float64], occurrences: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return micro and macro-F1, (2, r), as scikit-learn defines them.

    Counts are (k, r), totals (r,).
    """
    present = occurrences > 0
    per_class = np.divide(2.0 * correct, occurrences, out=np.zeros_like(correct), where=present)
    macro = per_class.sum(axis=0) / present.sum(axis=0)
    return np.stack([correct.sum(axis=0) / total, macro])


def _difference(observed: float, resampled: NDArray[np.float64], confidence: float) -> Difference:
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    smaller = min(int((resampled <= 0).sum()), int((resampled >= 0).sum()))
    p_value = min(1.0, 2 * (smaller + 1) / (len(resampled) + 1))
    return Difference(observed, float(low), float(high), p_value)
