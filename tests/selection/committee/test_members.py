"""The members of a committee, each against a recomputation by hand."""

import warnings

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders.tf_idf import Topics
from lops_adapters.encoders.word_counts import count_words
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.committee import members
from lops_adapters.selection.committee.folds import Folded
from lops_adapters.selection.committee.members import (
    ClassWords,
    Learnt,
    Neighbours,
    VectorRegression,
)

from ..stand_in import world

SAMPLES, LABELS, *_ = world()
CODES = np.array([int(label[-1]) for label in LABELS])


def labelled(samples=SAMPLES, codes=CODES, classes=("a", "b", "c"), seed=0, folds=3):
    return Folded(samples, np.asarray(codes), list(classes), folds, seed)


def unit(rows):
    rows = np.asarray(rows, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


VECTORS = unit(np.random.default_rng(3).normal(size=(90, 6)))


def by_brute_force(vectors, codes, k, count, among):
    """Every sample beside every other, in float64."""
    found = np.zeros((len(vectors), k))
    for i, vector in enumerate(vectors.astype(np.float64)):
        near = [(float(vector @ vectors[j]), j) for j in range(among) if j != i]
        for cosine, j in sorted(near, reverse=True)[:count]:
            found[i, codes[j]] += np.exp(5 * cosine)
    found += 1e-3
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("count", "most", "used"), [(100, 10_000, 15), (4, 10_000, 4), (9, 40, 6)])
def test_neighbours_by_brute_force(monkeypatch, count, most, used):
    """90 samples of 3 classes have 15 neighbours at most; 40 to compare to, 6."""
    monkeypatch.setattr(members, "BLOCK", 32)
    found = Neighbours("near", lambda _: VECTORS, count, most).score(labelled())
    expected = by_brute_force(VECTORS, CODES, 3, used, min(most, 90))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_neighbours_of_very_many_are_compared_to_fewer(monkeypatch):
    monkeypatch.setattr(members, "_COMPARISONS", 2200 * 1000)
    vectors = unit(np.random.default_rng(3).normal(size=(2200, 4)))
    codes = np.arange(2200) % 2
    found = Neighbours("near", lambda _: vectors, 5).score(labelled(vectors, codes, "xy"))
    fewer = Neighbours("near", lambda _: vectors, 5, 1000).score(labelled(vectors, codes, "xy"))
    np.testing.assert_array_equal(found, fewer)


def test_neighbours_do_not_see_the_own_label():
    member = Neighbours("near", lambda _: VECTORS)
    usual = member.score(labelled())
    for i in (0, 17, 89):
        codes = CODES.copy()
        codes[i] = (codes[i] + 1) % 3
        np.testing.assert_array_equal(member.score(labelled(codes=codes))[i], usual[i])
        assert not np.array_equal(member.score(labelled(codes=codes)), usual)


def test_neighbours_of_one_and_of_equal_samples():
    one = Neighbours("near", lambda _: VECTORS[:1]).score(labelled(["a"], [0], ["x"]))
    assert one.tolist() == [[1.0]]
    same = Neighbours("near", lambda _: np.ones((6, 2))).score(
        labelled(["a"] * 6, [0, 1] * 3, "xy")
    )
    assert np.isfinite(same).all()
    zero = Neighbours("near", lambda _: np.zeros((6, 2))).score(
        labelled(["a"] * 6, [0, 1] * 3, "xy")
    )
    assert np.isfinite(zero).all()


OF_WORDS = {"goal, match": [1, 0, 0], "debt": [0, 1, 0], "law": [0, 0, 1]}
WORDS = {"a": ["goal", "match"], "b": ("debt",), "c": ["law"]}


def test_class_words_by_hand():
    asked = []
    texts = unit(np.abs(np.random.default_rng(1).normal(size=(90, 3))))

    def vectors(samples):
        asked.append(list(samples))
        return texts if samples is SAMPLES else unit([OF_WORDS[text] for text in samples])

    found = ClassWords("words", vectors, WORDS).score(labelled())
    assert asked[0] == ["goal, match", "debt", "law"]
    scores = np.zeros((90, 3))
    for c in range(3):
        near = texts[:, c].astype(np.float64)
        scores[:, c] = 2 * (near - near.mean()) / near.std()
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    other = ClassWords("words", vectors, WORDS).score(labelled(codes=(CODES + 1) % 3))
    np.testing.assert_array_equal(found, other)  # no label is used


def test_equal_texts_are_as_near_to_every_class():
    found = ClassWords("words", lambda samples: np.ones((len(samples), 2)), WORDS).score(labelled())
    np.testing.assert_allclose(found, 1 / 3)


