"""Self-training of networks: the targets, and a check of the predictions they are made of."""

import numpy as np

from lops_adapters.core import LopsError


def target_distribution(probabilities: np.ndarray) -> np.ndarray:
    """Return the self-training targets of (m, k) predictions p.

    A target is p^2 divided by its class's total over these rows; rows are scaled to sum to 1.

    >>> target_distribution(np.array([[0.9, 0.1], [0.6, 0.4]])).round(2).tolist()
    [[0.96, 0.04], [0.43, 0.57]]
    """
    p = probabilities.astype(np.float64)
    weight = p**2 / np.maximum(p.sum(axis=0), 1e-12)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def check_finite(probabilities: np.ndarray) -> np.ndarray:
    """Return predictions of a network that is tuned; raise a LopsError if one is no number.

    With NaN no class changes any more, and training would seem to converge.
    """
    if not np.isfinite(probabilities).all():
        raise LopsError(
            "the network's predictions are not numbers any more; wanted a training that "
            "converges: lower learning_rate"
        )
    return probabilities
