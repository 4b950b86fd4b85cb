import time

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.westclass.topics import Seed, Topic, find_topics, fit


def unit(rows, dtype=np.float32):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(dtype)


def top(vectors, seed, size):
    mean = unit(seed.vectors.astype(np.float64), np.float64).mean(axis=0)
    scores = [
        float(np.dot(row, mean)) / float(np.linalg.norm(mean))
        for row in unit(vectors.astype(np.float64), np.float64)
    ]
    return sorted(range(len(vectors)), key=lambda word: (-round(scores[word], 6), word))[:size]


def slow(vectors, seeds):
    """The words and the vectors of each class by the loop in words: everything ranked afresh at
    every size.
    """

    def at(size):
        kept = [len(seed.vectors) >= size for seed in seeds]
        words = [
            list(seed.words) if keep else top(vectors, seed, size)
            for seed, keep in zip(seeds, kept, strict=True)
        ]
        return words, [
            seed.vectors if keep else vectors[chosen]
            for seed, keep, chosen in zip(seeds, kept, words, strict=True)
        ]

    def shared(size):
        union = [word for words in at(size)[0] for word in words]
        return len(union) != len(set(union))

    size = min(len(seed.vectors) for seed in seeds)
    while size < len(vectors) and not shared(size) and not shared(size + 1):
        size += 1
    return at(size)


def seeds_of(vectors, rng, k, longest, phrases):
    free = rng.permutation(len(vectors)).tolist()
    seeds = []
    for _ in range(k):
        words = [free.pop() for _ in range(rng.integers(1, longest + 1))]
        extra = unit(rng.normal(size=(rng.integers(0, phrases + 1), vectors.shape[1])))
        seeds.append(Seed(np.concatenate([vectors[words], extra]), words))
    return seeds


def assert_as_slow(vectors, seeds):
    topics = find_topics(vectors, seeds)
    words, chosen = slow(vectors, seeds)
    assert [topic.words.tolist() for topic in topics] == words
    for topic, rows in zip(topics, chosen, strict=True):
        assert topic.words.dtype == np.int32
        mean, kappa = fit(rows)
        np.testing.assert_allclose(topic.mean, mean, atol=1e-12)
        assert topic.kappa == pytest.approx(kappa)
    return max(len(rows) for rows in chosen)


@pytest.mark.slow
@pytest.mark.parametrize("phrases", [0, 2])
@pytest.mark.parametrize("width", [3, 20, 60])
def test_the_same_as_the_slow_loop(width, phrases):
    sizes = []
    for case in range(40):
        rng = np.random.default_rng([width, phrases, case])
        vectors = unit(rng.normal(size=(rng.integers(20, 120), width)))
        sizes.append(
            assert_as_slow(vectors, seeds_of(vectors, rng, int(rng.integers(1, 5)), 4, phrases))
        )
    assert len(set(sizes)) > 3


def test_ties_go_to_the_lower_index():
    for case in range(20):
        rng = np.random.default_rng(case)
        vectors = np.eye(5, dtype=np.float32)[rng.integers(0, 5, 40)]
        assert_as_slow(vectors, seeds_of(vectors, rng, int(rng.integers(1, 4)), 3, 0))


def test_two_seeds_are_equally_near_their_mean():
    for case in range(20):
        vectors = unit(np.random.default_rng(case).normal(size=(30, 50)))
        (topic,) = find_topics(vectors, [Seed(vectors[[17, 4]], [17, 4])])
        assert topic.words[:2].tolist() == [4, 17]


def around(angles):
    return np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))], axis=1).astype(
        np.float32
    )


PLANE = around([0, 10, 20, 90, 80, 65, 35])  # from 0 degrees: 0 1 2 6 5 4 3; from 90: 3 4 5 6 2 1 0


def words_of(*seeds):
    return [
        topic.words.tolist()
        for topic in find_topics(PLANE, [Seed(PLANE[list(words)], words) for words in seeds])
    ]


