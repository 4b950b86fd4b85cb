import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans

from lops_adapters.conwea import senses as module
from lops_adapters.conwea.senses import (
    assign,
    cluster,
    find_senses,
    nearest,
    similarity_threshold,
    tokens_to_encode,
)
from lops_adapters.conwea.tokens import tokenize


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def brute_threshold(groups):
    return np.median(
        [
            np.median([cosine(a, b) for a, b in itertools.combinations(group, 2)])
            for group in groups
            if len(group) > 1
        ]
    )


@pytest.mark.parametrize("block", [2, 3, 1024])
def test_threshold_is_the_median_of_medians_over_pairs(monkeypatch, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    rng = np.random.default_rng(0)
    groups = [rng.normal(1, 1, (size, 5)).astype(np.float32) for size in (2, 5, 1, 8, 0, 3)]
    assert similarity_threshold(groups) == pytest.approx(brute_threshold(groups), abs=1e-6)


def blobs(n_blobs, size=12, width=16, noise=0.05, seed=0):
    """Occurrences around orthogonal directions, shuffled, and the direction of each."""
    rng = np.random.default_rng(seed)
    which = rng.permutation(np.repeat(np.arange(n_blobs), size))
    return (np.eye(width)[which] + rng.normal(0, noise, (len(which), width))).astype(
        np.float32
    ), which


def all_below(centres, threshold):
    return all(cosine(a, b) < threshold for a, b in itertools.combinations(centres, 2))


@pytest.mark.parametrize("threshold", [-0.2, 0.1, 0.3, 0.6, 0.9])
def test_the_number_grows_while_every_pair_of_centres_is_below_the_threshold(threshold):
    vectors = np.random.default_rng(3).normal(0.3, 1, (14, 4)).astype(np.float32)
    centres = cluster(vectors, threshold, 0, 3)
    expected, k = vectors.mean(axis=0, keepdims=True), 2
    while k <= len(vectors):
        fitted = KMeans(n_clusters=k, n_init=3, random_state=0).fit(vectors).cluster_centers_
        if not all_below(fitted, threshold):
            break
        expected, k = fitted, k + 1
    np.testing.assert_allclose(centres, expected, atol=1e-6)
    assert len(centres) == 1 or all_below(centres, threshold)


@pytest.mark.parametrize(("most", "found"), [(None, 5), (9, 5), (3, 3), (1, 1)])
def test_at_most_so_many_senses(most, found):
    assert len(cluster(blobs(5)[0], 0.5, 0, 5, most)) == found


@pytest.mark.parametrize("threshold", [0.5, 1.0, 1.0000001])
def test_identical_occurrences_have_one_sense(threshold):
    row = np.random.default_rng(0).normal(size=(1, 24)).astype(np.float32)
    assert len(cluster(np.repeat(row, 20, axis=0), threshold, 0, 2)) == 1


def test_nearest_is_by_cosine_and_ties_go_to_the_lower_index():
    centres = np.array([[0, 2], [10, 0], [1, 0], [0, 1]], dtype=np.float32)
    vectors = np.array([[0.1, 3], [5, 0], [1, 1], [0, 0]], dtype=np.float16)
    assert nearest(vectors, centres).tolist() == [0, 1, 0, 0]


CENTRES = np.eye(4, dtype=np.float32)


def occurrences(*counts):
    """Rows at the axes; the last of each leans towards the next axis."""
    rows = np.repeat(np.eye(4), counts, axis=0)
    rows[np.cumsum(counts)[:-1] - 1] += 0.1 * np.eye(4)[1:]
    return rows.astype(np.float16)


def test_rare_senses_join_the_nearest_of_the_others():
    rows = occurrences(5, 1, 4, 6)  # the one at the second axis leans towards the third
    centres, own = assign(rows, CENTRES, 4)
    np.testing.assert_array_equal(centres, CENTRES[[0, 2, 3]])
    assert own.tolist() == [0] * 5 + [1] * 5 + [2] * 6
    assert own.dtype == np.int64


def test_the_smallest_sense_goes_first_and_the_later_of_equals():
    """What it gives to another can keep that one."""
    axes = np.eye(4, dtype=np.float16)
    rows = np.stack([*[axes[0]] * 5, *[axes[1] + axes[2] / 2] * 2, *[axes[2] + axes[1] / 2] * 2])
    centres, own = assign(rows, CENTRES[:3], 4)
    np.testing.assert_array_equal(centres, CENTRES[:2])
    assert own.tolist() == [0] * 5 + [1] * 4


TEXTS = ["court court court goal"] * 4 + ["rare court", "seldom goal"]


def test_encoded_are_words_above_the_floor_and_seeds():
    tokens = tokenize([*TEXTS, "the seldom seen"])

    def encoded(floor):
        return {
            tokens.words[i]
            for i in tokens.word_id[
                tokens_to_encode(tokens, {"a": ["Rare"], "b": ["missing"]}, floor)
            ]
        }

    assert encoded(6) == {"court", "rare"}
    assert encoded(5) == {"court", "goal", "rare"}
    # never one occurrence, which has nothing to be compared with
    assert encoded(1) == {"court", "goal", "seldom", "rare"}
    seeds = {"a": ["Rare"]}
    counts = {word: sum(text.split().count(word) for text in TEXTS) for word in ("court", "goal")}
    assert counts == {"court": 13, "goal": 5}
    found = {
        floor: {tokens.words[i] for i in tokens.word_id[tokens_to_encode(tokens, seeds, 2, floor)]}
        for floor in (2, 3, 7)
    }  # a word with fewer than twice the floor of a sense cannot have two
    both = {"court", "goal", "rare"}
    assert found == {2: both, 3: both - {"goal"}, 7: {"rare"}}
    positions = tokens_to_encode(tokens, {}, 5)
    assert positions.dtype == np.int64
    assert (np.diff(positions) > 0).all()


def sensed(min_occurrences=5, max_occurrences=100, seed=0, width=16, min_per_sense=0):
    """Senses of a text whose occurrences point in one of two directions; and its parts."""
    tokens = tokenize(TEXTS)
    wanted = tokens_to_encode(tokens, {"a": ["court"]}, min_occurrences)
    rng = np.random.default_rng(5)
    vectors = (
        np.eye(width)[rng.integers(0, 2, len(wanted))] + rng.normal(0, 0.05, (len(wanted), width))
    ).astype(np.float16)
    options = {
        "min_occurrences": min_occurrences,
        "max_occurrences": max_occurrences,
        "min_per_sense": min_per_sense,
        "restarts": 3,
        "seed": seed,
    }
    return (
        tokens,
        wanted,
        vectors,
        find_senses(tokens, wanted, vectors, {"a": ["court"]}, **options),
    )


def test_every_occurrence_of_a_frequent_word_gets_its_nearest_sense():
    tokens, wanted, vectors, found = sensed()
    court = vectors[tokens.word_id[wanted] == tokens.words.index("court")]
    assert found.threshold == pytest.approx(brute_threshold([court.astype(np.float32)]), abs=1e-5)
    assert set(found.centres) == {"court", "goal"}
    for word, centres in found.centres.items():
        rows = tokens.word_id[wanted] == tokens.words.index(word)
        best = [
            max(range(len(centres)), key=lambda k: cosine(row, centres[k]))
            for row in vectors[rows].astype(np.float32)
        ]
        assert found.sense_id[wanted[rows]].tolist() == best
    others = np.setdiff1d(np.arange(len(tokens.word_id)), wanted)
    assert (found.sense_id[others] == -1).all()


def test_words_below_the_floor_are_not_split():
    assert set(sensed(min_occurrences=6)[-1].centres) == {"court"}
    tokens, *_, found = sensed(min_occurrences=14)
    assert found.centres == {}
    assert (found.sense_id == -1).all()
    assert found.threshold  # the seed is below the floor and still sets it
    assert len(tokens.word_id) == len(found.sense_id)


def test_the_floor_of_a_sense():
    """Random vectors would be split into as many senses as occurrences."""
    tokens = tokenize(["court " * 25, "goal " * 9, "seed " * 3])
    wanted = tokens_to_encode(tokens, {}, 2)
    vectors = np.random.default_rng(0).normal(0, 1, (37, 64)).astype(np.float16)
    vectors[34:] = vectors[34] + 0.1 * vectors[34:]  # a seed in one sense: all others are apart
    counted = {}
    for floor, sample in ((0, 100), (5, 100), (5, 8), (13, 100)):
        options = {"max_occurrences": sample, "restarts": 2, "seed": 0, "min_per_sense": floor}
        found = find_senses(tokens, wanted, vectors, {"a": ["seed"]}, min_occurrences=2, **options)
        counted[floor, sample] = {
            word: np.bincount(found.sense_id[tokens.word_id == tokens.words.index(word)])
            for word in found.centres
        }
        assert all(len(found.centres[word]) == len(n) for word, n in counted[floor, sample].items())
    assert len(counted[0, 100]["court"]) > 5
    assert "goal" in counted[0, 100]
    for sample in (100, 8):
        assert set(counted[5, sample]) <= {"court"}  # nine are too few for two senses of five
        assert all(min(n) >= 5 for n in counted[5, sample].values())
    assert counted[5, 100]
    assert counted[13, 100] == {}


def test_large_words_are_sampled_with_the_seed(monkeypatch):
    seen = []
    monkeypatch.setattr(
        module,
        "cluster",
        lambda vectors, *_: seen.append(vectors) or np.eye(2, vectors.shape[1], dtype=np.float32),
    )
    for seed in (0, 0, 1):
        found = sensed(max_occurrences=4, seed=seed)[-1]
    assert {len(vectors) for vectors in seen} == {4}
    first, again, other = (np.concatenate(seen[i : i + 2]) for i in (0, 2, 4))
    assert (first == again).all()
    assert (first != other).any()
    assert (found.sense_id >= 0).sum() == 18  # all of them are assigned


def test_the_same_whatever_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    tokens = tokenize(["court " * 50] * 24)
    wanted = tokens_to_encode(tokens, {"a": ["court"]}, 5)
    vectors = (
        np.eye(8)[rng.integers(0, 3, len(wanted))] + rng.normal(0, 0.3, (len(wanted), 8))
    ).astype(np.float16)
    options = {"min_occurrences": 5, "max_occurrences": 2000, "restarts": 2, "seed": 0}
    found = []
    for threads in (1, 4, 4, 4):
        with threadpool_limits(threads):
            found.append(
                find_senses(tokens, wanted, vectors, {"a": ["court"]}, **options)
                .centres["court"]
                .tobytes()
            )
    assert len(set(found)) == 1
