"""Word senses: k-means over a word's occurrences, up to a global limit on cluster similarity."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.console import progress
from lops_adapters.conwea.tokens import TokenizedCorpus, seed_word

log = logging.getLogger(__name__)
_BLOCK = 1024
# Centres this similar are one, even if all occurrences of the seeds are alike: a threshold of 1.
_SAME = 1 - 1e-6


@dataclass(frozen=True)
class Senses:
    """The senses of the words that have several.

    Attributes:
        threshold: tau of ConWea, a cosine similarity.
        centres: word -> (senses, width) float32, for words with two or more senses.
        sense_id: (tokens,) int32, the sense of each token; -1 for tokens of words with one sense.
    """

    threshold: float
    centres: Mapping[str, np.ndarray]
    sense_id: np.ndarray


def tokens_to_encode(
    corpus: TokenizedCorpus,
    seeds: Mapping[str, Sequence[str]],
    min_occurrences: int,
    min_per_sense: int = 0,
) -> np.ndarray:
    """Return the sorted int64 positions of seed words and of the words that may be split."""
    counts = np.bincount(corpus.word_id[corpus.word_id >= 0], minlength=len(corpus.words))
    is_encoded = counts >= _to_split(min_occurrences, min_per_sense)
    id_of = {word: number for number, word in enumerate(corpus.words)}
    for words in seeds.values():
        for seed in words:
            if seed_word(seed) in id_of:
                is_encoded[id_of[seed_word(seed)]] = True
    return np.flatnonzero((corpus.word_id >= 0) & is_encoded[corpus.word_id]).astype(np.int64)


def _to_split(min_occurrences: int, min_per_sense: int) -> int:
    """Return the occurrences from which a word can have two senses."""
    return max(2, min_occurrences, 2 * min_per_sense)


def similarity_threshold(vectors_of_seeds: Sequence[np.ndarray]) -> float:
    """Return ConWea's tau, from the cosine similarities between occurrences of each seed.

    It is the median over seeds of the median over pairs of occurrences. A seed of two classes
    counts twice. At least one seed occurs twice. Pairs are computed in blocks.
    """
    medians = [
        float(np.median(_pair_similarities(vectors)))
        for vectors in vectors_of_seeds
        if len(vectors) > 1
    ]
    return float(np.median(medians))


def _pair_similarities(vectors: np.ndarray) -> np.ndarray:
    unit = normalised(vectors)
    parts = []
    for start in range(0, len(unit), _BLOCK):
        block = unit[start : start + _BLOCK] @ unit[start:].T
        row, column = np.triu_indices(len(block), k=1, m=block.shape[1])
        parts.append(block[row, column])
    return np.concatenate(parts)


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Return rows of unit length, float32; a zero row stays zero."""
    vectors = np.asarray(vectors, dtype=np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def cluster(
    vectors: np.ndarray, threshold: float, seed: int, restarts: int, most: int | None = None
) -> np.ndarray:
    """Return the centres of a word's senses, (senses, width) float32; one centre: one sense.

    The number of clusters grows from 2 as long as every pair of centres has a cosine below the
    threshold, up to ``most``. The last clustering that passed is returned; the original fits it
    again from another random start, unchecked.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    threshold = min(threshold, _SAME)
    centres = vectors.mean(axis=0, keepdims=True)
    for k in range(2, min(len(vectors), most or len(vectors)) + 1):
        with warnings.catch_warnings():
            # Warns of fewer distinct occurrences than clusters, which the threshold catches.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = KMeans(n_clusters=k, n_init=restarts, random_state=seed).fit(vectors)
        unit = normalised(fit.cluster_centers_)
        similarity = unit @ unit.T
        if similarity[np.triu_indices(k, k=1)].max() >= threshold:
            break
        centres = fit.cluster_centers_
    return centres.astype(np.float32)


def find_senses(
    corpus: TokenizedCorpus,
    positions: np.ndarray,
    vectors: np.ndarray,
    seeds: Mapping[str, Sequence[str]],
    *,
    min_occurrences: int,
    max_occurrences: int,
    min_per_sense: int = 0,
    restarts: int,
    seed: int,
    quiet: bool = True,
) -> Senses:
    """Cluster the occurrences of every frequent word and assign each to the nearest centre.

    The floor of ``min_per_sense`` holds for the assigned occurrences, see :func:`assign`. Without
    it (0, as in the original), a word that occurs ten times can have ten senses, each too rare to
    learn anything about.

    ``positions`` are the (m,) positions of the tokens that have a vector, ``vectors`` these, (m,
    width); the seed words set the threshold. Words with fewer than ``min_occurrences`` are not
    split; k-means sees a random sample of ``max_occurrences``, and all are assigned.
    """
    from threadpoolctl import threadpool_limits

    words = corpus.word_id[positions]
    order = np.argsort(words, kind="stable")
    starts = np.searchsorted(words[order], np.arange(len(corpus.words) + 1))
    id_of = {word: number for number, word in enumerate(corpus.words)}

    def rows(number: int) -> np.ndarray:
        return np.asarray(vectors[order[starts[number] : starts[number + 1]]], dtype=np.float32)

    def sample(number: int) -> np.ndarray:
        vectors_of_word = rows(number)
        if len(vectors_of_word) <= max_occurrences:
            return vectors_of_word
        order = np.random.default_rng([seed, number]).permutation(len(vectors_of_word))
        return vectors_of_word[np.sort(order[:max_occurrences])]

    named = [seed_word(word) for label in sorted(seeds) for word in seeds[label]]
    threshold = similarity_threshold([sample(id_of[word]) for word in named if word in id_of])
    centres: dict[str, np.ndarray] = {}
    sense_id = np.full(len(corpus.word_id), -1, dtype=np.int32)
    counts = np.diff(starts)
    frequent = progress(
        np.flatnonzero(counts >= _to_split(min_occurrences, min_per_sense)),
        quiet=quiet,
        unit="word",
        desc="word senses",
    )
    # Several threads add up in the order in which they finish, which is not reproducible.
    with threadpool_limits(1, user_api="openmp"):
        for number in frequent:
            most = counts[number] // max(1, min_per_sense)
            word_centres = cluster(sample(number), threshold, seed, restarts, most)
            word_centres, nearest_centre = assign(rows(number), word_centres, min_per_sense)
            if len(word_centres) > 1:
                centres[corpus.words[number]] = word_centres
                sense_id[positions[order[starts[number] : starts[number + 1]]]] = nearest_centre
    log.info(
        "word senses: threshold %.3f, %d of %d words have several",
        threshold,
        len(centres),
        len(corpus.words),
    )
    return Senses(threshold, centres, sense_id)


def assign(vectors: np.ndarray, centres: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Assign occurrences to the nearest centre, and merge senses that have fewer than ``least``.

    The smallest sense goes first (ties: the later centre); its occurrences join the nearest of the
    others. The centres that stay do not move, so they are as dissimilar as before. They are
    returned, (senses, width), with the index of each occurrence's centre, (m,) int64.
    """
    similarity = _similarity(vectors, centres)
    stay = np.arange(len(centres))
    while True:
        nearest_centre = similarity[:, stay].argmax(axis=1)
        counts = np.bincount(nearest_centre, minlength=len(stay))
        if len(stay) == 1 or counts.min() >= least:
            return centres[stay], nearest_centre
        stay = np.delete(stay, len(stay) - 1 - counts[::-1].argmin())


def nearest(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the index of the centre with the largest cosine, (m,) int64; ties: the lower index."""
    return np.asarray(_similarity(vectors, centres).argmax(axis=1))


def _similarity(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.asarray(vectors, dtype=np.float32) @ normalised(centres).T
