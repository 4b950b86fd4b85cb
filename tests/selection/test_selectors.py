"""Selectors: a scripted probe shows that Lops is the learning order of what the probe predicts, and
nothing else.
"""

import numpy as np
import pytest

from lops_adapters.core import RULES, LearningOrder, LopsError, LopsWarning, Selection
from lops_adapters.probes.base import Update
from lops_adapters.selection import Lops, keep_all, trusted_positions

from .stand_in import Told

N, K, EPOCHS, PER_EPOCH = 60, 3, 4, 6
LABELS = [f"class {code}" for code in np.random.default_rng(0).integers(0, K, N)]
SAMPLES = [f"text {i}" for i in range(N)]


class Scripted(Told):
    """Predicts what it is told: probabilities of shape (updates, n, k), one row of the script an
    update.
    """

    def __init__(self, script, per_epoch=PER_EPOCH):
        super().__init__({})
        self.script, self.per_epoch = script, per_epoch
        self.asked, self.trained_on = [], None

    @property
    def max_epochs(self):
        return len(self.script) // self.per_epoch

    def prepare(self, samples, *, fit=False):
        return samples

    def updates(self, prepared, codes, n_classes, seed, total=None):
        self.done, self.asked, self.trained_on = (
            0,
            [],
            (list(prepared), codes.tolist(), n_classes, seed),
        )
        for done in range(1, len(self.script) + 1):
            self.done = done
            yield Update(done, self.per_epoch, 10)

    def predict_prepared(self, prepared, positions=None):
        rows = self.script[self.done - 1]
        self.asked.append(np.arange(len(rows)) if positions is None else positions)
        return rows[self.asked[-1]]


def script_of(seed, n_updates=EPOCHS * PER_EPOCH, harder=0.0):
    """Probabilities that find the label of more and more samples, some of them only for a while."""
    rng = np.random.default_rng(seed)
    codes = np.array([int(label[-1]) for label in LABELS])
    difficulty = rng.uniform(0, 2, N) + harder
    script = rng.uniform(0, 1, (n_updates, N, K))
    for update, rows in enumerate(script, 1):
        rows[np.arange(N), codes] *= 0.7  # found by chance now and then
        rows[np.arange(N), codes] += (
            update / n_updates >= difficulty + rng.normal(0, 0.2, N)
        ) * 1.0
    return (script / script.sum(axis=2, keepdims=True)).astype(np.float32)


def by_hand(script, every, **settings):
    """Selection from all predictions at every checkpoint of every training update."""
    times = [done / PER_EPOCH for done in range(every, len(script) + 1, every)]
    order = LearningOrder(
        LABELS, max_checkpoints=len(times), horizon=len(script) / PER_EPOCH, **settings
    )
    for time in times:
        if order.done:
            break
        order.observe(script[round(time * PER_EPOCH) - 1], time=time)
    return order.select(), len(order.times)


def assert_same(found: Selection, expected: Selection):
    np.testing.assert_array_equal(found.kept, expected.kept)
    np.testing.assert_array_equal(found.rejected, expected.rejected)
    np.testing.assert_array_equal(found.learnt_at, expected.learnt_at)
    np.testing.assert_array_equal(found.confidence, expected.confidence)
    assert found.per_class == expected.per_class
    assert found.rule == expected.rule


@pytest.mark.parametrize("every", [None, 1, 4, 5])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9])
def test_lops_is_the_learning_order_of_the_probe(rule, every, keep):
    chosen = set()
    for seed in range(4):
        script = script_of(seed, harder=-0.1)
        probe = Scripted(script)
        lops = Lops(probe, keep=keep, method=rule, every=every, seed=seed)
        selection = lops(SAMPLES, LABELS)
        expected, n_checkpoints = by_hand(
            script, every or PER_EPOCH, tau=keep, rule=rule, seed=seed
        )
        assert_same(selection, expected)
        assert len(probe.asked) == n_checkpoints
        assert probe.done == n_checkpoints * (every or PER_EPOCH) or n_checkpoints == len(
            script
        ) // (every or PER_EPOCH)
        chosen.add(len(selection.kept))
    assert min(chosen) < N or keep == 0.9  # these cases do choose


