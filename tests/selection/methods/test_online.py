"""Watching the training pass itself."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection import Lops, build, score

from ..stand_in import Told, staged_probe, topics, world

TEXTS = topics(10)
CODES = np.arange(20) % 2


@pytest.mark.parametrize("kind", ["linear", "transformer", "han"])
def test_a_sample_is_heard_before_the_update_it_is_part_of(kind, tmp_path):
    # One update an epoch: what it hears is what the one before left.
    plain, heard = (staged_probe(kind, tmp_path, batch_size=20, epochs=3) for _ in range(2))
    watched = [shot.probabilities for shot in plain.watch(TEXTS, CODES, 2, seed=3)]
    online = list(heard.watch(TEXTS, CODES, 2, seed=3, online=True))
    assert [shot.time for shot in online] == [1.0, 2.0, 3.0]
    assert [shot.positions for shot in online] == [None] * 3
    if kind == "linear":
        assert (online[0].probabilities == 0.5).all()
    if kind != "han":  # whose ordinary training first draws samples to hold out, even if none
        for heard, before in zip(online[1:], watched[:-1], strict=True):
            np.testing.assert_allclose(heard.probabilities, before, atol=1e-5)
    for heard in online:
        np.testing.assert_allclose(heard.probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", ["linear", "transformer"])
def test_the_training_is_the_ordinary_one(kind, tmp_path, monkeypatch):
    expected = staged_probe(kind, tmp_path).fit(TEXTS, CODES, 2, seed=3).predict_proba(TEXTS)
    probe = staged_probe(kind, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(probe, "predict_prepared", lambda *_: pytest.fail("a prediction"))
        shots = list(probe.watch(TEXTS, CODES, 2, seed=3, online=True))
    np.testing.assert_array_equal(probe.predict_proba(TEXTS), expected)
    assert not np.array_equal(shots[0].probabilities, shots[1].probabilities)


@pytest.mark.parametrize(
    "name", ["released", "learning-order", "probability", "stability", "margin"]
)
def test_methods_that_watch_can_listen(name):
    samples, labels, _, table = world()
    # This probe says the same in training.
    here, there = (build(name, Told(table), online=on)(samples, labels) for on in (True, False))
    assert here.mask.tolist() == there.mask.tolist()
    message = "every is 2 with online=True, which yields one snapshot per epoch"
    with pytest.raises(LopsError, match=message):
        build(name, Told(table), online=True, every=2)(samples, labels)


def test_scores_from_one_training():
    samples, labels, _, table = world()
    codes = [int(label[-1]) for label in labels]
    probe = Told(table)
    online = score(probe, samples, codes, 3, ["margin", "probability"], online=True)
    assert len(probe.trained_on) == 1
    for name, values in score(Told(table), samples, codes, 3, ["margin", "probability"]).items():
        np.testing.assert_array_equal(online[name], values)


def test_what_cannot_be_listened_to():
    class Plain(Told):
        kind = "plain"
        schedule = Told.__mro__[1].schedule

    samples, labels, _, table = world()
    with pytest.raises(LopsError, match="the plain probe supports neither stages nor online=True"):
        Lops(Plain(table), online=True)(samples, labels)
    with pytest.raises(LopsError, match=r"automatic has no option .online."):
        build("automatic", Told(table), online=True)
