"""The embedding probe: the arithmetic of its head, vectors in place of texts, what it reads."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.base import cut
from lops_adapters.probes.embedding import EmbeddingProbe, given_vectors

from .toys import adagrad_by_hand, softmax, topic_texts

TEXTS, CODES = topic_texts(40, seed=5)
SMALL = {"max_tokens": 16, "precision": "float32", "device": "cpu", "cache": None}


def clusters(n=60, width=7, k=3, seed=0, spread=0.5):
    """Vectors around k centres, and their codes 0, 1, 2, 0, ..."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    centres = np.random.default_rng(99).normal(size=(k, width))
    return (centres[codes] + spread * rng.normal(size=(n, width)) + 3).astype(np.float32), codes


def test_adagrad_against_a_recomputation():
    vectors, codes = clusters(11)
    probe = EmbeddingProbe(epochs=3, batch_size=4, learning_rate=0.3)
    probe.fit(vectors, codes, 3, seed=9)
    rows = vectors.astype(np.float64) - vectors.mean(axis=0)
    rows *= np.sqrt(7) / 4 / np.sqrt((rows**2).sum(axis=1).mean())
    weights, bias = adagrad_by_hand(rows, codes, seed=9)
    np.testing.assert_allclose(probe._weights, weights, atol=1e-4)
    np.testing.assert_allclose(
        probe.predict_proba(vectors), softmax(rows @ weights + bias), atol=1e-4
    )


def test_scale_and_place_of_the_vectors_change_nothing():
    """Up to float32: the learning rate suits any encoder."""
    vectors, codes = clusters()
    usual = EmbeddingProbe().fit(vectors, codes, 3).predict_proba(vectors)
    other = 1000 * vectors.astype(np.float64) - 500
    np.testing.assert_allclose(
        EmbeddingProbe().fit(other, codes, 3).predict_proba(other), usual, atol=1e-3
    )


def test_vectors_instead_of_texts_give_the_same(tiny):
    usual = EmbeddingProbe(encoder=tiny("bert"), **SMALL)
    vectors = usual.vectors(TEXTS)
    expected = usual.fit(TEXTS, CODES, 3).predict_proba(TEXTS)
    for given in (vectors, list(vectors), vectors.astype(np.float64), tuple(vectors)):
        probe = EmbeddingProbe(encoder="never loaded").fit(given, CODES, 3)
        np.testing.assert_array_equal(probe.predict_proba(given), expected)
        np.testing.assert_allclose(probe.predict_proba(given[:1]), expected[:1], rtol=1e-5)
    np.testing.assert_array_equal(usual.read(TEXTS), vectors)
    read = cut(usual.read(TEXTS), np.array([3, 1]))
    np.testing.assert_allclose(usual.predict_proba(read), expected[[3, 1]], rtol=1e-5)


def test_whole_numbers_are_vectors():
    given = given_vectors(np.array([[1, 2], [3, 4]], dtype=np.int8))
    assert given.dtype == np.float32
    assert given.tolist() == [[1, 2], [3, 4]]
    assert given_vectors(np.array([["a", "b"]])) is None
    assert given_vectors(np.array([[{}, "b"]], dtype=object)) is None
    assert given_vectors([["tokens", "of"], ["texts"]]) is None
    assert given_vectors(np.array(["a", "b"])) is None
    assert given_vectors([]) is None
    assert given_vectors(np.zeros((0, 3))).shape == (0, 3)


BAD = {
    "nan": ([[0.0, 1], [np.nan, 1], [np.nan, 2]], "2 of 3 vectors hold NaN or infinity, .* 1; "),
    "infinity": ([[0.0, 1], [2, -np.inf]], "1 of 2 vectors hold NaN or infinity, .*position 1;"),
    "too large": ([[1e300, 1], [2, 1]], "1 of 2 vectors hold NaN or infinity, .*position 0;"),
    "lengths": ([[0.0, 1], [2], [1, 2, 3]], "found vectors of 1 to 3 numbers; wanted one length"),
    "empty": ([[], []], "found vectors of 0 numbers; wanted at least 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_vectors_are_refused(case):
    rows, message = BAD[case]
    forms = [[np.array(row, dtype=np.float64) for row in rows]]
    if case != "lengths":
        forms.append(np.array(rows, dtype=np.float64))
    for given in forms:
        with pytest.raises(LopsError, match=message):
            EmbeddingProbe().fit(given, np.arange(len(given)) % 2, 2)


@pytest.mark.parametrize("odd", [None, "text", 1.5, np.zeros((2, 2)), [1.0, 2.0]])
def test_vectors_mixed_with_something_else(odd):
    kind = type(odd).__name__
    with pytest.raises(LopsError, match=f"the sample at position 1 is {kind} and the first is a"):
        EmbeddingProbe().fit([np.zeros(2), odd, np.ones(2)], [0, 1, 0], 2)


def test_vectors_of_another_width(tiny):
    vectors, codes = clusters()
    probe = EmbeddingProbe(encoder=tiny("bert"), **SMALL).fit(vectors, codes, 3)
    for given, width in ((vectors[:, :5], 5), (TEXTS, 32)):
        with pytest.raises(
            LopsError, match=f"found vectors of {width} numbers; the probe was trained on .* of 7"
        ):
            probe.predict_proba(given)


def test_no_samples_are_neither_texts_nor_vectors():
    vectors, codes = clusters()
    probe = EmbeddingProbe(encoder="never loaded").fit(vectors, codes, 3)
    assert probe.predict_proba([]).shape == probe.predict_proba(vectors[:0]).shape == (0, 3)


def test_equal_vectors_do_not_divide_by_zero():
    probe = EmbeddingProbe().fit(np.ones((6, 3)), [0, 0, 0, 0, 1, 1], 2)
    assert np.isfinite(probe.predict_proba(np.ones((2, 3)))).all()


def test_where_the_cache_is(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    settings = {**SMALL, "encoder": tiny("bert")}
    EmbeddingProbe(**settings).vectors(TEXTS)
    assert not list(tmp_path.iterdir())
    EmbeddingProbe(**{**settings, "cache": "auto"}).vectors(TEXTS)
    assert list((tmp_path / "lops_adapters" / "vectors").rglob("*.npz"))
    EmbeddingProbe(**{**settings, "cache": str(tmp_path / "own")}).vectors(TEXTS)
    assert list((tmp_path / "own").rglob("*.npz"))


def test_a_saved_probe_of_vectors_needs_no_encoder(tmp_path):
    vectors, codes = clusters()
    probe = EmbeddingProbe(encoder="never loaded").fit(vectors, codes, 3)
    probe.save(tmp_path)
    loaded = EmbeddingProbe.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(vectors), probe.predict_proba(vectors))
