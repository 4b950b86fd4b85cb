"""From scores and selections to numbers: curves, areas, distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.evaluation import (
    NoiseCoverageCurve,
    area_under_noise_coverage,
    ideal_curve,
    noise_coverage_curve,
)

MOST_POINTS = 50
_FINE = 2001  # points of the ideal curve, for a nearly exact area
BINS = 10
_EXAMPLES = 5


def curve_numbers(scores: np.ndarray, codes: np.ndarray, gold: np.ndarray) -> dict[str, Any]:
    """Return a confidence's noise-coverage curve, thinned, and the area under the whole curve.

    Args:
        scores: (n,) float, higher means more trusted.
        codes, gold: (n,) int, pseudo-labels and gold labels.

    Returns:
        ``aunc``: area under the whole curve; ``auroc``: how often a right label scores above a
        wrong one, None without either; ``ideal``: area under the best possible curve from
        ``from_coverage`` on, where the curve starts; ``points``: number of distinct scores;
        ``coverage`` and ``noise`` of at most 50 points.

    """
    from sklearn.metrics import roc_auc_score

    curve, right = noise_coverage_curve(scores, codes, gold), codes == gold
    shown = thinned(curve.coverage)
    return {
        "aunc": area_under_noise_coverage(curve),
        "auroc": float(roc_auc_score(right, scores)) if 0 < right.mean() < 1 else None,
        "ideal": ideal_area(float(curve.coverage[0]), float(right.mean())),
        "from_coverage": float(curve.coverage[0]),
        "points": len(curve),
        "coverage": [round(value, 5) for value in curve.coverage[shown].tolist()],
        "noise": [round(value, 5) for value in curve.noise[shown].tolist()],
    }


def thinned(coverage: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Return positions of at most ``most`` points, evenly spread over coverage.

    The coverage ascends to 1; the first and last points are included.

    >>> thinned(np.linspace(0.1, 1.0, 10), 4).tolist()
    [0, 3, 6, 9]
    """
    if len(coverage) <= most:
        return np.arange(len(coverage))
    wanted = np.linspace(coverage[0], coverage[-1], most)
    return np.unique(np.searchsorted(coverage, wanted - 1e-9).clip(max=len(coverage) - 1))


def ideal_area(start: float, correct_share: float) -> float:
    """Return the area under the best possible curve from coverage ``start`` to 1, or nan.

    The area is nan if ``start`` is 1.

    >>> round(ideal_area(0.5, 0.5), 4)  # 1/2 - 1/2 log 2
    0.1534
    """
    grid = np.linspace(start, 1.0, _FINE)
    return (
        area_under_noise_coverage(NoiseCoverageCurve(grid, grid, ideal_curve(grid, correct_share)))
        if start < 1
        else float("nan")
    )


def noise_at(curve: dict[str, Any], coverage: float) -> float | None:
    """Return the interpolated noise of a stored curve at a coverage; None before its first point.

    >>> curve = {"coverage": [0.5, 1.0], "noise": [0.1, 0.3]}
    >>> noise_at(curve, 0.75), noise_at(curve, 0.4)
    (0.2, None)
    """
    if coverage < curve["coverage"][0]:
        return None
    return float(np.interp(coverage, curve["coverage"], curve["noise"]))


def distributions(
    probability: np.ndarray, learnt_at: np.ndarray, correct: np.ndarray, epochs: int
) -> dict[str, Any]:
    """Return the distributions of correct and wrong samples by probability and learning epoch.

    Args:
        probability: (n,) of the pseudo-label after training; bins of width 0.1, the last with 1.
        learnt_at: (n,) in whole epochs; inf means never, the last share.
        correct: (n,) bool.
        epochs: of the training.

    >>> probability, learnt_at = np.array([0.05, 1.0]), np.array([1.0, np.inf])
    >>> distributions(probability, learnt_at, np.array([True, True]), 2)["learnt_at"]
    {'correct': [0.5, 0.0, 0.5], 'wrong': None}
    """
    bins, when = _cells(probability, learnt_at, epochs)
    return {
        name: {"correct": _shares(places[correct], size), "wrong": _shares(places[~correct], size)}
        for name, places, size in (("probability", bins, BINS), ("learnt_at", when, epochs + 1))
    }


def wrong_samples(
    probability: np.ndarray,
    learnt_at: np.ndarray,
    codes: np.ndarray,
    gold: np.ndarray,
    ids: Sequence[str],
    classes: Sequence[str],
    epochs: int,
) -> dict[str, Any]:
    """Return the wrong pseudo-labels by probability and learning epoch, with examples.

    Args:
        probability, learnt_at, epochs: as for :func:`distributions`.
        codes, gold: (n,) int, places among the classes.
        ids: (n,) of the samples.
        classes: names.

    Returns:
        ``counts``: one row per probability bin, one column per epoch, the last for never;
        ``examples``: the at most five with the largest probability of each epoch after the first
        and of never, with ``id``, ``pseudo_label``, ``gold``, ``probability`` and ``learnt_at``
        (None: never).

    >>> arrays = map(np.array, ([0.95, 0.2], [2.0, 1.0], [1, 0], [0, 1]))
    >>> found = wrong_samples(*arrays, ids=["x", "y"], classes=["a", "b"], epochs=2)
    >>> found["counts"][9], found["examples"][0]["id"], found["examples"][0]["learnt_at"]
    ([0, 1, 0], 'x', 2)
    """
    bins, when = _cells(probability, learnt_at, epochs)
    wrong = np.flatnonzero(codes != gold)
    counts = np.zeros((BINS, epochs + 1), dtype=int)
    np.add.at(counts, (bins[wrong], when[wrong]), 1)
    examples = []
    for epoch in range(2, epochs + 2):
        there = sorted(
            wrong[when[wrong] == epoch - 1].tolist(),
            key=lambda place: (-probability[place], ids[place]),
        )
        for place in there[:_EXAMPLES]:
            names = {
                "id": ids[place],
                "pseudo_label": classes[codes[place]],
                "gold": classes[gold[place]],
            }
            numbers = {
                "probability": round(float(probability[place]), 4),
                "learnt_at": epoch if epoch <= epochs else None,
            }
            examples.append({**names, **numbers})
    return {"counts": counts.tolist(), "examples": examples}


def _cells(
    probability: np.ndarray, learnt_at: np.ndarray, epochs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return each sample's probability bin and its epoch from 0, (n,) int; never comes last."""
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    return bins, np.where(np.isinf(learnt_at), epochs + 1, learnt_at).astype(int) - 1


def _shares(places: np.ndarray, size: int) -> list[float] | None:
    return (np.bincount(places, minlength=size) / len(places)).tolist() if len(places) else None


def kept_numbers(mask: np.ndarray, codes: np.ndarray, gold: np.ndarray) -> dict[str, Any]:
    """Return the share of samples that a selection keeps and its noise, None if it is empty."""
    return {
        "kept": float(mask.mean()),
        "noise": float((codes != gold)[mask].mean()) if mask.any() else None,
    }
