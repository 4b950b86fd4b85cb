"""The networks that learn from word vectors, HAN and text CNN: stored and restored weights."""

import numpy as np
import pytest

from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.keras_probe import KerasProbe

from .toys import TABLE, VECTORS, saved_bytes, topic_texts

TEXTS, CODES = topic_texts(24, seed=1)
SMALL = {"epochs": 3, "batch_size": 8, "precision": "float32", "device": "cpu"}


@pytest.fixture(params=[HanProbe, KerasProbe], ids=["han", "keras"])
def make(request):
    return lambda vectors=None: request.param(vectors=vectors, **SMALL)


def test_save_and_load_with_word_vectors(make, tmp_path):
    probe = make(VECTORS).fit(TEXTS, CODES, 3)
    saved = saved_bytes(probe, tmp_path / "model")
    loaded = type(probe).load(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), probe.predict_proba(TEXTS))
    # Trained afresh with the same vectors, still frozen.
    assert saved_bytes(loaded.fit(TEXTS, CODES, 3), tmp_path / "again") == saved


def test_own_vectors_learn(make):
    """Except that of padding, which an empty text is."""
    texts, own = ["", *TEXTS[1:]], make()
    next(own.watch(texts, CODES, 3, every=1))
    before = own.trainable_weights()[0]
    after = own.fit(texts, CODES, 3).trainable_weights()[0]
    assert not after[0].any()
    assert (np.abs(after[1:] - before[1:]).max(axis=1) > 0).all()


def test_own_vectors_for_texts_without_words(make, tmp_path):
    probe = make().fit(["", " "], [0, 1], 2)
    probe.save(tmp_path)
    loaded = type(probe).load(tmp_path, device="cpu")
    np.testing.assert_array_equal(loaded.predict_proba(["a"]), probe.predict_proba(["a"]))


def test_restored_weights(make):
    trained = make(VECTORS).fit(TEXTS, CODES, 3)
    expected, weights = trained.predict_proba(TEXTS), trained.trainable_weights()
    assert TABLE.shape not in [part.shape for part in weights]
    fresh = make(VECTORS)
    assert fresh.restore(weights, 3, seed=9) is fresh
    np.testing.assert_array_equal(fresh.predict_proba(TEXTS), expected)
    update = fresh.tuner(learning_rate=1.0, momentum=0.0, decay=0.0)
    update(fresh.prepare(TEXTS), np.arange(24), np.eye(3, dtype=np.float32)[CODES])
    for one, other in zip(trained.trainable_weights(), weights, strict=True):  # copies
        np.testing.assert_array_equal(one, other)


def test_weights_with_own_vectors_are_restored_where_the_words_are_known(make):
    own, other = make().fit(TEXTS, CODES, 3), make()
    other.prepare(TEXTS, fit=True)
    other.restore(own.trainable_weights(), 3)
    np.testing.assert_array_equal(other.predict_proba(TEXTS), own.predict_proba(TEXTS))
