"""How far label sources agree, beyond chance; and whether one is as good as another.

Notation: n rows, m sources, k classes, codes 0..k-1, -1: no label.
"""

import math
from dataclasses import dataclass

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
        more: further rows to check until it is decided; 0: it is.
    """

    value: float
    low: float
    high: float
    rows: int
    verdict: str
    more: int


def confusion(first: np.ndarray, second: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the number of rows per pair of labels, (k, k) int64; of rows with both.

    >>> confusion(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    both = (first >= 0) & (second >= 0)
    cells = first[both].astype(np.int64) * n_classes + second[both]
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes)


def kappa(counts: np.ndarray) -> Interval | None:
    """Return Cohen's kappa of a confusion, (k, k); None without rows.

    Its variance is Fleiss, Cohen and Everitt's (1969), with one further row spread over all cells,
    so that few rows that all agree are not certain. Two sources that always give the same one label
    have a kappa of 0: nothing tells their agreement from chance.

    >>> found = kappa(np.array([[20, 5], [10, 15]]))
    >>> round(found.value, 3), found.rows, found.low < 0.4 < found.high
    (0.4, 50, True)
    """
    rows = int(counts.sum())
    if not rows:
        return None
    value, _ = _kappa(counts / rows)
    smooth = (counts + 1 / counts.size) / (rows + 1)
    error = _Z * math.sqrt(_kappa(smooth)[1] / rows)
    return Interval(value, max(-1.0, value - error), min(1.0, value + error), rows)


def _kappa(shares: np.ndarray) -> tuple[float, float]:
    """Return kappa, and its variance times the number of rows."""
    first, second = shares.sum(axis=1), shares.sum(axis=0)
    equal, chance = float(np.trace(shares)), float(first @ second)
    if chance > 1 - 1e-12:
        return 0.0, 0.0
    diagonal = np.diag(shares) * ((1 - chance) - (first + second) * (1 - equal)) ** 2
    others = shares * (second[:, None] + first[None, :]) ** 2
    np.fill_diagonal(others, 0)
    rest = (equal * chance - 2 * chance + equal) ** 2
    spread = float(diagonal.sum()) + (1 - equal) ** 2 * float(others.sum()) - rest
    return (equal - chance) / (1 - chance), max(0.0, spread) / (1 - chance) ** 4


def of_class(counts: np.ndarray, code: int) -> Interval | None:
    """Return kappa of one class against all others."""
    here = counts[code, code]
    first, second = counts[code].sum() - here, counts[:, code].sum() - here
    return kappa(np.array([[here, first], [second, counts.sum() - here - first - second]]))


def alpha(votes: np.ndarray, n_classes: int, seed: int = 0) -> Interval | None:
    """Return Krippendorff's alpha for classes without an order; None if no row has two labels.

    Votes are (n, m) codes; rows with one label say nothing of agreement. The interval is that of
    500 random weightings of the rows (the Bayesian bootstrap).

    >>> votes = np.array([[0, 0], [0, 0], [1, 1], [0, 1]])
    >>> found = alpha(votes, 2)
    >>> round(found.value, 3), found.rows
    (0.533, 4)
    """
    counts = np.stack([(votes == code).sum(axis=1) for code in range(n_classes)], axis=1)
    counts = counts[counts.sum(axis=1) > 1].astype(np.float64)
    if not len(counts):
        return None
    labels = counts.sum(axis=1)
    apart = (labels**2 - (counts**2).sum(axis=1)) / (labels - 1)

    def of(weights: np.ndarray) -> np.ndarray:
        of_classes, total = weights @ counts, weights @ labels
        expected = total**2 - (of_classes**2).sum(axis=-1)
        observed = (weights @ apart) * (total - 1)
        return np.asarray(1 - np.where(expected > 0, observed / np.maximum(expected, 1e-12), 1.0))

    rng = np.random.default_rng(seed)
    drawn = np.array([of(rng.exponential(size=len(counts))) for _ in range(_DRAWS)])
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    value = float(of(np.ones(len(counts))))
    return Interval(value, min(low, value), max(high, value), len(counts))


def difference(
    first: np.ndarray,
    second: np.ndarray,
    checked: np.ndarray,
    probabilities: np.ndarray,
    margin: float,
) -> Difference | None:
    """Compare how often two sources are right, from checked rows; None without such rows.

    What all sources together say of every row is a covariate: the mean over all rows of how much
    more probable the first label is, corrected by the checked rows. So the interval is valid
    for any probabilities, and narrower for good ones
    (prediction-powered inference, Angelopoulos et al., Science 2023; for language models Gligoric
    et al., NAACL 2025). It holds if the checked rows are a random sample.

    Args:
        first, second: (n,) codes.
        checked: (n,) codes by a person, -1: not checked, or none of the classes.
        probabilities: (n, k) of the true classes.
        margin: share of rows; ``as good``: less often right by at most this, with 97.5 %
            confidence.
    """
    both = np.flatnonzero((first >= 0) & (second >= 0))
    known = checked[both] >= 0
    n, every = int(known.sum()), len(both)
    if not n:
        return None
    expected = probabilities[both, first[both]] - probabilities[both, second[both]]
    true = checked[both][known]
    right = (first[both][known] == true).astype(float) - (second[both][known] == true)
    expected_known = expected[known]
    spread = float(expected.var())
    together = float(((right - right.mean()) * (expected_known - expected_known.mean())).mean())
    share = min(1.0, max(0.0, together / max(spread, 1e-12) * every / (n + every)))
    rest = right - share * expected_known
    value = share * float(expected.mean()) + float(rest.mean())
    # One more row in which either is right alone: few rows without a difference are not certain.
    of_rest = (float(((rest - rest.mean()) ** 2).sum()) + 1) / (n + 2)
    error = _Z * math.sqrt(share**2 * spread / every + of_rest / n)
    low, high = max(-1.0, value - error), min(1.0, value + error)
    if low > -margin:
        return Difference(value, low, high, n, "as good", 0)
    if high < 0:
        return Difference(value, low, high, n, "worse", 0)
    need = max(value + margin, -value, _LEAST_NEED)
    needed = math.ceil(n * (error / need) ** 2) - n
    return Difference(value, low, high, n, "undecided", max(1, needed))
