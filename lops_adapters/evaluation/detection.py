"""How well a selection finds wrong labels: of what it rejects, and by its ranking.

Notation: n pseudo-labelled samples with a gold label; a label is wrong if it differs from it.
"""

from dataclasses import dataclass

import numpy as np

from lops_adapters.core import LopsError


@dataclass(frozen=True)
class Detection:
    """How well wrong labels are found; each number is in [0, 1].

    Attributes:
        precision: share of the rejected labels that are wrong; None: nothing is rejected.
        recall: share of the wrong labels that are rejected; None: no label is wrong.
        auroc: area under the ROC curve of low confidence as a sign of a wrong label: the
            probability that a wrong label is less trusted than a right one, ties counting half.
            None: all labels are wrong, or none, or all confidences are equal.
        average_precision: mean precision at the ranks of the wrong labels, the least trusted first;
            None as ``auroc``.
    """

    precision: float | None
    recall: float | None
    auroc: float | None
    average_precision: float | None


def detection(confidence: np.ndarray, kept: np.ndarray, wrong: np.ndarray) -> Detection:
    """Measure how well wrong labels are found.

    Args:
        confidence: (n,) float, larger is more trusted, infinities allowed.
        kept: (n,) bool.
        wrong: (n,) bool.

    Raises:
        LopsError: a NaN confidence.

    >>> kept, wrong = np.array([False, True, False]), np.array([True, False, False])
    >>> found = detection(np.array([0.1, 0.8, 0.3]), kept, wrong)
    >>> found.precision, found.recall, found.auroc, found.average_precision
    (0.5, 1.0, 1.0, 1.0)
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    suspicion = -_ranks(confidence)
    rejected = ~kept
    ranked = wrong.any() and not wrong.all() and len(np.unique(suspicion)) > 1
    return Detection(
        precision=float(wrong[rejected].mean()) if rejected.any() else None,
        recall=float(rejected[wrong].mean()) if wrong.any() else None,
        auroc=float(roc_auc_score(wrong, suspicion)) if ranked else None,
        average_precision=float(average_precision_score(wrong, suspicion)) if ranked else None,
    )


def noise_of_best(confidence: np.ndarray, wrong: np.ndarray, count: int) -> float:
    """Return the share of wrong labels among the ``count`` most trusted; ties count by their mean.

    >>> noise_of_best(np.array([0.9, 0.5, 0.5]), np.array([False, True, False]), 2)
    0.25
    """
    if not 1 <= count <= len(wrong):
        raise LopsError(f"count is {count}; wanted 1 to {len(wrong)}")
    ranks = _ranks(confidence)
    threshold = np.sort(ranks)[-count]
    above, tied = ranks > threshold, ranks == threshold
    open_places = count - int(above.sum())
    return float((wrong[above].sum() + open_places * wrong[tied].mean()) / count)


def _ranks(confidence: np.ndarray) -> np.ndarray:
    """Return the places of confidences among the distinct ones, (n,) int64."""
    if np.isnan(confidence).any():
        raise LopsError("a confidence is NaN; wanted a number for every sample")
    return np.unique(confidence, return_inverse=True)[1]
