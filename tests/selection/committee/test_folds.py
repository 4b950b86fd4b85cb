"""Folds and held-out predictions: groups, checkpoints, which one counts, and ``automatic``."""

from dataclasses import replace

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Update
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee.folds import (
    EARLY_LOOKS,
    LEAST_UPDATES,
    Folded,
    best_checkpoint,
    fold_of,
    fold_of_groups,
    long_enough,
    predict_held_out,
)
from lops_adapters.selection.committee.likelihoods import preferred
from lops_adapters.selection.committee.members import Neighbours
from lops_adapters.selection.committee.posterior import least_kept

from ..stand_in import Told, likely, world
from .oracles import plain_posterior

SAMPLES, LABELS, _, TABLE = world()
CODES = np.array([int(label[-1]) for label in LABELS])


def test_automatic_is_a_committee_of_one():
    probe = Told(TABLE)
    selection = build("automatic", probe, seed=1)(SAMPLES, LABELS)
    looks = {epoch: np.array([TABLE[sample][epoch] for sample in SAMPLES]) for epoch in range(4)}
    agreed = {epoch: preferred(likely(rows, CODES), CODES).sum() for epoch, rows in looks.items()}
    chosen = max((0, 1, 3), key=lambda epoch: (agreed[epoch], epoch))  # after 1, 2 and 4 epochs
    found, _ = plain_posterior(likely(looks[chosen], CODES), CODES)
    right = found[np.arange(90), CODES]
    np.testing.assert_allclose(selection.confidence, right, atol=1e-5)
    np.testing.assert_array_equal(selection.mask, right >= least_kept(right))
    assert 0 < len(selection.rejected) < 45
    assert selection.rule == "automatic"
    assert selection.stopped.startswith("3-fold cross-validation; labels preferred by the probe ")
    order = content_order(SAMPLES, CODES, seed=1)
    folds = fold_of(CODES[order], 3, seed=1)
    assert probe.trained_on == [
        [SAMPLES[i] for i, fold in zip(order, folds, strict=True) if fold != left]
        for left in range(3)
    ]


def test_the_checkpoint_counts_at_which_most_are_preferred():
    codes = np.array([0, 0, 1, 1])
    poor = np.array([[0.6, 0.4], [0.4, 0.6], [0.6, 0.4], [0.4, 0.6]])
    good = np.array([[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.4, 0.6]])
    assert best_checkpoint({0.5: poor, 1.0: good, 2.0: good, 4.0: poor}, codes) == 2.0


def test_class_shares_choose_the_checkpoint():
    """Every sample is predicted as the common class; beside its share, it is the other one."""
    codes = np.array([0] * 8 + [1] * 2)
    flat = np.tile([0.8, 0.2], (10, 1))
    flat[:8] = [0.79, 0.21]
    told = np.tile([0.8, 0.2], (10, 1))
    told[8:] = [0.6, 0.4]
    assert (flat.argmax(axis=1) == told.argmax(axis=1)).all()
    assert best_checkpoint({1.0: flat, 2.0: told}, codes) == 2.0


@pytest.mark.usefixtures("full_training")
@pytest.mark.parametrize("kind", [LinearProbe, EmbeddingProbe])
def test_linear_probes_train_long_enough(kind):
    probe = kind(batch_size=10)
    longer = long_enough(probe, 95)
    assert longer.epochs == LEAST_UPDATES / 10
    assert probe.epochs == 4
    assert long_enough(probe, 10 * LEAST_UPDATES).epochs == 4
    assert long_enough(probe, 3).epochs == LEAST_UPDATES
    for other in (Told(TABLE), HanProbe()):
        assert long_enough(other, 3) is other


class Counting(Told):
    """Eight updates an epoch; remembers after which it was asked."""

    def updates(self, prepared, codes, n_classes, seed, total=None):
        self.asked = []
        for done in range(1, 8 * self.max_epochs + 1):
            self.done, self.now = -(-done // 8), done
            yield Update(done, 8, 1)

    def predict_prepared(self, prepared, positions=None):
        self.asked.append(self.now)
        return super().predict_prepared(prepared, positions)


def test_when_it_looks():
    probe = Counting(TABLE)
    looks = predict_held_out(probe, Folded(SAMPLES, CODES, range(3), 3))
    assert list(looks) == [*EARLY_LOOKS, 1.0, 2.0, 4.0]
    assert probe.asked == [1, 1, 2, 4, 8, 16, 32]
    for time, rows in looks.items():
        np.testing.assert_array_equal(
            rows, np.array([TABLE[s][max(0, int(time) - 1)] for s in SAMPLES], dtype=np.float32)
        )


def test_a_probe_that_stops_early():
    class Brief(Told):
        def updates(self, *args):
            yield from list(super().updates(*args))[:2]

    looks = predict_held_out(Brief(TABLE), Folded(SAMPLES, CODES, range(3), 3))
    assert len(looks) == 7
    np.testing.assert_array_equal(looks[4.0], looks[2.0])


def test_folds():
    for n_folds in (2, 3, 5):
        folds = fold_of(CODES, n_folds, seed=2)
        for code in range(3):
            sizes = np.bincount(folds[code == CODES], minlength=n_folds)
            assert sizes.max() - sizes.min() <= 1
        assert folds.tolist() != fold_of(CODES, n_folds, seed=3).tolist()
    for folds in (1, 0, 2.5, "3", 91):
        with pytest.raises(LopsError, match=f"folds is {folds!r}; wanted 2 to 90"):
            build("automatic", LinearProbe(), folds=folds)(SAMPLES, LABELS)


def test_held_out_at_the_end():
    probe = Told(TABLE)
    last = float(probe.max_epochs)
    ((time, found),) = predict_held_out(probe, Folded(SAMPLES, CODES, range(3), 4), [last]).items()
    assert time == last
    np.testing.assert_allclose(found, [TABLE[sample][-1] for sample in SAMPLES], rtol=1e-6)
    left_out = [set(SAMPLES) - set(trained) for trained in probe.trained_on]
    assert len(left_out) == 4
    assert sorted(sample for part in left_out for sample in part) == sorted(SAMPLES)


def test_a_group_is_in_one_fold():
    rng = np.random.default_rng(0)
    groups, codes = rng.integers(0, 40, 300), rng.integers(0, 3, 300)
    _, groups = np.unique(groups, return_inverse=True)
    labelled = Folded(range(300), codes, range(3), 3, groups=groups)
    sizes = []
    for train, left_out in labelled.splits():
        assert not set(groups[train]) & set(groups[left_out])
        sizes.append(len(left_out))
    assert sum(sizes) == 300
    assert min(sizes) > 60
    with pytest.raises(LopsError, match="found 2 groups; wanted at least 3"):
        list(replace(labelled, groups=groups % 2).splits())


def test_neighbours_of_the_same_group_do_not_count():
    vectors = np.repeat(np.eye(2, dtype=np.float32), 4, axis=0)
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    labelled = Folded(vectors, codes, ["a", "b"], 3)
    groups = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    alone = Neighbours("near", np.asarray, count=3).score(labelled)
    grouped = Neighbours("near", np.asarray, count=3).score(replace(labelled, groups=groups))
    assert alone[0].argmax() == 0
    assert grouped[0].argmax() == 1  # all of its own class are in its group
    assert grouped[4].argmax() == 1


def test_as_many_groups_as_folds():
    for seed in range(5):
        assert sorted(fold_of_groups(np.arange(3), 3, seed)) == [0, 1, 2]