@pytest.mark.parametrize("rule", RULES)
def test_decided_samples_are_not_predicted(rule):
    probe = Scripted(script_of(1, harder=-0.1))
    Lops(probe, method=rule, every=1)(SAMPLES, LABELS)
    counts = [len(positions) for positions in probe.asked]
    assert len(counts) > 2
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == N > counts[-1]


def test_stops_training_once_done():
    probe = Scripted(script_of(0, harder=-2.0))  # everything is learnt at once
    selection = Lops(probe, keep=0.3)(SAMPLES, LABELS)
    assert probe.done == PER_EPOCH
    assert selection.stopped == "every class reached its threshold within 1 checkpoint"
    probe = Scripted(script_of(0, harder=-2.0))
    Lops(probe, keep=0.3, every=1)(SAMPLES, LABELS)
    assert probe.done == 1


def test_trains_on_all_samples_with_its_seed():
    probe = Scripted(script_of(0))
    Lops(probe, seed=11)(SAMPLES, LABELS)
    assert probe.trained_on == (SAMPLES, [int(label[-1]) for label in LABELS], K, 11)


def test_each_call_is_a_new_training():
    lops = Lops(Scripted(script_of(2, harder=-0.1)), every=2)
    assert_same(lops(SAMPLES, LABELS), lops(SAMPLES, LABELS))


@pytest.mark.parametrize("every", [25, 10_000])
def test_every_beyond_the_training(every):
    with pytest.raises(
        LopsError,
        match=rf"every is {every}, and the probe's training has fewer updates than that; "
        "wanted a smaller",
    ):
        Lops(Scripted(script_of(0)), every=every)(SAMPLES, LABELS)
    expected, _ = by_hand(script_of(0), 24)
    assert_same(Lops(Scripted(script_of(0)), every=24)(SAMPLES, LABELS), expected)


@pytest.mark.parametrize("batch_size", [1, 3, 60])
def test_checkpoints_are_enough_for_any_batch_size(batch_size):
    """However many updates an epoch has, the last checkpoint of the training is still looked at."""
    per_epoch = -(-N // batch_size)
    for every in {1, 7, per_epoch}:
        if every > 2 * per_epoch:
            continue
        codes = np.array([int(label[-1]) for label in LABELS])
        wrong = np.eye(K, dtype=np.float32)[(codes + 1) % K]
        script = np.stack([wrong] * (2 * per_epoch))
        last = 2 * per_epoch // every * every
        script[last - 1] = np.eye(K)[codes]  # learnt at the very last look
        selection = Lops(Scripted(script, per_epoch), method="ranked", every=every)(SAMPLES, LABELS)
        assert set(selection.learnt_at) == {last / per_epoch}


@pytest.mark.parametrize(
    ("samples", "labels", "message"),
    [
        (SAMPLES[:-1], LABELS, "found 59 samples and 60 pseudo-labels"),
        ([], [], "found no pseudo-labels"),
        (SAMPLES, ["one"] * N, "found 1 class; a probe needs at least 2"),
        (SAMPLES, [None, *LABELS[1:]], "missing value .None.; leave unlabelled samples out"),
    ],
)
def test_bad_input(samples, labels, message):
    probe = Scripted(script_of(0))
    with pytest.raises(LopsError, match=message):
        Lops(probe)(samples, labels)
    assert probe.trained_on is None


@pytest.mark.parametrize("labels", [["a", "a", "b"], np.array(["a", "a", "b"], dtype=object)])
def test_trusted_positions(labels):
    whole = keep_all("xyz", labels)

    def kept(*mask):
        return Selection(np.array(mask), whole.learnt_at, whole.confidence, {}, "x", "y")

    assert trusted_positions(kept(True, False, True), labels).tolist() == [0, 2]
    for too_few in (kept(True, True, False), kept(False, False, False)):
        with pytest.warns(
            LopsWarning, match="of fewer than two classes; this training takes all 3"
        ):
            assert trusted_positions(too_few, labels).tolist() == [0, 1, 2]


def test_classes_of_which_nothing_is_kept_are_named():
    labels = ["a", "b", "c", "d"]
    whole = keep_all(labels, labels)
    mask = np.array([True, False, True, False])
    selection = Selection(mask, whole.learnt_at, whole.confidence, {}, "x", "y")
    with pytest.warns(LopsWarning, match="keeps 2 of 4 samples, and no sample of b, d; "):
        assert trusted_positions(selection, labels).tolist() == [0, 2]
