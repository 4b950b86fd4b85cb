import numpy as np
import pytest

from lops_adapters.xclass import documents as module
from lops_adapters.xclass.documents import document_vectors, ranks, relation, significance

K, WIDTH, SIZE, N = 3, 6, 15, 30


def cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


def slow_rank(scores):
    """Rank from 1 by rising score, equal ones by place."""
    order = sorted(range(len(scores)), key=lambda place: (scores[place], place))
    return [order.index(place) + 1 for place in range(len(scores))]


def slow_vector(words, vectors, static, classes):
    def significant(row):
        powers = np.exp([cosine(row, vector) for vector in classes])
        return -round(float(max(powers / powers.sum())), 6)

    def related(row):
        return -round(float(cosine(row, classes.mean(axis=0))), 6)

    still = [static[word].astype(np.float64) for word in words]
    moving = [row.astype(np.float64) for row in vectors]
    scores = [
        [score(row) for row in rows] for rows in (moving, still) for score in (significant, related)
    ]
    final = slow_rank(np.prod([slow_rank(found) for found in scores], axis=0))
    return np.average(moving, axis=0, weights=[1 / rank for rank in final])


@pytest.fixture(scope="module")
def data():
    """Words of documents, some of them without any, with repeated words."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 14, N)
    sizes[[0, 7, 8, N - 1]] = 0
    document = np.repeat(np.arange(N), sizes)
    word_id = rng.integers(0, SIZE, len(document))
    vectors = rng.normal(size=(len(document), WIDTH)).astype(np.float16)
    static, classes = (
        rng.normal(size=(SIZE, WIDTH)).astype(np.float32),
        rng.normal(size=(K, WIDTH)).astype(np.float32),
    )
    return word_id, document, vectors, static, classes


def test_against_the_slow_way(data):
    word_id, document, vectors, static, classes = data
    found = document_vectors(*data, N)
    assert (found.dtype, found.shape) == (np.float32, (N, WIDTH))
    for number in range(N):
        own = document == number
        expected = (
            slow_vector(word_id[own], vectors[own], static, classes)
            if own.any()
            else np.zeros(WIDTH)
        )
        np.testing.assert_allclose(found[number], expected, atol=1e-5)


@pytest.mark.parametrize("tokens", [1, 5, 40])
def test_blocks_change_nothing(data, tokens, monkeypatch):
    whole = document_vectors(*data, N)
    monkeypatch.setattr(module, "_TOKENS", tokens)
    assert (document_vectors(*data, N) == whole).all()


def test_only_some_rows_count(data):
    word_id, document, vectors, static, classes = data
    rows = np.flatnonzero(np.random.default_rng(1).random(len(word_id)) < 0.6)
    found = document_vectors(*data, N, rows=rows)
    expected = document_vectors(word_id[rows], document[rows], vectors[rows], static, classes, N)
    assert (found == expected).all()
    assert np.abs(found - document_vectors(*data, N)).max() > 0.01
    assert not document_vectors(*data, N, rows=rows[:0]).any()


def test_scores():
    classes = np.eye(2, 3, dtype=np.float32)
    rows = np.float32([[2, 0, 0], [0, 0, 5], [3, 3, 0], [0, 0, 0]])
    one = np.exp(1) / (1 + np.exp(1))
    np.testing.assert_allclose(significance(rows, classes), [one, 0.5, 0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(relation(rows, classes), [0.5**0.5, 0, 1, 0], atol=1e-6)


def test_ranks_restart_in_every_document():
    document, scores = np.array([0, 0, 0, 2, 2]), np.array([1.0, 3.0, 3.0, 5.0, 4.0])
    assert ranks(document, scores, falling=True).tolist() == [3, 1, 2, 1, 2]
    assert ranks(document, scores, falling=False).tolist() == [1, 2, 3, 2, 1]
