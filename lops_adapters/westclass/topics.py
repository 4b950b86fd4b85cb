"""Topics: each class's seeds, expanded to their nearest words, and a distribution fitted to these.

The distribution is von Mises and Fisher's, on the unit sphere. Source: Meng, Shen, Zhang and Han,
"Weakly-Supervised Neural Text Classification", CIKM 2018, as in the authors' program.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.core import LopsError

log = logging.getLogger(__name__)
_DECIMALS = 6  # rounding errors must not break ties: two seeds are equally near their mean
_KAPPA_OF_A_POINT = 1e10
_POINT = 1e-10  # a mean length this close to 1: all vectors are equal
_NO_DIRECTION = 1e-9


@dataclass(frozen=True)
class Seed:
    """The seeds of one class.

    Attributes:
        vectors: (s, d) unit vectors, one per seed, s >= 1.
        words: vocabulary indices of the seeds of one word, at most s, each once; a seed of several
            words has no index.
    """

    vectors: np.ndarray
    words: Sequence[int]


@dataclass(frozen=True)
class Topic:
    """The topic of one class: directions x with density proportional to exp(kappa mean . x).

    Attributes:
        words: (t,) int32 indices into the vocabulary: the nearest words, nearest first; or, if the
            class keeps its seeds, the seeds of one word.
        mean: (d,) float64 unit vector, d >= 2; fitted, as kappa, to the vectors of these words, or
            of all seeds.
        kappa: concentration, > 0; the mean cosine to ``mean`` is I_{d/2}(kappa) / I_{d/2-1}(kappa),
            0.41 / 0.62 / 0.79 / 0.95 for 50 / 100 / 200 / 1000 at d = 100.
    """

    words: np.ndarray
    mean: np.ndarray
    kappa: float

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n directions, (n, d) float64 unit vectors."""
        from scipy.stats import vonmises_fisher

        return np.asarray(vonmises_fisher(self.mean, self.kappa).rvs(n, random_state=rng))


def find_topics(vectors: np.ndarray, seeds: Sequence[Seed]) -> list[Topic]:
    """Expand the seeds of all classes to disjoint topics of equal size and fit a distribution each.

    The score of a word for a class is its cosine with the mean of the class's seed vectors, rounded
    to six decimals (ties: the lower index). At size t, a class with t or more seeds keeps them; any
    other class has its t best words, which need not include its seeds. The size is the largest
    before two classes first have a word in common, counted up from the smallest number of seeds. If
    the seeds themselves collide, classes keep them; if nothing collides, t is the whole vocabulary.

    Vectors are (V, d) float32 unit vectors of the vocabulary; seeds and topics come in the order of
    the class codes. LopsError if the seeds of a class cancel out.

    >>> words = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], dtype=np.float32)
    >>> seeds = [Seed(words[[0]], [0]), Seed(words[[2]], [2])]
    >>> [topic.words.tolist() for topic in find_topics(words, seeds)]
    [[0, 1], [2, 3]]
    """
    fits = [
        fit(seed.vectors, f"the seed vectors of class {code}") for code, seed in enumerate(seeds)
    ]
    scores = np.stack([mean for mean, _ in fits]) @ _exactly_unit(vectors).T
    ranked = np.argsort(-np.round(scores, _DECIMALS), axis=1, kind="stable").astype(np.int32)
    size = _largest_size(ranked, seeds)
    topics = []
    for seed, of_seeds, order in zip(seeds, fits, ranked, strict=True):
        if len(seed.vectors) >= size:
            topics.append(Topic(np.array(seed.words, dtype=np.int32), *of_seeds))
        else:
            topics.append(Topic(order[:size].copy(), *fit(vectors[order[:size]])))
    kappas = ", ".join(f"{topic.kappa:.0f}" for topic in topics)
    log.info("topics of %d words, kappa %s", size, kappas)
    return topics


def _largest_size(ranked: np.ndarray, seeds: Sequence[Seed]) -> int:
    smallest = min(len(seed.vectors) for seed in seeds)
    holders = np.zeros(ranked.shape[1], dtype=np.int64)
    for seed in seeds:
        holders[list(seed.words)] += 1
    if holders.max() > 1:
        return smallest
    for size in range(smallest + 1, ranked.shape[1] + 1):
        added = []
        for order, seed in zip(ranked, seeds, strict=True):
            if len(seed.vectors) == size - 1:  # at this size its best words replace its seeds
                holders[list(seed.words)] -= 1
                added.append(order[:size])
            elif len(seed.vectors) < size:
                added.append(order[size - 1 : size])
        new = np.concatenate(added)
        np.add.at(holders, new, 1)
        if holders[new].max() > 1:
            return size - 1
    return ranked.shape[1]


def fit(vectors: np.ndarray, what: str = "vectors") -> tuple[np.ndarray, float]:
    """Return mean and kappa of t directions of d dimensions.

    With S their sum and r = |S| / t: mean = S / |S|, kappa = r (d - r^2) / (1 - r^2), at most 1e10.
    Equal vectors, such as a single one, get 1e10. The original fits a mixture of one component,
    which amounts to the same. Source: the approximation of Banerjee et al., "Clustering on the Unit
    Hypersphere using von Mises-Fisher Distributions", JMLR 6 (2005).

    The vectors are (t, d), d >= 2, of unit length in any float type, normalised again in float64;
    ``what`` names them in the LopsError that vectors that cancel out raise.
    """
    t, d = vectors.shape
    total = _exactly_unit(vectors).sum(axis=0)
    length = float(np.linalg.norm(total))
    r = length / t
    if r < _NO_DIRECTION:
        raise LopsError(
            f"{what} ({t}) cancel out, so they have no mean direction; wanted words that have "
            "something in common"
        )
    kappa = _KAPPA_OF_A_POINT
    if 1 - r >= _POINT:
        kappa = min(r * (d - r**2) / (1 - r**2), _KAPPA_OF_A_POINT)
    return total / length, kappa


def _exactly_unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors normalised again in float64; in a smaller type r could exceed 1."""
    exact = np.asarray(vectors, dtype=np.float64)
    return np.asarray(exact / np.linalg.norm(exact, axis=1, keepdims=True))
