"""How far label sources agree, beyond chance; and whether one is as good as another.

Notation: n rows, m sources, k classes, codes 0..k-1, -1: no label.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_Z = 1.959963984540054  # of a 95 % interval
_DRAWS = 500  # weightings of the rows
_LEAST_NEED = 0.005  # what an interval is asked to tell from 0, at least


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval, and the number of rows behind it."""

    value: float
    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class Difference:
    """How much more often one source is right than another, in [-1, 1].

    Attributes:
        value, low, high: with the 95 % interval.
        rows: checked rows on which both vote.
        verdict: ``as good``, ``worse``, or ``undecided``.
        more: further rows to check until it is decided; 0: it is, or all are checked.
    """

    value: float
    low: float
    high: float
    rows: int
    verdict: str
    more: int


def confusion(
    first: np.ndarray, second: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the number of rows per pair of labels, (k, k) int64; of rows with both.

    With (n,) weights, the sum of these, float64.

    >>> confusion(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    both = (first >= 0) & (second >= 0)
    cells = first[both].astype(np.int64) * n_classes + second[both]
    of_cells = None if weights is None else weights[both]
    return np.bincount(cells, of_cells, n_classes**2).reshape(n_classes, n_classes)


def kappa(counts: np.ndarray, rows: int | None = None, ordered: bool = False) -> Interval | None:
    """Return Cohen's kappa of a confusion, (k, k); None without rows.

    Its variance is Fleiss, Cohen and Everitt's (1969), with one further row spread over all cells,
    so that few rows that all agree are not certain. Two sources that always give the same one label
    have a kappa of 0: nothing tells their agreement from chance.

    With weights, the counts sum to the number of rows that would say as much without, and ``rows``
    is the number to show. ``ordered``: the classes have an order, and labels that differ count by
    the square of their distance (quadratic kappa).

    >>> found = kappa(np.array([[20, 5], [10, 15]]))
    >>> round(found.value, 3), found.rows, found.low < 0.4 < found.high
    (0.4, 50, True)
    """
    total, k = float(counts.sum()), len(counts)
    if not total:
        return None
    distances = np.arange(k)[:, None] - np.arange(k)
    weights = 1 - (distances / max(1, k - 1)) ** 2 if ordered else np.eye(k)
    value, _ = _kappa(counts / total, weights)
    if ordered and value:
        value = _quadratic(counts)
    smooth = (counts + 1 / counts.size) / (total + 1)
    error = _Z * math.sqrt(_kappa(smooth, weights)[1] / total)
    shown = round(total) if rows is None else rows
    return Interval(value, max(-1.0, value - error), min(1.0, value + error), shown)


def _quadratic(counts: np.ndarray) -> float:
    from sklearn.metrics import cohen_kappa_score

    first, second = np.indices(counts.shape).reshape(2, -1)
    score = cohen_kappa_score(first, second, weights="quadratic", sample_weight=counts.ravel())
    return float(score)


def _kappa(shares: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return kappa, and its variance times the number of rows.

    Both are (k, k): shares of the rows, and how far two labels agree, 1 for equal ones.
    """
    first, second = shares.sum(axis=1), shares.sum(axis=0)
    equal, chance = float((weights * shares).sum()), float(first @ weights @ second)
    if chance > 1 - 1e-12:
        return 0.0, 0.0
    means = (weights @ second)[:, None] + first @ weights
    cells = shares * (weights * (1 - chance) - means * (1 - equal)) ** 2
    spread = float(cells.sum()) - (equal * chance - 2 * chance + equal) ** 2
    return (equal - chance) / (1 - chance), max(0.0, spread) / (1 - chance) ** 4


def of_classes(counts: np.ndarray, rows: int | None = None) -> tuple[Interval | None, ...]:
    """Return kappa of each class against all others, see :func:`kappa`."""
    both, total = np.diag(counts), counts.sum()
    first, second = counts.sum(axis=1) - both, counts.sum(axis=0) - both
    cells = np.array([both, first, second, total - both - first - second])
    return tuple(kappa(one, rows) for one in cells.T.reshape(-1, 2, 2))


def alpha(
    votes: np.ndarray, n_classes: int, seed: int = 0, ordered: bool = False
) -> Interval | None:
    """Return Krippendorff's alpha; None if no row has two labels.

    Votes are (n, m) codes; rows with one label say nothing of agreement. ``ordered``: the classes
    have an order (ordinal alpha); else all labels that differ are equally far apart. The interval
    is that of 500 random weightings of the rows (the Bayesian bootstrap), the same in any order of
    rows and sources.

    >>> votes = np.array([[0, 0], [0, 0], [1, 1], [0, 1]])
    >>> found = alpha(votes, 2)
    >>> round(found.value, 3), found.rows
    (0.533, 4)
    """
    labels = np.sort(votes[(votes >= 0).sum(axis=1) > 1], axis=1)
    if not len(labels):
        return None
    from scipy.sparse import csr_matrix

    kinds, times = np.unique(labels, axis=0, return_counts=True)  # rows with the same labels
    rows, sources = np.nonzero(kinds >= 0)
    cells = np.ones(len(rows)), (rows, kinds[rows, sources])
    counts = csr_matrix(cells, (len(kinds), n_classes))
    sizes = np.bincount(rows)
    apart = (sizes**2 - np.asarray(counts.power(2).sum(axis=1)).ravel()) / (sizes - 1)

    def of(weights: np.ndarray) -> float:
        of_classes, total = counts.T @ weights, float(weights @ sizes)
        if ordered:
            below = np.cumsum(of_classes) - of_classes / 2  # ranks: squared distances of classes
            observed = weights @ (_spread(counts, below) / (sizes - 1))
            expected = float(_spread(of_classes[None], below)[0])
        else:
            observed = weights @ apart
            expected = total**2 - float((of_classes**2).sum())
        return 1 - float(observed) * (total - 1) / expected if expected > 0 else 0.0

    rng = np.random.default_rng(seed)
    drawn = [of(rng.gamma(times)) for _ in range(_DRAWS)]
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    value = of(times.astype(np.float64))
    return Interval(value, min(low, value), max(high, value), len(labels))


def _spread(counts: Any, places: np.ndarray) -> np.ndarray:
    """Return the sum of squared distances of all ordered pairs of labels in each row of counts.

    Counts are (r, k) labels per class, also sparse ones; ``places`` (k,) of the classes.
    """
    total, mean, square = (counts @ one for one in (np.ones(len(places)), places, places**2))
    return np.asarray(2 * (total * square - mean**2))


def difference(
    first: np.ndarray,
    second: np.ndarray,
    checked: np.ndarray,
    probabilities: np.ndarray,
    margin: float,
) -> Difference | None:
    """Compare how often two sources are right, from checked rows; None without such rows.

    Where both give the same label, they are equally right: only the rows on which they differ are
    estimated. There, what all sources together say is a covariate: the mean over these rows of how
    much more probable the first label is, corrected by the checked ones. So the interval is valid
    for any probabilities, and narrower for good ones
    (prediction-powered inference, Angelopoulos et al., Science 2023; for language models Gligoric
    et al., NAACL 2025). It holds if the checked rows are a random sample of all rows, or of those
    on which sources differ and, apart, of the others.

    Args:
        first, second: (n,) codes.
        checked: (n,) codes by a person, -1: not checked, or none of the classes.
        probabilities: (n, k) of the true classes.
        margin: share of rows; ``as good``: less often right by at most this, with 97.5 %
            confidence.
    """
    both = np.flatnonzero((first >= 0) & (second >= 0))
    n, every = int((checked[both] >= 0).sum()), len(both)
    if not n:
        return None
    apart = both[first[both] != second[both]]
    share = len(apart) / every
    mean, error = _mean_difference(
        first[apart], second[apart], checked[apart], probabilities[apart]
    )
    value = share * mean
    # The share of rows on which they differ is that of a sample; with one more row of each kind, so
    # that the interval of two sources that never differ is not a point.
    of_share = (len(apart) + 1) * (every - len(apart) + 1) / (every + 2) ** 2 / every
    error = _Z * math.sqrt((share * error) ** 2 + (mean**2 + 1 / (n + 2)) * of_share)
    low, high = max(-1.0, value - error), min(1.0, value + error)
    if low > -margin:
        return Difference(value, low, high, n, "as good", 0)
    if high < 0:
        return Difference(value, low, high, n, "worse", 0)
    need = max(value + margin, -value, _LEAST_NEED)
    needed = math.ceil(n * (error / need) ** 2) - n
    return Difference(value, low, high, n, "undecided", min(max(1, needed), every - n))


def _mean_difference(
    first: np.ndarray, second: np.ndarray, checked: np.ndarray, probabilities: np.ndarray
) -> tuple[float, float]:
    """Return the mean difference of (m,) rows on which both differ, and its standard error.

    Without checked ones, the mean is 0, and the error that of a mean of which nothing is known.
    """
    known, m = checked >= 0, len(checked)
    n, each = int(known.sum()), np.arange(len(checked))
    if not n:
        return 0.0, 1 / _Z if m else 0.0
    expected = probabilities[each, first] - probabilities[each, second]
    right = (first[known] == checked[known]).astype(float) - (second[known] == checked[known])
    spread = float(expected.var())
    together = float(np.cov(right, expected[known], bias=True)[0, 1])
    share = min(1.0, max(0.0, together / max(spread, 1e-12)))
    rest = right - share * expected[known]
    # Three more rows that differ from the mean by 1: few rows that are all alike are not certain.
    of_rest = (float(((rest - rest.mean()) ** 2).sum()) + 3) / (n + 3)
    # Student's distribution in place of the normal one, to the first order.
    error = math.sqrt(share**2 * spread / m + of_rest / n) * (1 + (_Z**2 + 1) / (4 * n))
    mean = share * float(expected.mean()) + float(rest.mean())
    return mean, min(error, (1 + abs(mean)) / _Z)  # all from -1 to 1
