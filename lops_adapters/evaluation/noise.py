"""Noise and coverage of pseudo-labels: numbers, curves over a confidence, areas under them.

Notation: n pseudo-labelled samples. The coverage of a selection is (number selected) / n; its noise
is (number selected with a wrong pseudo-label) / (number selected). Both are fractions in [0, 1].
Other modules take the checks of labels from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lops_adapters.core import LopsError

Label = str | int
Labels = Sequence[Label] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class NoiseCoverageCurve:
    """Noise against coverage as a confidence threshold falls.

    Attributes:
        thresholds: (n_points,) float64; the distinct confidences, descending. A point selects every
            sample whose confidence is at least its threshold.
        coverage: (n_points,) float64; share of the samples selected, in (0, 1], strictly ascending,
            1 at the end.
        noise: (n_points,) float64; share of the selected samples whose label is wrong, in [0, 1].
    """

    thresholds: NDArray[np.float64]
    coverage: NDArray[np.float64]
    noise: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def ratio(self) -> NDArray[np.float64]:
        """The NC-ratio at each threshold, noise / coverage; lowest at the best one.

        Source: the paper, appendix (Figure 8).

        >>> noise_coverage_curve([0.9, 0.5], ["a", "b"], ["a", "a"]).ratio.tolist()
        [0.0, 0.5]
        """
        return self.noise / self.coverage


def noise(pseudo_labels: Labels, gold: Labels) -> float:
    """Return the fraction of pseudo-labels that differ from the gold label; nan without any.

    Args:
        pseudo_labels, gold: (n,) str or int; aligned; both names or both numbers.

    Raises:
        LopsError: the lengths differ or names are mixed with numbers.

    >>> noise(["sports", "arts", "arts", "arts"], ["sports", "arts", "arts", "sports"])
    0.25
    """
    wrong = _wrong(pseudo_labels, gold)
    return float(wrong.mean()) if len(wrong) else float("nan")


def noise_coverage_curve(
    confidence: ArrayLike, pseudo_labels: Labels, gold: Labels
) -> NoiseCoverageCurve:
    """Return noise and coverage at every confidence threshold, from the highest to the lowest.

    Samples of equal confidence are selected together, so the order of the rows does not matter.

    Args:
        confidence: (n,) float; higher is more trusted. Infinite values are allowed, nan is not.
        pseudo_labels, gold: (n,) str or int; aligned with `confidence`; both names or both numbers.

    Returns:
        One point for each distinct confidence.

    Raises:
        LopsError: lengths differ, names are mixed with numbers, a confidence is nan, or there is no
            sample.

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
    """Return the noise of the best ranking: all correct pseudo-labels before any wrong one.

    With the correct share a of all samples and coverage phi, it is max(0, 1 - a / phi): no errors
    up to phi = a, and phi - a errors among phi selected beyond. The paper prints max(0, phi - a),
    which agrees with its own definition of noise only for phi <= a or phi = 1.

    Args:
        coverage: (n_points,) float; coverages in (0, 1], for instance of a curve.
        correct_share: fraction of all pseudo-labels that is correct, in [0, 1].

    Returns:
        Noise, float64, in the shape of `coverage`.

    Raises:
        LopsError: a number is outside its range.

    >>> ideal_curve([0.25, 0.5, 0.8, 1.0], correct_share=0.5).round(3).tolist()
    [0.0, 0.0, 0.375, 0.5]
    """
    if not 0.0 <= correct_share <= 1.0:
        raise LopsError(f"correct_share is {correct_share}; pass a fraction in [0, 1]")
    phi = np.asarray(coverage, dtype=np.float64)
    if not np.all((phi > 0.0) & (phi <= 1.0)):
        wrong = phi[~((phi > 0.0) & (phi <= 1.0))].tolist()
        raise LopsError(f"coverage holds {wrong[:5]}; pass fractions in (0, 1]")
    return np.maximum(0.0, 1.0 - correct_share / phi)


def area_under_noise_coverage(curve: NoiseCoverageCurve) -> float:
    """Return the area under a noise-coverage curve (AUNC); smaller is better.

    The paper leaves the rule open. Here it is trapezoids between neighbouring points, over the
    observed range of coverage only: from the first point to coverage 1, not extended to 0. Areas of
    curves that start at different coverages are therefore over different ranges; a confidence with
    few distinct values starts late. A curve of one point has no range and gives nan.

    >>> area_under_noise_coverage(noise_coverage_curve([0.9, 0.5], [0, 1], [0, 0]))
    0.125
    """
    if len(curve) < 2:
        return float("nan")
    widths = np.diff(curve.coverage)
    return float(np.sum(widths * (curve.noise[1:] + curve.noise[:-1]) / 2.0))


def _wrong(pseudo_labels: Labels, gold: Labels) -> NDArray[np.bool_]:
    labels, truth = comparable(pseudo_labels=pseudo_labels, gold=gold)
    check_aligned(pseudo_labels=labels, gold=truth)
    return np.asarray(labels != truth, dtype=np.bool_)


def _as_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LopsError(
            f"{name} is not a flat sequence of numbers ({error}); pass one number per sample"
        ) from error
    if array.ndim != 1:
        raise LopsError(
            f"{name} has shape {array.shape}; pass a flat sequence with one number per sample"
        )
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        raise LopsError(
            f"{name} is nan for {len(missing)} samples, first at position {missing[0]}; "
            "give such samples the lowest confidence instead"
        )
    return array


def comparable(**named: Labels) -> list[NDArray[Any]]:
    """Return label sequences as 1-d arrays, all of str (dtype object) or all of int64.

    Their lengths may differ.

    A mixture of the two is an error: all labels would compare unequal. An empty sequence goes with
    either.
    """
    arrays = {name: _as_objects(name, values) for name, values in named.items()}
    kinds = {name: _kind(name, array) for name, array in arrays.items() if len(array)}
    if len(set(kinds.values())) > 1:
        described = ", ".join(f"{name} holds {kind}" for name, kind in kinds.items())
        raise LopsError(f"{described}; pass all as class names or all as class numbers")
    dtype = np.int64 if "integers" in kinds.values() else object
    return [array.astype(dtype) for array in arrays.values()]


def check_aligned(**named: NDArray[Any]) -> None:
    """Raise a LopsError if arrays have different lengths."""
    lengths = {name: len(array) for name, array in named.items()}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise LopsError(f"{described}; pass one entry per sample, in the same order")


def _as_objects(name: str, values: Labels) -> NDArray[Any]:
    if isinstance(values, str):
        raise LopsError(f"{name} is the string {values!r}; pass a sequence of labels")
    array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise LopsError(
            f"{name} has shape {array.shape}; pass a flat sequence with one label per sample"
        )
    return array


def _kind(name: str, array: NDArray[Any]) -> str:
    types = {type(value) for value in array.tolist()}
    if all(issubclass(kind, str) for kind in types):
        return "strings"
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in types):
        return "integers"
    raise LopsError(
        f"{name} holds labels of type {', '.join(sorted(kind.__name__ for kind in types))}; "
        "pass only strings or only integers, and leave out samples without a label"
    )
