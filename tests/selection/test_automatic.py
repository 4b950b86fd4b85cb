"""The automatic choice: how much of each class, and which look counts."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Update
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.selection.automatic import EARLY_LOOKS, held_out
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.folds import fold_of, out_of_sample

from .stand_in import Told, relative_margins, world

SAMPLES, LABELS, GOLD, TABLE = world()
CODES = np.array([int(label[-1]) for label in LABELS])
NONE = np.zeros(3, dtype=bool)


def test_relative_margins_by_hand():
    # Class 0 is given 0.8 by its own samples on average, class 1 only 0.2.
    probabilities = np.array([[0.9, 0.1], [0.7, 0.3], [0.7, 0.3], [0.9, 0.1]])
    found = relative_margins(probabilities, np.array([0, 0, 1, 1]), np.zeros(2, dtype=bool))
    relative = probabilities / [0.8, 0.2]
    expected = (relative[:, 0] - relative[:, 1]) / relative.sum(axis=1) * [1, 1, -1, -1]
    np.testing.assert_allclose(found, expected)
    assert (found >= 0).tolist() == [
        True,
        False,
        True,
        False,
    ]  # although every sample is predicted as class 0
    alone = relative_margins(probabilities, np.array([0, 0, 1, 1]), np.array([False, True]))
    assert (alone >= 0).tolist() == [True, True, True, False]  # class 1 takes none of the others'


def test_keeps_what_an_unseeing_probe_prefers():
    probe = Told(TABLE)
    selection = build("automatic", probe, seed=1)(SAMPLES, LABELS)
    looks = [
        np.array([TABLE[sample][epoch] for sample in SAMPLES], dtype=np.float32)
        for epoch in range(4)
    ]
    scores = [relative_margins(rows, CODES, NONE) for rows in looks]
    chosen = max(range(4), key=lambda epoch: ((scores[epoch] >= 0).sum(), -epoch))
    np.testing.assert_allclose(selection.confidence, scores[chosen])
    np.testing.assert_array_equal(selection.kept, np.flatnonzero(scores[chosen] >= 0))
    assert {report.why for report in selection.per_class.values()} == {
        "held-out probe prefers the label"
    }
    order = content_order(SAMPLES, CODES, seed=1)
    folds = fold_of(CODES[order], 3, seed=1)
    assert probe.trained_on == [
        [SAMPLES[i] for i, fold in zip(order, folds, strict=True) if fold != left]
        for left in range(3)
    ]
    assert selection.stopped.startswith("3-fold cross-validation, ")
    assert selection.stopped.endswith("4 epochs")


def test_the_look_counts_at_which_most_are_preferred():
    """Found in the second of four epochs; forgotten after it."""
    table = {}
    right = [label == gold for label, gold in zip(LABELS, GOLD, strict=True)]
    for i, sample in enumerate(SAMPLES):
        table[sample] = np.tile(np.eye(3)[i % 3] * 0.4 + 0.2, (4, 1))
        table[sample][1] = np.eye(3)[CODES[i] if right[i] else (CODES[i] + 1) % 3] * 0.7 + 0.1
    selection = build("automatic", Told(table))(SAMPLES, LABELS)
    assert selection.kept.tolist() == np.flatnonzero(right).tolist()
    assert selection.stopped == "3-fold cross-validation, predictions after 2 of 4 epochs"


class Counting(Told):
    """Eight updates an epoch; remembers after which it was asked."""

    def updates(self, prepared, codes, n_classes, seed):
        self.asked = []
        for done in range(1, 8 * self.max_epochs + 1):
            self.done, self.now = -(-done // 8), done
            yield Update(done, 8, 1)

    def predict_prepared(self, prepared, positions=None):
        self.asked.append(self.now)
        return super().predict_prepared(prepared, positions)


def test_when_it_looks():
    probe = Counting(TABLE)
    looks = held_out(probe, SAMPLES, CODES, 3, folds=3, seed=0, quiet=True)
    assert list(looks) == [*EARLY_LOOKS, 1.0, 2.0, 3.0, 4.0]
    assert probe.asked == [1, 1, 2, 4, 8, 16, 24, 32]
    for time, rows in looks.items():
        np.testing.assert_array_equal(
            rows, np.array([TABLE[s][max(0, int(time) - 1)] for s in SAMPLES], dtype=np.float32)
        )


def test_a_probe_that_stops_early():
    class Brief(Told):
        def updates(self, *args):
            yield from list(super().updates(*args))[:2]

    looks = held_out(Brief(TABLE), SAMPLES, CODES, 3, folds=3, seed=0, quiet=True)
    assert len(looks) == 8
    np.testing.assert_array_equal(looks[4.0], looks[3.0])


def test_small_classes_are_kept_whole():
    labels = ["rare", *LABELS[1:45], "rare", *LABELS[46:]]
    table = {
        sample: np.column_stack([rows * 0.9, np.full(4, 0.1)]) for sample, rows in TABLE.items()
    }
    selection = build("automatic", Told(table))(SAMPLES, labels)
    assert {0, 45} <= set(selection.kept)
    assert selection.per_class["rare"].why == "too few samples, kept whole"
    assert len(selection.rejected) > 0


def test_stratified_keeps_as_many_and_the_same_share_of_every_class():
    free = build("automatic", Told(TABLE), seed=1)(SAMPLES, LABELS)
    equal = build("automatic", Told(TABLE), seed=1, stratified=True)(SAMPLES, LABELS)
    kept = [report.kept for report in equal.per_class.values()]
    share = len(free.kept) / len(LABELS)
    assert sum(kept) == len(free.kept)
    assert all(abs(report.kept - share * report.count) < 1 for report in equal.per_class.values())
    assert any(abs(report.kept - share * report.count) > 1 for report in free.per_class.values())
    for label, count in zip(equal.per_class, kept, strict=True):
        here = [i for i, name in enumerate(LABELS) if name == label]
        floor = sorted(free.confidence[here])[-count]
        assert all(free.confidence[i] >= floor for i in here if i in set(equal.kept))
    assert {report.why.partition(",")[0] for report in equal.per_class.values()} == {
        "highest scores of the class"
    }


def test_stratified_keeps_small_classes_whole():
    labels = ["rare", *LABELS[1:45], "rare", *LABELS[46:]]
    table = {
        sample: np.column_stack([rows * 0.9, np.full(4, 0.1)]) for sample, rows in TABLE.items()
    }
    selection = build("automatic", Told(table), stratified=True)(SAMPLES, labels)
    assert {0, 45} <= set(selection.kept)
    assert len(selection.rejected) > 0


def test_a_probe_that_knows_nothing_keeps_everything():
    selection = build("automatic", Told({sample: np.full((2, 3), 1 / 3) for sample in SAMPLES}))(
        SAMPLES, LABELS
    )
    assert len(selection.rejected) == 0


def test_share_follows_the_noise_of_each_class():
    rng = np.random.default_rng(0)
    gold = np.arange(600) % 3
    wrong = rng.uniform(size=600) < np.array([0.05, 0.2, 0.4])[(gold + 1) % 3]
    labels = np.where(wrong, (gold + 1) % 3, gold)
    texts = [
        " ".join(
            [
                *(f"t{g}w{i}" for i in rng.integers(0, 15, 5)),
                *(f"c{i}" for i in rng.integers(0, 40, 10)),
            ]
        )
        for g in gold
    ]
    selection = build("automatic", LinearProbe())(texts, labels)
    for label, report in selection.per_class.items():
        assert abs(report.kept / report.count - (labels == gold)[labels == label].mean()) < 0.06
    assert (labels != gold)[selection.kept].mean() < 0.03


def test_folds():
    for n_folds in (2, 3, 5):
        folds = fold_of(CODES, n_folds, seed=2)
        for code in range(3):
            sizes = np.bincount(folds[code == CODES], minlength=n_folds)
            assert sizes.max() - sizes.min() <= 1
        assert folds.tolist() != fold_of(CODES, n_folds, seed=3).tolist()
    for folds in (1, 91):
        with pytest.raises(
            LopsError,
            match=f"folds is {folds}; wanted at least 2, at most the number of samples, 90",
        ):
            build("automatic", Told(TABLE), folds=folds)(SAMPLES, LABELS)


def test_out_of_sample():
    probe = Told(TABLE)
    found = out_of_sample(probe, SAMPLES, CODES, 3, folds=4, seed=0, quiet=True)
    np.testing.assert_allclose(found, [TABLE[sample][-1] for sample in SAMPLES], rtol=1e-6)
    left_out = [set(SAMPLES) - set(trained) for trained in probe.trained_on]
    assert len(left_out) == 4
    assert sorted(sample for part in left_out for sample in part) == sorted(SAMPLES)
