"""O2U-Net: its two schedules, what it hears, and probes trained in stages."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Stage, steady
from lops_adapters.selection import build
from lops_adapters.selection.methods.o2u import Losses, cyclic, stages_of

from ..stand_in import Told, staged_probe, topics, world

CODES = np.arange(20) % 2
TEXTS, MORE = topics(10), topics(40, rng=1)


def test_losses_by_hand():
    codes = np.array([0, 1, 0])

    def rows(which, losses):
        label = np.exp(-np.array(losses))
        return np.where(np.arange(2) == codes[which, None], label[:, None], 1 - label[:, None])

    losses = Losses(codes)
    for which, heard in [
        ([2, 0], [4.0, 1.0]),
        ([1], [1.0]),  # the first epoch's mean is 2
        ([0, 1], [0.0, 6.0]),
        ([2], [0.0]),  # and so is the second's
        ([2], [9.0]),  # of an epoch that does not end
    ]:
        losses.note(np.array(which), rows(which, heard))
    assert losses.mean().tolist() == pytest.approx([-1.5, 1.5, 0.0], abs=1e-12)


def test_stages():
    heard = Losses(np.zeros(10, dtype=int))
    first, second = stages_of("paper", heard, own_epochs=5)
    assert (first.epochs, first.rate(0, 7), first.rate(34, 7), first.heard) == (5, 1.0, 1.0, None)
    assert (second.epochs, second.rate) == (6, cyclic)
    assert (second.batch_share, second.heard) == (0.5, heard.note)
    rates = [cyclic(done, 4) for done in range(24)]
    assert len(set(rates)) == 3
    assert rates[:12] == rates[12:]
    assert rates[0] == rates[3] > rates[4] > rates[8] == pytest.approx(0.01)
    first, second = stages_of("released", heard, own_epochs=5)
    assert (first.epochs, second.epochs) == (1, 3)
    assert (second.batch_share, second.heard) == (0.5, heard.note)
    assert [first.rate(done, 4) for done in range(4)] == [1, 0.75, 0.5, 0.25]
    assert [second.rate(done, 4) for done in (0, 6, 11)] == [1, 0.5, pytest.approx(1 / 12)]


@pytest.mark.parametrize(
    ("variant", "epochs"), [("paper", range(4, 10)), ("released", range(1, 4))]
)
def test_scores(variant, epochs):
    samples, labels, _, table = world()
    probe = Told(table)
    selection = build("o2u-net", probe, variant=variant, n=40)(samples, labels)
    codes = [int(label[-1]) for label in labels]
    rows = np.array(
        [[table[s][min(e, 3), c] for e in epochs] for s, c in zip(samples, codes, strict=True)],
        dtype=np.float32,
    )
    losses = -np.log(rows)
    np.testing.assert_allclose(
        selection.confidence, -(losses - losses.mean(axis=0)).mean(axis=1), rtol=1e-4, atol=1e-5
    )
    plain = np.argsort(losses.mean(axis=1), kind="stable")[:40]
    assert set(selection.kept) == set(plain)  # normalising moves all alike
    if variant == "paper":
        default = build("o2u-net", Told(table), n=40)(samples, labels)
        assert default.kept.tolist() == selection.kept.tolist()


@pytest.fixture(params=["linear", "transformer", "han"])
def make(request, tmp_path):
    return lambda **settings: staged_probe(request.param, tmp_path, **settings)


def test_one_stage_is_the_ordinary_training(make):
    own = make()
    rate = steady
    if own.kind == "transformer":

        def rate(done, per_epoch):
            return 1 - done / (2 * per_epoch)

    expected = own.fit(TEXTS, CODES, 2, seed=3).predict_proba(TEXTS)
    staged = make().fit(TEXTS, CODES, 2, stages=[Stage(2, rate)], seed=3)
    if own.kind != "han":  # which first draws the samples to hold out, even where these are none
        np.testing.assert_array_equal(staged.predict_proba(TEXTS), expected)
    stages = [Stage(1, rate), Stage(1, rate)]
    halves = make().fit(TEXTS, CODES, 2, stages=stages, seed=3).predict_proba(TEXTS)
    assert np.abs(halves - expected).max() > 1e-6  # a fresh optimizer


def test_a_rate_of_nothing_changes_nothing_and_is_heard(make):
    heard = []
    still = Stage(
        1, lambda done, per_epoch: 0.0, 0.5, lambda positions, said: heard.append((positions, said))
    )
    probe = make().fit(TEXTS, CODES, 2, stages=[Stage(1, steady)], seed=3)
    expected = probe.predict_proba(TEXTS)
    probe = make().fit(TEXTS, CODES, 2, stages=[Stage(1, steady), still], seed=3)
    np.testing.assert_allclose(probe.predict_proba(TEXTS), expected, atol=1e-6)
    positions, said = (np.concatenate(parts) for parts in zip(*heard, strict=True))
    assert sorted(positions.tolist()) == list(range(20))
    assert max(len(part) for part, _ in heard) == 3
    np.testing.assert_allclose(said, expected[positions], atol=1e-4)


@pytest.mark.slow
def test_real_probes_find_the_wrong_label(make):
    wrong = np.arange(len(MORE)) % 9 == 0
    labels = np.array(["arts", "law"])[(np.arange(len(MORE)) + wrong) % 2]
    for variant in ("paper", "released"):
        selector = build("o2u-net", make(), n=len(MORE) - wrong.sum(), variant=variant)
        selection = selector(MORE, labels)
        assert wrong[selection.rejected].mean() > 3 * wrong.mean()
    again = build("o2u-net", make(), n=10, variant="released")(MORE, labels)
    np.testing.assert_array_equal(again.confidence, selection.confidence)


def test_probes_that_know_no_stages():
    class Plain(Told):
        kind = "plain"
        staged_updates = Told.__mro__[1].staged_updates

    samples, labels, _, table = world()
    with pytest.raises(
        LopsError,
        match="the plain probe cannot be trained in stages; "
        "use a linear, embedding, hybrid, transformer or han",
    ):
        build("o2u-net", Plain(table))(samples, labels)
