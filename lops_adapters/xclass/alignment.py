"""Alignment of documents with classes: PCA, then a Gaussian mixture.

It starts from the nearest class (X-Class, section 3.4).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lops_adapters.core import LopsError, LopsWarning, tie_hash
from lops_adapters.xclass.classes import unit


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
    documents: np.ndarray, classes: np.ndarray, *, components: int = 64, seed: int = 0
) -> Alignment:
    """Align documents with classes; component i starts at class i and keeps its code.

    Args:
        documents: (n, width) float32, n >= 2.
        classes: (k, width) float32.
        components: of the PCA; fewer if the documents vary in fewer directions.
        seed: passed to scikit-learn's mixture, which draws nothing here.

    Raises:
        LopsError: all documents have the same vector.

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
    return _mixture(points, centres, seed)


def _mixture(points: np.ndarray, centres: np.ndarray, seed: int) -> Alignment:
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
    joint = np.log(np.maximum(mixture.weights_, 1e-300)) - 0.5 * distances
    codes = joint.argmax(axis=1)
    return Alignment(codes, log_odds(joint, codes))


def log_odds(joint: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the log-odds of each row's own column against all others, (n,) float64.

    Args:
        joint: (n, k) unnormalised log-probabilities.
        codes: (n,) int, the column of each row.

    >>> log_odds(np.log([[0.6, 0.3, 0.1]]), np.array([0])).round(3).tolist()
    [0.405]
    """
    rows = np.arange(len(joint))
    others = joint.astype(np.float64)
    own = others[rows, codes].copy()
    others[rows, codes] = -np.inf
    if joint.shape[1] == 1:
        return np.full(len(joint), np.inf)
    return np.asarray(own - np.logaddexp.reduce(others, axis=1))


def most_confident(alignment: Alignment, fraction: float, seed: int) -> np.ndarray:
    """Return the positions of the most confident fraction of each class, ascending.

    A class with documents keeps at least one. Ties: a seeded hash of the position, never the order
    of the file.
    """
    ties = tie_hash(np.arange(len(alignment.codes)), seed)
    kept = []
    for code in np.unique(alignment.codes):
        own = np.flatnonzero(alignment.codes == code)
        order = np.lexsort((ties[own], -alignment.confidence[own]))
        kept.append(own[order[: max(1, math.floor(Fraction(str(fraction)) * len(own)))]])
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)
