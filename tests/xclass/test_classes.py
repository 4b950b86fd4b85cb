import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.xclass.classes import describe_classes


def cosines_of(row, others):
    return [round(float(row @ other), 6) for other in others]


def length_one(row):
    return np.float64(row) / np.linalg.norm(row.astype(np.float64))


def oracle(names, name_index, static, candidates, most, faithful):
    """The greedy expansion, word by word, for names of one word or (index None) of none that the
    corpus holds.
    """
    k = len(names)
    vocabulary = sorted({*candidates, *(index for index in name_index if index is not None)})
    lists = [[(index, np.float64(names[code]))] for code, index in enumerate(name_index)]
    masked, finished = {index for index in name_index if index is not None}, set()

    def vector(code):
        weights = [1 / (place + 1) for place in range(len(lists[code]))]
        return sum(
            weight * row for weight, (_, row) in zip(weights, lists[code], strict=True)
        ) / sum(weights)

    stored = [vector(code) for code in range(k)]
    directions = {word: length_one(static[word]) for word in vocabulary}
    for _ in range(1, most):
        if len(finished) == k:
            break
        ends = [length_one(row) for row in stored]
        cosines = {word: cosines_of(directions[word], ends) for word in vocabulary}
        nearest = {word: row.index(max(row)) for word, row in cosines.items()}
        for code in range(k):
            if code in finished:
                continue
            own = [word for word, _ in lists[code] if word is not None]
            candidate, largest, lowest, stopped = None, -2.0, 1.0, False
            for word in vocabulary:
                highest = max(cosines[word])
                if word in own:
                    lowest = min(lowest, highest)
                    stopped = stopped or nearest[word] != code
                elif nearest[word] == code and word in masked:
                    stopped = True
                elif nearest[word] == code and highest > largest:
                    candidate, largest = word, highest
            if stopped or lowest < largest or candidate is None:
                finished.add(code)
                if (stopped or lowest < largest) and len(lists[code]) > 1:
                    lists[code].pop()
                    stored[code] = vector(code)
                if faithful:
                    break
                continue
            lists[code].append((candidate, np.float64(static[candidate])))
            masked.add(candidate)
            stored[code] = vector(code)
    return np.array(stored), tuple(tuple(word for word, _ in row[1:]) for row in lists)


def problem(seed, size=60, k=4, width=5):
    """Words around k centres, some of them equal, and k of them as names."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, width)) + 0.5
    static = np.float32(
        centres[np.arange(size) % k]
        + rng.normal(scale=rng.choice([0.2, 0.5, 0.8]), size=(size, width))
    )
    static[-8:] = static[8:16]  # words of equal vectors
    return static, [int(index) for index in rng.permutation(size - 8)[:k]]


@pytest.mark.parametrize("faithful", [True, False])
@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_against_the_slow_way(faithful, most):
    for seed in range(12):
        static, index = problem(seed)
        candidates = np.flatnonzero(np.random.default_rng(seed).random(len(static)) < 0.9)
        found = describe_classes(
            static[index], [[i] for i in index], static, candidates, most=most, faithful=faithful
        )
        vectors, words = oracle(static[index], index, static, candidates.tolist(), most, faithful)
        assert found.words == words
        np.testing.assert_allclose(found.vectors, vectors, atol=1e-6)
        assert found.vectors.dtype == np.float32
        assert max(map(len, words)) <= most - 1


def test_names_the_corpus_lacks_against_the_slow_way():
    for seed in range(10):
        static, index = problem(seed)
        names = static[index] + np.float32(0.1)
        known = [index[0], None, None, index[3]]
        found = describe_classes(
            names, [[] if i is None else [i] for i in known], static, np.arange(len(static)), most=8
        )
        vectors, words = oracle(names, known, static, range(len(static)), 8, faithful=False)
        assert found.words == words
        np.testing.assert_allclose(found.vectors, vectors, atol=1e-6)


def angle(*degrees):
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def test_words_by_hand():
    """Class 0 at 0 degrees and class 1 at 90: each takes its nearest words, equal ones by index,
    and averages them by rank.
    """
    static = angle(0, 90, -3, 5, 5, 88)
    found = describe_classes(static[:2], [[0], [1]], static, np.arange(2, 6), most=3)
    assert found.words == ((2, 3), (5,))
    expected = (static[0] + static[2] / 2 + static[3] / 3) / (1 + 1 / 2 + 1 / 3)
    np.testing.assert_allclose(found.vectors[0], expected, atol=1e-6)
    np.testing.assert_allclose(found.vectors[1], (static[1] + static[5] / 2) / 1.5, atol=1e-6)


def test_a_list_that_is_no_longer_the_nearest_gives_its_last_word_back():
    """After 2 the class points at about 3 degrees; word 3 at 4 is nearer than the name at 0."""
    static = angle(0, 90, 10, 11)
    static[2] *= 3
    found = describe_classes(static[:2], [[0], [1]], static, np.array([2, 3]), most=10)
    assert found.words == ((), ())
    assert (found.vectors == static[:2]).all()


def test_without_candidates_names_stay_alone():
    static = angle(0, 90)
    found = describe_classes(static, [[0], [1]], static, np.zeros(0, dtype=np.int64))
    assert found.words == ((), ())
    assert (found.vectors == static).all()


def test_without_a_candidate_an_inconsistent_class_still_gives_back():
    """Word 2 drags class 0 from its name, which is then nearer to class 1; no word is left."""
    static = angle(0, 10, -14)
    static[2] *= 400
    found = describe_classes(static[:2], [[0], [1]], static, np.array([2]), most=10)
    assert oracle(static[:2], [0, 1], static, [2], 2, faithful=False)[1] == ((2,), ())
    assert found.words == oracle(static[:2], [0, 1], static, [2], 10, faithful=False)[1] == ((), ())
    assert (found.vectors == static[:2]).all()


def test_parts_of_a_name_describe_no_class():
    static = angle(0, 20, 90, 25, 80)  # the parts are nearer to the first name than any other word
    names = np.stack([static[[0, 1]].mean(axis=0), static[2]])
    found = describe_classes(names, [[0, 1], [2]], static, np.arange(5), most=2)
    assert found.words == ((3,), (4,))
    shared = describe_classes(names, [[0, 2], [2]], static, np.arange(5), most=2)
    assert 2 not in shared.words[0] + shared.words[1]


def test_rare_words_describe_no_class_but_may_name_one():
    static = angle(0, 90, 1, 6, 88)
    found = describe_classes(static[:2], [[0], [1]], static, np.array([3, 4]), most=2)
    assert found.words == ((3,), (4,))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([[1.0, 0.0], [2.0, 0.0]], "classes 0 and 1 have the same vector"),
        ([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], "classes 1 and 2 have the same vector"),
        ([[1.0, 0.0], [0.0, 0.0]], "class 1 has a vector of zeros"),
    ],
)
def test_names_that_cannot_be_told_apart(names, words):
    with pytest.raises(LopsError, match=words):
        describe_classes(
            np.float32(names), [[]] * len(names), np.eye(2, dtype=np.float32), np.arange(2)
        )