@pytest.mark.parametrize("words", [{}, {"a": ["x"], "c": ["y"]}, {**WORDS, "b": []}])
def test_a_class_without_words(words):
    with pytest.raises(LopsError, match=r"words hold none for '[ab]'"):
        ClassWords("words", lambda samples: VECTORS, words).score(labelled())


@pytest.mark.parametrize("most", [50_000, 25])
def test_a_regression_on_vectors(most):
    """It agrees with scikit-learn's, and turns further samples into vectors likewise."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(90, 3)) + np.eye(3)[CODES]).astype(np.float32)
    vectors = dict(zip(SAMPLES, rows, strict=True))
    member = VectorRegression("", lambda samples: np.array([vectors[one] for one in samples]), most)
    for codes in (CODES, CODES % 2):
        k = codes.max() + 1
        task = labelled(codes=codes, classes=range(k))
        found, mean = member.score(task), np.zeros((90, k))
        member.fit(task)
        for every, left_out in task.splits():
            train = every[:most]
            model = LogisticRegression(C=0.3 * len(every) / len(train), tol=1e-8)
            model.fit(rows[train].astype(float), codes[train])
            held_out = model.predict_proba(rows[left_out])
            np.testing.assert_allclose(found[left_out], held_out, atol=2e-3)
            mean += model.predict_proba(rows) / 3
        np.testing.assert_allclose(member.score_unseen(SAMPLES), mean, atol=2e-3)


def test_a_regression_gives_classes_without_samples_in_its_folds_no_probability():
    codes = np.array([0] * 8 + [1])
    rows = np.eye(9, dtype=np.float32)
    found = VectorRegression("", np.asarray).score(labelled(rows, codes, ["common", "rare"]))
    assert found[8].tolist() == [1, 0]
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    assert (found[:8, 1] > 0).any()


TEXTS = [
    "river bank boat", "river boat water water", "stock bank rates", "stock rates debt",
    "boat on the river", "debt and rates and stock",
]  # fmt: skip


def topics(counts, *settings):
    return Topics(counts, *settings)(counts)


def test_topics_are_the_singular_vectors_of_tfidf():
    """Signs and rotations aside: cosines are compared."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = TfidfVectorizer(sublinear_tf=True).fit_transform(TEXTS).toarray()
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    for width in (2, 300):
        expected = unit(left[:, : min(width, 5)] * values[: min(width, 5)])
        found = topics(count_words(TEXTS), 0, width)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-4)


def test_topics_are_the_same_for_the_same_seed():
    np.testing.assert_array_equal(
        topics(count_words(TEXTS), 5, 2), topics(count_words(TEXTS), 5, 2)
    )
    tokens = [text.split() for text in TEXTS]
    np.testing.assert_array_equal(
        topics(count_words(tokens), 5, 2), topics(count_words(TEXTS), 5, 2)
    )


@pytest.mark.parametrize(
    "texts",
    [
        ["one text"], ["same words"] * 8, ["river"] * 4 + ["bank"] * 4,
        ["", "river bank", "?!", "bank rates"],
    ],
)  # fmt: skip
def test_topics_of_little(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = topics(count_words(texts), 0)
    assert len(found) == len(texts)
    assert np.isfinite(found).all()
    lengths = np.linalg.norm(found, axis=1)
    assert all(np.isclose(length, 1) or length == 0 for length in lengths)


@pytest.mark.parametrize("texts", [["", "?!"], ["a b", "c"]])
def test_topics_of_nothing(texts):
    with pytest.raises(
        LopsError, match="the 2 texts hold no word the linear probe can use; wanted"
    ):
        topics(count_words(texts), 0)


@pytest.mark.parametrize("kind", ["probe", "regression", "neighbours"])
def test_further_samples_of_a_group_are_scored_without_it(kind):
    """A sample, given once more with its group, gets the scores that it had held out."""
    vectors = dict(zip(SAMPLES, VECTORS, strict=True))

    def read(samples):
        return np.array([vectors[one] for one in samples])

    texts = [f"word{code} {sample}" for code, sample in zip(CODES, SAMPLES, strict=True)]
    member = {
        "probe": lambda: Learnt("p", LinearProbe(quiet=True)),
        "regression": lambda: VectorRegression("r", read),
        "neighbours": lambda: Neighbours("n", read),
    }[kind]()
    groups = np.arange(90) // 4
    samples = texts if kind == "probe" else SAMPLES
    task = Folded(samples, CODES, ["a", "b", "c"], 3, groups=groups)
    held_out = member.score(task)
    member.fit(task)
    again = member.score_unseen(samples, groups)
    np.testing.assert_allclose(again, held_out, rtol=1e-4)
    others = member.score_unseen(samples, np.full(90, -1))
    np.testing.assert_allclose(others, member.score_unseen(samples), rtol=1e-6)
    assert not np.allclose(others, held_out, rtol=1e-3)