def test_by_hand():
    assert words_of([0], [3]) == [[0, 1, 2], [3, 4, 5]]  # at size 4 both have word 6
    # the mean of 90 and 35 degrees is 62.5: seed 6 is not forced in
    assert words_of([0], [3, 6]) == [[0, 1, 2], [5, 4, 3]]
    # its four seeds are kept at sizes 1 to 4, and 2 is among them
    assert words_of([0], [3, 4, 5, 2]) == [[0, 1], [3, 4, 5, 2]]
    assert words_of([0], [0, 3]) == [[0], [0, 3]]  # shared from the start
    # shared from the start, though not at size 3: 6 5 2
    assert words_of([0, 3], [0, 1, 4]) == [[0, 3], [0, 1, 4]]
    # no shared seed, but at size 2 word 0 is next to word 1
    assert words_of([1], [3, 0]) == [[1], [3, 0]]


def test_phrases_alone_will_do():
    seeds = [Seed(around([2]), []), Seed(around([88]), [])]
    assert [topic.words.tolist() for topic in find_topics(PLANE, seeds)] == [[0, 1, 2], [3, 4, 5]]


def test_the_end_of_the_vocabulary_ends_the_walk():
    assert words_of([0]) == [[0, 1, 2, 6, 5, 4, 3]]
    (topic,) = find_topics(PLANE[:2], [Seed(PLANE[:5], [0, 1])])
    assert topic.words.tolist() == [0, 1]
    assert words_of([0, 3, 1], [2]) == [[0, 3, 1], [2]]


def test_a_large_vocabulary_is_quick():
    rng = np.random.default_rng(0)
    centres = unit(rng.normal(size=(20, 100)))
    vectors = unit(centres[np.arange(50_000) % 20] + rng.normal(0, 0.03, (50_000, 100)))
    start = time.process_time()
    topics = find_topics(vectors, [Seed(vectors[[i]], [i]) for i in range(20)])
    assert time.process_time() - start < 5
    assert {len(topic.words) for topic in topics} == {
        2500
    }  # each class gets exactly its own cluster


def test_seeds_that_cancel_out():
    with pytest.raises(LopsError, match=r"seed vectors of class 0 \(2\) cancel out"):
        find_topics(PLANE, [Seed(np.stack([PLANE[0], -PLANE[0]]), [0])])


def direction(width):
    return unit(np.random.default_rng(0).normal(size=(1, width)), np.float64)[0]


@pytest.mark.parametrize(("width", "kappa", "cosine"), [(100, 200, 0.785), (3, 3, 0.67)])
def test_directions_of_a_topic(width, kappa, cosine):
    """The mean cosine is the known one, and away from the mean no direction is preferred."""
    mean = direction(width)
    sample = Topic(np.zeros(0), mean, kappa).sample(20_000, np.random.default_rng(1))
    np.testing.assert_allclose(np.linalg.norm(sample, axis=1), 1, atol=1e-9)
    assert (sample @ mean).mean() == pytest.approx(cosine, abs=0.01)
    across = sample - np.outer(sample @ mean, mean)
    np.testing.assert_allclose(across.mean(axis=0), 0, atol=0.03)


def test_fit_is_the_closed_form():
    vectors = unit(np.random.default_rng(5).normal(0.3, 1, (7, 100)), np.float64)
    total = vectors.sum(axis=0)
    r = np.linalg.norm(total) / 7
    mean, kappa = fit(vectors)
    np.testing.assert_allclose(mean, total / np.linalg.norm(total))
    assert kappa == pytest.approx((r * 100 - r**3) / (1 - r**2))
    assert fit(np.array([[1.0, 0], [0, 1.0]]))[1] == pytest.approx(0.5**0.5 * 1.5 / 0.5)


@pytest.mark.parametrize("scale", [1, 1 + 1e-4, 1 - 1e-4])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_one_direction_is_a_point_whatever_the_rounding(count, scale):
    mean, kappa = fit(np.tile((direction(100) * scale).astype(np.float32), (count, 1)))
    assert kappa == 1e10
    assert np.linalg.norm(mean) == pytest.approx(1, abs=1e-15)


def test_the_closer_the_larger_up_to_the_point():
    first, second = np.eye(100)[:2]
    gaps = (1e-1, 1e-3, 1e-4, 6e-5, 3e-5, 1e-5, 1e-6, 0)
    pairs = [np.stack([first + gap * second, first - gap * second]) for gap in gaps]
    kappas = [fit(unit(pair, np.float64))[1] for pair in pairs]
    assert kappas == sorted(kappas)
    assert kappas[2] < kappas[-1] == 1e10
