"""Noise and coverage of pseudo-labels: single numbers, curves over a confidence, and the area under
them.

Notation: D the pseudo-labelled samples, n their number; of a selection, coverage is (number
selected) / n and noise is (number selected whose pseudo-label is not the gold label) / (number
selected). Both are fractions in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lops_adapters.core import LopsError
from lops_adapters.evaluation._labels import Labels, check_aligned, comparable


@dataclass(frozen=True, eq=False)
class NoiseCoverageCurve:
    """Noise against coverage as a confidence threshold falls.

    Attributes:
        thresholds (ndarray of shape (n_points,), float64): The distinct confidences, descending. A
        point selects every sample whose
            confidence is at least its threshold.
        coverage (ndarray of shape (n_points,), float64): Share of the samples selected, in (0, 1],
        strictly ascending, 1 at the end. noise (ndarray of shape (n_points,), float64): Share of
        the selected that is wrong, in [0, 1].
    """

    thresholds: NDArray[np.float64]
    coverage: NDArray[np.float64]
    noise: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.thresholds)


def noise(pseudo_labels: Labels, gold: Labels) -> float:
    """Return the fraction of pseudo-labels that differ from the gold label; nan where there is
    none.

    Args:
        pseudo_labels, gold (sequence or ndarray of shape (n,), str or int): Aligned; both names or
        both numbers.

    Raises:
        LopsError: If the lengths differ or names are mixed with numbers.

    >>> noise(["sports", "arts", "arts", "arts"], ["sports", "arts", "arts", "sports"])
    0.25
    """
    wrong = _wrong(pseudo_labels, gold)
    return float(wrong.mean()) if len(wrong) else float("nan")


def coverage(n_selected: int, n_total: int) -> float:
    """Return the selected share `n_selected` / `n_total`; nan where there is nothing to select
    from.

    Raises:
        LopsError: If a number is negative or more is selected than there is.

    >>> coverage(3, 4)
    0.75
    """
    if not 0 <= n_selected <= n_total:
        raise LopsError(f"{n_selected} selected of {n_total}; pass 0 <= n_selected <= n_total")
    return n_selected / n_total if n_total else float("nan")


def noise_coverage_curve(
    confidence: ArrayLike, pseudo_labels: Labels, gold: Labels
) -> NoiseCoverageCurve:
    """Trace noise and coverage while the confidence threshold falls from the highest confidence to
    the lowest.

    Samples of equal confidence enter together, so that the curve does not depend on the order of
    the rows.

    Args:
        confidence (array-like of shape (n,), float): Higher is more trusted. Infinite values are
        allowed, nan is not. pseudo_labels, gold (sequence or ndarray of shape (n,), str or int):
        Aligned with `confidence`; both names or both numbers.

    Returns:
        NoiseCoverageCurve: One point for each distinct confidence.

    Raises:
        LopsError: If lengths differ, names are mixed with numbers, a confidence is nan, or there is
            no sample.

    Source: the noise-coverage curve of the LOPS paper; the paper gives no code for it.

    >>> curve = noise_coverage_curve([0.9, 0.5, 0.5, 0.1], [0, 1, 1, 1], [0, 1, 0, 0])
    >>> curve.thresholds.tolist(), curve.coverage.tolist(), curve.noise.round(3).tolist()
    ([0.9, 0.5, 0.1], [0.25, 0.75, 1.0], [0.0, 0.333, 0.5])
    """
    scores = _as_floats("confidence", confidence)
    wrong = _wrong(pseudo_labels, gold)
    check_aligned(confidence=scores, pseudo_labels=wrong)
    if not len(scores):
        raise LopsError("there is no sample; a curve needs at least one")
    thresholds, entering = np.unique(scores, return_inverse=True)
    selected = np.bincount(entering)[::-1].cumsum()
    wrong_selected = np.bincount(entering, weights=wrong)[::-1].cumsum()
    return NoiseCoverageCurve(thresholds[::-1], selected / len(scores), wrong_selected / selected)


def ideal_curve(coverage: ArrayLike, correct_share: float) -> NDArray[np.float64]:
    """Return the noise of the best possible ranking, which selects every correct pseudo-label
    before any wrong one.

    With the correct share a of all samples and coverage phi this is max(0, 1 - a / phi): nothing
    wrong up to phi = a, and phi - a wrong of phi selected beyond. The paper prints max(0, phi - a),
    which by its own definition of noise agrees only where phi <= a or phi = 1.

    Args:
        coverage (array-like of shape (n_points,), float): Coverages in (0, 1], for instance those
        of a curve.
        correct_share (float): Fraction of all pseudo-labels that is correct, in [0, 1].

    Returns:
        ndarray of the shape of `coverage`, float64

    Raises:
        LopsError: If a number is outside its range.

    >>> ideal_curve([0.25, 0.5, 0.8, 1.0], correct_share=0.5).round(3).tolist()
    [0.0, 0.0, 0.375, 0.5]
    """
    if not 0.0 <= correct_share <= 1.0:
        raise LopsError(f"correct_share is {correct_share}; pass a fraction in [0, 1]")
    phi = np.asarray(coverage, dtype=np.float64)
    if not np.all((phi > 0.0) & (phi <= 1.0)):
        raise LopsError(
            f"coverage holds {phi[~((phi > 0.0) & (phi <= 1.0))].tolist()[:5]}; pass fractions in (0, 1]"
        )
    return np.maximum(0.0, 1.0 - correct_share / phi)


def area_under_noise_coverage(curve: NoiseCoverageCurve) -> float:
    """Return the area under a noise-coverage curve (AUNC); smaller is better.

    Rule, which the paper leaves open: trapezoids between neighbouring points, over the observed
    range of coverage only, from the first point to coverage 1; the curve is not extended to
    coverage 0. Curves that start at different coverages (a confidence with few distinct values
    starts late) are therefore areas over different ranges. A curve of one point has no range and
    gives nan.

    >>> area_under_noise_coverage(noise_coverage_curve([0.9, 0.5], [0, 1], [0, 0]))
    0.125
    """
    if len(curve) < 2:
        return float("nan")
    widths = np.diff(curve.coverage)
    return float(np.sum(widths * (curve.noise[1:] + curve.noise[:-1]) / 2.0))


def noise_coverage_ratio(noise: ArrayLike, coverage: ArrayLike) -> NDArray[np.float64]:
    """Return the NC-ratio noise / coverage of a selection or of every point of a curve; smaller is
    better.

    Args:
        noise, coverage (array-like, float): Fractions in [0, 1], of the same shape: single numbers,
            or the arrays of a `NoiseCoverageCurve`.

    Returns:
        ndarray of the same shape (0-d for single numbers), float64: nan where the coverage is 0:
        nothing is selected and the noise is
            undefined.

    Raises:
        LopsError: If the shapes differ.

    >>> float(noise_coverage_ratio(0.1, 0.8))
    0.125
    """
    epsilon, phi = np.asarray(noise, dtype=np.float64), np.asarray(coverage, dtype=np.float64)
    if epsilon.shape != phi.shape:
        raise LopsError(
            f"noise has shape {epsilon.shape}, coverage {phi.shape}; pass the same shape"
        )
    ratio = np.full(phi.shape, np.nan)
    np.divide(epsilon, phi, out=ratio, where=phi != 0.0)
    return ratio


def _wrong(pseudo_labels: Labels, gold: Labels) -> NDArray[np.bool_]:
    given, truth = comparable(pseudo_labels=pseudo_labels, gold=gold)
    check_aligned(pseudo_labels=given, gold=truth)
    return np.asarray(given != truth, dtype=np.bool_)


def _as_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LopsError(
            f"{name} is not a flat sequence of numbers ({error}); pass one number a sample"
        ) from error
    if array.ndim != 1:
        raise LopsError(
            f"{name} has shape {array.shape}; pass a flat sequence with one number for each sample"
        )
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        raise LopsError(
            f"{name} is nan for {len(missing)} samples, first at position {missing[0]}; "
            "give never-confident samples the lowest value instead"
        )
    return array
