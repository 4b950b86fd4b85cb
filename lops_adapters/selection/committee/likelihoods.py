"""What held-out probabilities say about a sample, apart from how often each label is applied.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels.
"""

import math

import numpy as np

# Of all samples, spread evenly over the classes: a rare class cannot win by a tiny denominator.
SPREAD = 0.1
MOST_WON = 2.0  # labels of other classes that a class may win, per label of its own
LEAST_SKILL = 0.25  # below it, predictions cannot tell right labels from wrong ones


def class_shares(codes: np.ndarray, n_classes: int, least: int = 1) -> np.ndarray:
    """Return the share of samples per pseudo-label, (k,) float64.

    Classes with fewer than ``least`` samples have the share inf: their likelihood is 0, so they do
    not compete with others.

    >>> class_shares(np.array([0, 0, 0, 1]), 2), class_shares(np.array([0, 0, 0, 1]), 2, least=2)
    (array([0.75, 0.25]), array([0.75,  inf]))
    """
    counts = np.bincount(codes, minlength=n_classes)
    return np.where(counts < least, np.inf, counts / max(1, len(codes)))


def likelihoods(probabilities: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Divide probabilities by the classes' shares of the pseudo-labels and scale rows to sum to 1.

    A classifier trained on pseudo-labels learns p(label | x), which is p(x | label) p(label) /
    p(x). Divided by p(label), it says how well x fits each class, however often people, rules or
    models apply that class. To both, ``SPREAD`` of all samples is added, evenly over the classes.
    Probabilities are (n, k), held-out, and shares (k,) of :func:`class_shares`.

    >>> likelihoods(np.array([[0.6, 0.4], [0.9, 0.1]]), np.array([0.75, 0.25])).round(2).tolist()
    [[0.35, 0.65], [0.7, 0.3]]
    """
    even = SPREAD / len(shares)
    ratios = (np.asarray(probabilities, dtype=np.float64) + even) / (shares + even)
    return np.asarray(ratios / np.maximum(ratios.sum(axis=1, keepdims=True), 1e-12))


def strengths(likely: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the factors that keep rare classes from winning, (k,) float64 in (0, 1].

    A text that says little fits every class about equally well, a rare one too. The factor of a
    class makes it the most likely one of at most ``MOST_WON`` times as many samples with other
    labels as it has samples. ``likely`` are (n, k) likelihoods, ``codes`` (n,) int.

    >>> likely, codes = np.array([[0.49, 0.51]] * 9 + [[0.1, 0.9]]), np.array([0] * 9 + [1])
    >>> factors = strengths(likely, codes)
    >>> factors.round(3).tolist(), weakened(likely, codes, factors).round(2)[[0, 9]].tolist()
    ([1.0, 0.961], [[0.5, 0.5], [0.1, 0.9]])
    """
    k = likely.shape[1]
    factors = np.ones(k)
    if k < 2:
        return factors
    second, first = np.partition(likely, k - 2, axis=1)[:, k - 2 :].T
    for code, count in enumerate(np.bincount(codes, minlength=k).tolist()):
        others = codes != code
        won = int(MOST_WON * count)
        if won >= others.sum():
            continue
        of_class = likely[others, code]
        rival = np.where(of_class >= first[others], second[others], first[others])
        ratios = of_class / np.maximum(rival, 1e-12)
        beyond = np.partition(ratios, len(ratios) - 1 - won)[len(ratios) - 1 - won]
        factors[code] = 1 / max(1.0, beyond)
    return factors


def weakened(likely: np.ndarray, codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Multiply likelihoods, (n, k), by the factors of :func:`strengths`; rows sum to 1.

    The class of a sample's own label keeps its likelihood: the limit is for other samples. A code
    of -1 is no label.
    """
    if (factors == 1).all():
        return likely
    scaled, rows = likely * factors, np.flatnonzero(codes >= 0)
    scaled[rows, codes[rows]] = likely[rows, codes[rows]]
    return np.asarray(scaled / np.maximum(scaled.sum(axis=1, keepdims=True), 1e-12))


def preferred(likely: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return which labels have the largest likelihood, ties included, (n,) bool."""
    label_likelihood = likely[np.arange(len(codes)), codes]
    return np.asarray(label_likelihood >= likely.max(axis=1) * (1 - 1e-9))


def skill(likely: np.ndarray, codes: np.ndarray) -> float:
    """Return how far predictions agree with the labels: 0 by chance, 1 with all of them.

    With k competing classes and the share a of :func:`preferred` labels, it is (a - 1/k) / (1 -
    1/k). Ties count as much as chance, so that equal predictions for all samples have no skill.

    >>> skill(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]]), np.array([0, 0, 0, 1]))
    0.5
    >>> skill(np.full((4, 2), 0.5), np.array([0, 0, 1, 1]))
    0.0
    """
    n, k = len(likely), int((likely.max(axis=0) > 0).sum())
    if k < 2:
        return 1.0
    largest = likely >= likely.max(axis=1, keepdims=True) * (1 - 1e-9)
    agreed = (largest[np.arange(n), codes] / largest.sum(axis=1)).mean()
    return float((agreed - 1 / k) / (1 - 1 / k))


def by_chance(likely: np.ndarray) -> float:
    """Return the :func:`skill` that guesses may have: two standard errors above 0.

    >>> by_chance(np.full((400, 2), 0.5))
    0.1
    """
    n, k = len(likely), int((likely.max(axis=0) > 0).sum())
    return 2 / math.sqrt(n * max(1, k - 1))
