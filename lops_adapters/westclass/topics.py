"""Topics: each class's seeds, expanded to their nearest words, and a distribution fitted to these.

Source: Meng, Shen, Zhang and Han, "Weakly-Supervised Neural Text Classification", CIKM 2018, as in
the authors' program.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.westclass.vmf import VonMisesFisher, exactly_unit, fit

log = logging.getLogger(__name__)
_DECIMALS = 6  # rounding errors must not break ties: two seeds are equally near their mean


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
    """The topic of one class.

    Attributes:
        words: (t,) int32 indices into the vocabulary: the nearest words, nearest first; or, if the
            class keeps its seeds, the seeds of one word.
        distribution: fitted to the vectors of these words, or of all seeds.
    """

    words: np.ndarray
    distribution: VonMisesFisher


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
    scores = np.stack([start.mean for start in fits]) @ exactly_unit(vectors).T
    ranked = np.argsort(-np.round(scores, _DECIMALS), axis=1, kind="stable").astype(np.int32)
    size = _largest_size(ranked, seeds)
    topics = []
    for seed, start, order in zip(seeds, fits, ranked, strict=True):
        if len(seed.vectors) >= size:
            topics.append(Topic(np.array(seed.words, dtype=np.int32), start))
        else:
            topics.append(Topic(order[:size].copy(), fit(vectors[order[:size]])))
    log.info(
        "topics of %d words, kappa %s",
        size,
        ", ".join(f"{topic.distribution.kappa:.0f}" for topic in topics),
    )
    return topics


def _largest_size(ranked: np.ndarray, seeds: Sequence[Seed]) -> int:
    """Return the largest size before two classes have a word in common."""
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
