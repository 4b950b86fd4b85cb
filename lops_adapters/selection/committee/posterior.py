"""How probable each label is to be right, given what held-out members say and how noisy it is.

Notation: n samples, k classes, codes 0..k-1 of the given labels.
"""

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.committee.likelihoods import skill
from lops_adapters.surroundings import one_blas_thread

# Members are averaged, which makes their likelihoods too even. The exponent was chosen on AG News
# with labels corrupted at random and by pairs of classes, and confirmed on 20 Newsgroups; see
# docs/committee.md.
SHARPNESS = 5.0
_BOUNDS = (0.5, 0.95)  # of the probability from which labels are kept by default
_ROUNDING = 1e-9  # equal probabilities reach their mean
_NEVER = 1e-300  # that a believed label is wrong
_ROUNDS, _CLOSE = 50, 1e-4
_MOST = 100_000  # samples to estimate from


def estimate(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the (k, k) float64 distribution of true classes per label.

    The label is a source of unknown reliability, as in Dawid and Skene (1979): how often a sample
    labelled i is of class j is estimated from all samples by expectation maximisation, and counts
    as the prior of j. So a clean label is doubted only if the members contradict it clearly.

    Members that predict few labels cannot tell how reliable labels are. So the estimate is drawn
    towards nine right labels of ten, by a Dirichlet prior worth ((1 - s) / s)^2 times as many
    samples as there are, with their :func:`~lops_adapters.selection.committee.likelihoods.skill` s.

    Probabilities are (n, k), mean likelihoods of held-out members; rows sum to 1. Codes are (n,)
    int; every class occurs.

    >>> likely = np.array([[0.9, 0.1]] * 4 + [[0.1, 0.9]] * 4)
    >>> codes = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> posterior_given(likely, codes, estimate(likely, codes))[[0, 4]].round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    chosen = some(probabilities)
    known = max(skill(probabilities, codes), 0.01)
    strength = round(((1 - known) / known) ** 2, 9)  # the prior's, in samples per sample
    logs = evidence(probabilities[chosen])
    return _transitions(logs, codes[chosen], probabilities.shape[1], strength)


@one_blas_thread
def label_distribution(
    likely: np.ndarray,
    codes: np.ndarray,
    least: int,
    *,
    count_label: bool = True,
    tells: bool = True,
) -> np.ndarray:
    """Return the (k, k) distribution of :func:`estimate`, with labels that cannot be checked.

    These are believed: the labels of classes with fewer than ``least`` samples; and all labels, if
    the members cannot tell right from wrong ones (``tells=False``).

    With ``count_label=False`` the label itself is no evidence: a classifier of the same texts gave
    it, as in self-training, so it says nothing that the members do not say.
    """
    k = likely.shape[1]
    believed = np.bincount(codes, minlength=k) < least
    if not tells:
        believed[:] = True
        true_given_label = np.empty((k, k))
    elif count_label:
        true_given_label = estimate(likely, codes)
    else:
        true_given_label = np.full((k, k), 1 / k)
    true_given_label[believed] = np.maximum(np.eye(k)[believed], _NEVER)
    return true_given_label


def least_kept(right: np.ndarray) -> float:
    """Return the probability from which labels are kept by default.

    The labels that are most probably wrong are rejected: as many as are estimated to be wrong, the
    sum of ``1 - right``, and all that are more probably wrong than right. None is rejected that is
    more probably right than the average label, nor one with a probability of 0.95. ``right`` are
    (n,) probabilities that the labels are right, at least one.

    >>> least_kept(np.array([0.99, 0.98, 0.97, 0.75, 0.31]))
    0.75
    >>> least_kept(np.ones(3))
    0.95
    """
    low, high = _BOUNDS
    average = min(high, max(low, float(right.mean()) - _ROUNDING))
    most = min(len(right) - 1, round(float((1 - right).sum())))
    return min(average, max(low, float(np.partition(right, most)[most])))


def posterior_given(probabilities: np.ndarray, codes: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the probabilities of the true classes, (m, k) float64, given members and labels."""
    return _weighted(evidence(probabilities), codes, given)


def evidence(probabilities: np.ndarray) -> np.ndarray:
    """Return the logarithm of what likelihoods, (n, k), say of each class."""
    return np.asarray(SHARPNESS * np.log(np.maximum(probabilities, 1e-6)))


def some(probabilities: np.ndarray) -> slice | np.ndarray:
    """Return at most ``_MOST`` rows to estimate from, by a hash of their content, in any order."""
    n, k = probabilities.shape
    if n <= _MOST:
        return slice(None)
    keys = np.zeros(n, dtype=np.uint64)
    for column in range(k):
        bits = np.ascontiguousarray(probabilities[:, column], dtype=np.float32).view(np.uint32)
        keys = tie_hash(keys ^ bits.astype(np.uint64), column)
    return np.sort(np.argpartition(keys, _MOST)[:_MOST])


def _transitions(logs: np.ndarray, codes: np.ndarray, k: int, strength: float) -> np.ndarray:
    usual = np.full((k, k), 0.1 / max(1, k - 1))
    np.fill_diagonal(usual, 0.9)
    labelled = np.eye(k)[codes]
    of_labels = labelled.sum(axis=0)[:, None]
    prior = strength * of_labels * usual + 0.5  # half a sample per cell: rows are never empty
    counts, true_given_label = (1 + strength) * of_labels + 0.5 * k, usual
    for _ in range(_ROUNDS):
        previous = true_given_label
        true_given_label = (labelled.T @ _weighted(logs, codes, true_given_label) + prior) / counts
        if np.abs(true_given_label - previous).max() < _CLOSE:
            break
    return true_given_label


def _weighted(logs: np.ndarray, codes: np.ndarray, true_given_label: np.ndarray) -> np.ndarray:
    return softmax(logs + np.log(true_given_label[codes]))
