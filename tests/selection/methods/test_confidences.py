"""Confidences that watch one training: each against its definition, on scripted probabilities."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes import Snapshot
from lops_adapters.selection import CONFIDENCES, build, score

from ..stand_in import Told, world

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
    probe, names = Told(TABLE), ["margin", "stability", "probability", "learning-order"]
    scores = score(probe, SAMPLES, CODES, 3, names, seed=0)
    assert list(scores) == names
    assert len(probe.trained_on) == 1
    for name, found in scores.items():
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, scored(name, seed=0))
        np.testing.assert_array_equal(found, build(name, Told(TABLE))(SAMPLES, LABELS).confidence)
    message = "confidence is 'random'; wanted some of learning-order, probability, stability, mar"
    with pytest.raises(LopsError, match=message):
        score(probe, SAMPLES, CODES, 3, ["margin", "random"], seed=0)
    assert len(probe.trained_on) == 1


def scored(name, **settings):
    return score(Told(TABLE), SAMPLES, CODES, 3, [name], **settings)[name]


def test_probability():
    np.testing.assert_array_equal(scored("probability"), OF_LABEL[-1])
    np.testing.assert_array_equal(scored("probability", every=3), OF_LABEL[2])


def test_stability():
    assert 0 < RIGHT.mean() < 1
    np.testing.assert_array_equal(scored("stability"), RIGHT.mean(axis=0))


def test_margin():
    others = ROWS.astype(float)
    others[:, np.arange(N), CODES] = -1
    expected = (OF_LABEL - others.max(axis=2)).mean(axis=0)
    np.testing.assert_allclose(scored("margin"), expected, rtol=1e-12)
    assert expected.min() < 0 < expected.max()


def test_learning_order():
    found = scored("learning-order")
    first = np.where(RIGHT.any(axis=0), RIGHT.argmax(axis=0), 4)
    then = OF_LABEL[np.minimum(first, 3), np.arange(N)]
    assert np.bincount(first).min() > 0  # some at each checkpoint, some never
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
