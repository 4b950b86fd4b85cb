import numpy as np
import pytest
from scipy.stats import chisquare

from lops_adapters.westclass import pseudo_documents as module
from lops_adapters.westclass.pseudo_documents import generate
from lops_adapters.westclass.topics import Topic

SIZE, WIDTH = 60, 8
FIELDS = ("words", "sentence_lengths", "sentence_counts", "codes")


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


VECTORS = unit(np.random.default_rng(0).normal(size=(SIZE, WIDTH)))
BACKGROUND = np.random.default_rng(1).dirichlet(np.full(SIZE, 0.5))


def topic(word, kappa=30.0):
    mean = VECTORS[word].astype(np.float64)
    return Topic(np.array([word], dtype=np.int32), mean / np.linalg.norm(mean), kappa)


TOPICS = [topic(3), topic(14), topic(15)]


def made(topics=TOPICS, vectors=VECTORS, background=BACKGROUND, shapes=((4, 3),), **options):
    return generate(
        topics, vectors, background, shapes, **{"seed": 0, "per_class": 20, "top": 10, **options}
    )


def mixture(z, top, alpha, vectors=VECTORS, background=BACKGROUND):
    """The distribution of words around one direction, in words: the best, their softmax, the
    background.
    """
    scores = vectors.astype(np.float64) @ z
    best = sorted(range(len(vectors)), key=lambda word: (-round(scores[word], 6), word))[:top]
    p = np.zeros(len(vectors))
    p[best] = np.exp(scores[best])
    return (1 - alpha) * p / p.sum() + alpha * background


def rows_of(documents):
    """Words of each document, as lists of indices."""
    return [
        [word for sentence in document for word in sentence]
        for document in documents.documents(range(SIZE))
    ]


def assert_distributed_as(words, expected, least=1e-3):
    found = np.bincount(words, minlength=len(expected))
    assert not found[expected == 0].any()
    likely = expected * len(words) >= 5
    pooled = [*found[likely], found[~likely].sum()], [*expected[likely], expected[~likely].sum()]
    keep = np.array(pooled[1]) > 0
    found, wanted = np.array(pooled[0])[keep], np.array(pooled[1])[keep]
    if len(found) > 1:
        assert chisquare(found, wanted / wanted.sum() * len(words)).pvalue > least


@pytest.mark.parametrize("top", [1, 10, 59, 60, 500])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
def test_words_of_one_direction_follow_the_mixture(alpha, top):
    point = topic(7, kappa=1e10)
    documents = made([point], shapes=[[2000, 1000]], alpha=alpha, top=top)
    assert_distributed_as(documents.words, mixture(point.mean, min(top, SIZE), alpha))


def test_each_document_has_a_direction_of_its_own():
    documents = made([topic(3, kappa=5.0)], shapes=[[4000]])
    directions = topic(3, kappa=5.0).sample(20, np.random.default_rng([0, 0]))
    for row, z in zip(rows_of(documents), directions, strict=True):
        assert_distributed_as(row, mixture(z, 10, 0.2))
    with pytest.raises(AssertionError):
        assert_distributed_as(rows_of(documents)[0], mixture(directions[1], 10, 0.2))


@pytest.mark.parametrize("block", [1, 200, 2**21])
def test_top_words_with_ties_go_to_the_lower_index(monkeypatch, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    rng = np.random.default_rng(2)
    vectors = np.eye(4, dtype=np.float32)[rng.integers(0, 4, 50)]
    directions = unit(rng.normal(size=(30, 4))).astype(np.float64)
    for top in (1, 7, 30, 50):
        near, scores = module._nearest(vectors, directions, top)
        for z, words, found in zip(directions, near, scores, strict=True):
            products = vectors @ z
            assert (
                words.tolist() == sorted(range(50), key=lambda word: (-products[word], word))[:top]
            )
            np.testing.assert_allclose(found, products[words], atol=1e-6)


def test_class_by_class_in_order():
    documents = made(alpha=0.0, top=3)
    assert documents.codes.dtype == np.int64
    assert documents.codes.tolist() == [0] * 20 + [1] * 20 + [2] * 20
    tight = [topic(word, kappa=1e10) for word in (3, 14, 15)]
    for code, row in zip(documents.codes, rows_of(made(tight, alpha=0.0, top=3)), strict=True):
        assert set(row) <= set(np.flatnonzero(mixture(tight[code].mean, 3, 0.0)))


def test_lengths_are_those_of_real_documents():
    shapes = [[12, 7], [3], [], [0, 0], [5, 0, 2]]
    documents = made(shapes=shapes, per_class=300)
    found = [
        tuple(len(sentence) for sentence in document)
        for document in documents.documents(range(SIZE))
    ]
    assert set(found) == {(12, 7), (3,), (5, 2)}
    counts = [found.count(shape) for shape in sorted(set(found))]
    assert chisquare(counts).pvalue > 1e-3
    assert documents.words.shape == (sum(map(sum, found)),)
    assert (
        documents.words.dtype,
        documents.sentence_lengths.dtype,
        documents.sentence_counts.dtype,
    ) == (np.int32,) * 3


def test_a_sentence_ends_with_its_word():
    plain = made(shapes=[[4, 3], [2]], per_class=30)
    ended = made(shapes=[[4, 3], [2]], per_class=30, sentence_end=59)
    np.testing.assert_array_equal(ended.sentence_counts, plain.sentence_counts)
    with_end = [
        [[*sentence, 59] for sentence in document] for document in plain.documents(range(SIZE))
    ]
    assert ended.documents(range(SIZE)) == with_end


def test_same_seed_same_documents():
    one, same, other = made(), made(), made(seed=1)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert not np.array_equal(one.words, other.words)


def test_classes_do_not_depend_on_each_other():
    shapes = [[4, 3], [2], [9]]
    three = rows_of(made(shapes=shapes))
    assert rows_of(made([TOPICS[0], topic(40)], shapes=shapes))[:20] == three[:20]
    assert rows_of(made([topic(40), TOPICS[1]], shapes=shapes))[20:] == three[20:40]
    twins = rows_of(made([TOPICS[0], TOPICS[0]], shapes=shapes))
    assert twins[:20] != twins[20:]


class Always:
    """A generator that draws one number only."""

    def __init__(self, number):
        self.number = number

    def random(self, n):
        return np.full(n, self.number)


@pytest.mark.parametrize(
    ("number", "column"), [(0.0, 0), (np.nextafter(1, 0), 2)]
)  # the last is rounded up to 1 behind a row's number
def test_the_ends_of_the_unit_interval_stay_in_their_document(number, column):
    near, document = np.arange(12).reshape(4, 3), np.array([0, 2, 3])
    words = module._draw(near, np.zeros((4, 3)), document, np.array([1.0]), 0.0, Always(number))
    assert words.tolist() == [column, 6 + column, 9 + column]
    below = module._cumulative(np.array([[0.0, 0.25, 0.75, 0.0]]))[0]
    words = module._draw(near, np.zeros((4, 3)), document, below, 1.0, Always(number))
    assert words.tolist() == [2 if column else 1] * 3
