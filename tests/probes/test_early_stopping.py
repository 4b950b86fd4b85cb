"""Held-out samples; tests/probes/test_han.py has early stopping in a training."""

import numpy as np
import pytest

from lops_adapters.probes.early_stopping import EarlyStopping, held_out

SIZES = [[1, 1, 1], [50, 3, 1], [7, 0, 13, 2], [200, 90, 9, 1, 1], [2], [300] * 3]


def drawn(sizes, fraction, seed=0, *, stratified=True):
    codes = np.random.default_rng(seed + 10).permutation(np.repeat(np.arange(len(sizes)), sizes))
    return codes, held_out(codes, fraction, np.random.default_rng(seed), stratified=stratified)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.25, 0.5, 0.99])
def test_classes_are_held_out_by_their_shares(sizes, fraction):
    sizes = np.array(sizes)
    codes, found = drawn(sizes, fraction)
    counts = np.bincount(codes[found], minlength=len(sizes))
    assert (np.diff(found) > 0).all()
    assert found.dtype == np.int64
    assert (counts < np.maximum(sizes, 1)).all()  # one stays in training
    most = np.maximum(sizes - 1, 0)
    assert (counts <= np.floor(fraction * sizes) + 1).all()
    assert (counts >= np.minimum(np.floor(fraction * sizes), most)).all()
    assert len(found) <= int(fraction * sizes.sum())
    if fraction <= 0.25 and (sizes > 1).all():
        assert len(found) == int(fraction * sizes.sum())


def test_the_largest_remainders_give_the_rest():
    codes, found = drawn([28, 16, 6], 0.1)  # 2.8, 1.6 and 0.6 of 5: the earlier of equals
    assert np.bincount(codes[found], minlength=3).tolist() == [3, 2, 0]
    codes, found = drawn([25, 19, 1], 0.1)  # 2.5 and 1.9 of 4
    assert np.bincount(codes[found], minlength=3).tolist() == [2, 2, 0]


def test_the_seed_decides():
    one, again, other = (drawn([60, 20], 0.25, seed)[1].tolist() for seed in (0, 0, 1))
    assert one == again != other


def test_without_strata_the_first_of_a_random_order():
    codes, found = drawn([60, 20], 0.25, stratified=False)
    assert found.tolist() == np.sort(np.random.default_rng(0).permutation(80)[:20]).tolist()
    both = []
    for stratified in (True, False):
        rng = np.random.default_rng(0)
        held_out(codes, 0.25, rng, stratified=stratified)
        both.append(rng.random())
    assert both[0] == both[1]  # what follows is drawn alike


class Network:
    """Weights that say which epoch it is."""

    def __init__(self):
        self.epoch = 0

    def state_dict(self):
        self.epoch += 1
        return {"epoch": self.epoch}


@pytest.mark.parametrize(
    ("losses", "patience", "floor", "stops", "best"),
    [
        ([3, 4, 4], 2, 0, 3, 1),
        ([3, 3, 3], 2, 0, 3, 1),  # not lower is not better
        ([3, 4, 2, 4, 4], 2, 0, 5, 3),  # a lower loss: the count begins again
        ([3, 4, 4, 4, 4], 2, 2, 4, 1),  # the first two do not count
        ([3, 4, 2, 4, 4], 2, 3, 5, 3),
        ([float("nan")] * 2, 2, 0, 2, 0),
    ],
)
def test_patience_by_hand(losses, patience, floor, stops, best):
    stopping, network = EarlyStopping(patience, floor), Network()
    said = [stopping.should_stop(loss, network) for loss in losses[:stops]]
    assert said == [False] * (stops - 1) + [True]
    assert (stopping.epochs, stopping.best_epoch) == (stops, best)
