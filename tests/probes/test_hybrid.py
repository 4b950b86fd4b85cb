"""The hybrid probe: the mean of a linear and an embedding probe on the same batches."""

import json

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Stage, cut, steady
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.hybrid import HybridProbe
from lops_adapters.probes.linear import LinearProbe

from .toys import topic_texts

TEXTS, CODES = topic_texts(41, seed=5)
OTHERS, _ = topic_texts(9, seed=6)
ENCODING = {"max_tokens": 16, "precision": "float32", "device": "cpu", "cache": None}


@pytest.fixture
def three(tiny):
    """A hybrid probe and its two parts, built apart."""
    training = {"epochs": 3, "batch_size": 4}
    encoding = {"encoder": tiny("bert"), **ENCODING}
    return (
        HybridProbe(learning_rate=0.12, **training, **encoding),
        LinearProbe(learning_rate=0.12, **training),
        EmbeddingProbe(learning_rate=0.02, **training, **encoding),
    )


def test_snapshots_are_means_of_snapshots(three):
    watched = [list(probe.watch(TEXTS, CODES, 3, seed=7, every=5)) for probe in three]
    for hybrid, linear, embedding in zip(*watched, strict=True):
        assert hybrid.time == linear.time
        expected = (linear.probabilities + embedding.probabilities) / 2
        np.testing.assert_allclose(hybrid.probabilities, expected, atol=1e-6)


def test_stages_with_and_without_a_listener(three):
    heard = []
    stages = [Stage(1, steady), Stage(2, steady, heard=lambda *said: heard.append(said))]
    hybrid, linear, embedding = (
        probe.fit(TEXTS, CODES, 3, stages=stages, seed=2) for probe in three
    )
    assert len(heard) == 3 * 2 * 11  # each of the three, two epochs of 11 updates
    positions = np.concatenate([positions for positions, _ in heard[:11]])
    assert sorted(positions.tolist()) == list(range(41))
    expected = (linear.predict_proba(OTHERS) + embedding.predict_proba(OTHERS)) / 2
    np.testing.assert_allclose(hybrid.predict_proba(OTHERS), expected, atol=1e-6)


def test_read_once_and_cut(three):
    hybrid = three[0]
    read = hybrid.read(TEXTS)
    assert len(read) == 41
    some = np.array([5, 2, 30, 1, 9])
    codes = CODES[some]
    direct = hybrid.fit([TEXTS[i] for i in some], codes, 3).predict_proba(OTHERS)
    again = hybrid.fit(cut(read, some), codes, 3).predict_proba(hybrid.read(OTHERS))
    np.testing.assert_array_equal(direct, again)


def test_vectors_are_refused(three):
    with pytest.raises(LopsError, match="wanted a string, tokens, or sentences of tokens"):
        three[0].fit(np.zeros((4, 3)), [0, 1, 0, 1], 2)


def test_what_is_saved(three, tmp_path):
    hybrid = three[0].fit(TEXTS, CODES, 3)
    hybrid.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "hybrid.json", "linear.json", "linear.npz", "embedding.json", "embedding.npz",
    }  # fmt: skip
    assert json.loads((tmp_path / "hybrid.json").read_text())["learning_rate"] == 0.12
