"""Alignment of documents with classes: PCA, then a Gaussian mixture.

It starts from the nearest class (X-Class, section 3.4).
"""

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lops_adapters.core import LopsError, LopsWarning, tie_hash
from lops_adapters.xclass.classes import unit

_ROUNDS = 200  # of fitting class offsets


@dataclass(frozen=True)
class Alignment:
    """The aligned classes of n documents.

    Attributes:
        codes: (n,) int64 class codes.
        confidence: (n,) float64, higher is more confident: log-odds of the class against all
            others.
    """

    codes: np.ndarray
    confidence: np.ndarray


def nearest_class(documents: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class of the largest cosine, (n,) int64; ties go to the lower code."""
    cosines = unit(documents.astype(np.float64)) @ unit(classes.astype(np.float64)).T
    return np.asarray(np.round(cosines, 6).argmax(axis=1))


def align(
    documents: np.ndarray,
    classes: np.ndarray,
    *,
    components: int = 64,
    share_power: float = 1.0,
    seed: int = 0,
) -> Alignment:
    """Align documents with classes; component i starts at class i and keeps its code.

    Both are vectors, (n, width) and (k, width).

    The PCA has fewer ``components`` if the documents vary in fewer directions. For ``share_power``
    see :func:`balanced`; 1: the mixture's own classes. scikit-learn's mixture draws nothing from
    the seed here. LopsError if all documents have the same vector.
    """
    from sklearn.decomposition import PCA

    documents, classes = documents.astype(np.float64), classes.astype(np.float64)
    if not np.ptp(documents, axis=0).any():
        raise LopsError(
            f"all {len(documents)} documents have the same vector; wanted documents that differ: "
            "check the texts"
        )
    # This solver is exact at any size: it draws nothing.
    pca = PCA(min(components, *documents.shape), svd_solver="covariance_eigh").fit(documents)
    # Axes without variance are arbitrary, but the class vectors would differ along them.
    varies = pca.explained_variance_ > 1e-9 * pca.explained_variance_.max()
    points, centres = pca.transform(documents)[:, varies], pca.transform(classes)[:, varies]
    joint = _mixture(points, centres, seed)
    if share_power != 1.0:
        joint = balanced(joint, share_power)
    codes = joint.argmax(axis=1)
    return Alignment(codes, log_odds(joint, codes))


def _mixture(points: np.ndarray, centres: np.ndarray, seed: int) -> np.ndarray:
    """Return the (n, k) unnormalised log-probabilities of the mixture's components."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    start = nearest_class(points, centres)
    counts = np.bincount(start, minlength=len(centres))
    means = centres.copy()  # of the classes without a document
    for code in np.flatnonzero(counts):
        means[code] = points[start == code].mean(axis=0)
    spread = points - means[start]
    precision = np.linalg.inv(spread.T @ spread / len(points) + 1e-6 * np.eye(points.shape[1]))
    weights = np.maximum(counts, 1e-10)
    mixture = GaussianMixture(
        len(centres),
        covariance_type="tied",
        weights_init=weights / weights.sum(),
        means_init=means,
        precisions_init=(precision + precision.T) / 2,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(points)
    if not mixture.converged_:
        warnings.warn(
            "the Gaussian mixture did not converge; using its last state", LopsWarning, stacklevel=2
        )
    # Posteriors round to exactly 1 in float64 and tie for half the corpus; log-odds do not.
    whitened = points @ mixture.precisions_cholesky_
    whitened_means = mixture.means_ @ mixture.precisions_cholesky_
    distances = np.stack([((whitened - mean) ** 2).sum(axis=1) for mean in whitened_means], axis=1)
    weights = np.log(np.maximum(mixture.weights_, 1e-300))
    return np.asarray(weights - 0.5 * distances)


def balanced(joint: np.ndarray, share_power: float) -> np.ndarray:
    """Return log-probabilities with class offsets that bring class shares closer together.

    A mixture lets one class draw documents of the others. With the offsets, the mean probability
    of a class is proportional to the power ``share_power`` of its share: 1 changes hardly
    anything, 0 makes all classes equally large. A class without a document keeps its column. The
    log-probabilities are (n, k) and unnormalised.

    >>> joint = np.log([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
    >>> balanced(joint, 0.0).argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """
    shares = np.bincount(joint.argmax(axis=1), minlength=joint.shape[1]) / len(joint)
    filled = shares > 0
    target = shares[filled] ** share_power
    target /= target.sum()
    result = joint.astype(np.float64)
    for _ in range(_ROUNDS):
        inside = result[:, filled]
        posterior = np.exp(inside - np.logaddexp.reduce(inside, axis=1)[:, None])
        steps = np.log(target) - np.log(np.maximum(posterior.mean(axis=0), 1e-300))
        result[:, filled] += steps
        if np.abs(steps).max() < 1e-9:
            break
    return result


def log_odds(joint: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the log-odds of each row's own column against all others, (n,) float64.

    They are of (n, k) unnormalised log-probabilities; (n,) ``codes`` are the columns.

    >>> log_odds(np.log([[0.6, 0.3, 0.1]]), np.array([0])).round(3).tolist()
    [0.405]
    """
    rows = np.arange(len(joint))
    others = joint.astype(np.float64)
    of_label = others[rows, codes].copy()
    others[rows, codes] = -np.inf
    if joint.shape[1] == 1:
        return np.full(len(joint), np.inf)
    return np.asarray(of_label - np.logaddexp.reduce(others, axis=1))


def most_confident(alignment: Alignment, fraction: float, seed: int) -> np.ndarray:
    """Return the positions of the most confident fraction of each class, ascending.

    A class with documents keeps at least one. Ties: a seeded hash of the position, never the order
    of the file.
    """
    ties = tie_hash(np.arange(len(alignment.codes)), seed)
    kept = []
    for code in np.unique(alignment.codes):
        of_class = np.flatnonzero(alignment.codes == code)
        order = np.lexsort((ties[of_class], -alignment.confidence[of_class]))
        kept.append(of_class[order[: max(1, math.floor(Fraction(str(fraction)) * len(of_class)))]])
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)
