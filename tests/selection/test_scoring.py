"""Confidences that watch one training: each against its definition, on scripted probabilities."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes import Snapshot
from lops_adapters.selection import CONFIDENCES, build, score

from .stand_in import Told, world

N = 400
SAMPLES, LABELS, *_ = world(n=N)
TABLE = dict(zip(SAMPLES, np.random.default_rng(1).dirichlet([1, 1, 1], (N, 4)), strict=True))
CODES = np.array([int(label[-1]) for label in LABELS])
ROWS = np.array([TABLE[sample] for sample in SAMPLES], dtype=np.float32).transpose(
    1, 0, 2
)  # (t, n, k)
OF_LABEL = ROWS[:, np.arange(N), CODES].astype(float)
RIGHT = ROWS.argmax(axis=2) == CODES


def test_all_from_one_training():
    probe = Told(TABLE)
    scores = score(
        probe, SAMPLES, CODES, 3, ["margin", "stability", "probability", "learning-order"], seed=0
    )
    assert list(scores) == ["margin", "stability", "probability", "learning-order"]
    assert len(probe.trained_on) == 1
    for name, found in scores.items():
        assert found.dtype == np.float64
        np.testing.assert_array_equal(
            found, score(Told(TABLE), SAMPLES, CODES, 3, [name], seed=0)[name]
        )
        np.testing.assert_array_equal(found, build(name, Told(TABLE))(SAMPLES, LABELS).confidence)
    with pytest.raises(
        LopsError,
        match="confidence is 'random'; "
        "wanted some of learning-order, probability, stability, margin",
    ):
        score(probe, SAMPLES, CODES, 3, ["margin", "random"], seed=0)
    assert len(probe.trained_on) == 1


def test_probability():
    np.testing.assert_array_equal(
        score(Told(TABLE), SAMPLES, CODES, 3, ["probability"])["probability"], OF_LABEL[-1]
    )
    early = score(Told(TABLE), SAMPLES, CODES, 3, ["probability"], every=3)["probability"]
    np.testing.assert_array_equal(early, OF_LABEL[2])


def test_stability():
    assert 0 < RIGHT.mean() < 1
    np.testing.assert_array_equal(
        score(Told(TABLE), SAMPLES, CODES, 3, ["stability"])["stability"], RIGHT.mean(axis=0)
    )


def test_margin():
    others = ROWS.astype(float)
    others[:, np.arange(N), CODES] = -1
    expected = (OF_LABEL - others.max(axis=2)).mean(axis=0)
    np.testing.assert_allclose(
        score(Told(TABLE), SAMPLES, CODES, 3, ["margin"])["margin"], expected, rtol=1e-12
    )
    assert expected.min() < 0 < expected.max()


def test_learning_order():
    found = score(Told(TABLE), SAMPLES, CODES, 3, ["learning-order"])["learning-order"]
    first = np.where(RIGHT.any(axis=0), RIGHT.argmax(axis=0), 4)
    then = OF_LABEL[np.minimum(first, 3), np.arange(N)]
    assert np.bincount(first).min() > 0  # some at each checkpoint, some never
    np.testing.assert_array_equal(np.argsort(-found, kind="stable"), np.lexsort((-then, first)))
    np.testing.assert_array_equal(found, then / 2 - (first + 1))
    selection = build("learning-order", Told(TABLE))(SAMPLES, LABELS)
    np.testing.assert_array_equal(selection.learnt_at, np.where(first < 4, first + 1.0, np.inf))
    assert sum(report.learnt for report in selection.per_class.values()) == (first < 4).sum()


@pytest.mark.parametrize("name", CONFIDENCES)
def test_snapshots_are_left_alone(name):
    rows = ROWS[0].copy()
    confidence = CONFIDENCES[name](CODES, 3)
    confidence.observe(Snapshot(1.0, rows, None))
    before = confidence.scores().copy()
    np.testing.assert_array_equal(rows, ROWS[0])
    rows[:] = 0
    np.testing.assert_array_equal(confidence.scores(), before)
