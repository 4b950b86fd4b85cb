"""Self-training: targets, slices, updates; what a selector may touch and what it may not."""

from types import SimpleNamespace

import numpy as np
import pytest

from lops_adapters.core import LopsError, Selection
from lops_adapters.lotclass.model import FIRST
from lops_adapters.lotclass.probe import TokenRow
from lops_adapters.lotclass.self_training import (
    planned_updates,
    self_train,
    slices,
    updates_per_refresh,
)
from lops_adapters.probes.tuning import target_distribution
from lops_adapters.selection import keep_all

from .toys import settings

K = 3
SKEWED = [4, 1, 2]  # predictions in which some classes are rarer than others


def test_slices_go_round():
    found = list(slices(10, [4, 4, 4, 4, 4], seed=3))
    order = np.random.default_rng([3, 7]).permutation(10)
    assert np.concatenate(found).tolist() == [*order, *order]
    assert sorted(np.concatenate(found[:3])[:10]) == list(range(10))
    assert [sorted(part.tolist()) for part in slices(3, [8, 8], seed=0)] == [[0, 1, 2]] * 2
    one, other = (next(slices(50, [50], seed)).tolist() for seed in (0, 1))
    assert one != other
    assert [len(part) for part in slices(10, [4, 3, 12], seed=0)] == [4, 3, 10]


@pytest.mark.parametrize(
    ("n", "changed", "wanted"),
    [
        (120, {}, (10, 3)),
        (120, {"self_train_epochs": 0.5}, (5, 3)),
        (120, {"self_train_epochs": 3}, (30, 3)),
        (20, {}, (1, 2)),
        (11, {}, (0, 1)),
        (120, {"self_train_epochs": 0}, (0, 3)),
        (120, {"faithful": True}, (9, 3)),
        (120, {"faithful": True, "update_interval": 11}, (0, 11)),
        (120, {"update_interval": 11}, (10, 10)),
        (
            13081,
            {"faithful": True, "update_interval": 50, "batch_size": 128},
            (100, 50),
        ),  # the original's rounds on these corpora
        (17871, {"faithful": True, "update_interval": 50, "batch_size": 128}, (100, 50)),
        (33594, {"faithful": True, "update_interval": 50, "batch_size": 128}, (250, 50)),
        (120000, {"faithful": True, "update_interval": 50, "batch_size": 128}, (900, 50)),
    ],
)
def test_planned_updates(n, changed, wanted):
    assert planned_updates(n, settings(**changed)) == wanted


@pytest.mark.parametrize(
    ("n", "changed", "wanted"),
    [
        (60, {}, [3, 2]),
        (120, {}, [3, 3, 2, 2]),
        (4000, {"batch_size": 32, "update_interval": 50}, [42, 42, 41]),
        (120, {"self_train_epochs": 0}, []),
        (120, {"faithful": True}, [3, 3, 3]),
        (120, {"faithful": True, "update_interval": 11}, []),
    ],
)
def test_updates_after_each_refresh(n, changed, wanted):
    assert updates_per_refresh(n, settings(**changed)) == wanted


class Network:
    """A stand-in that notes what it is asked to learn; its predictions change with every update."""

    def __init__(self, n):
        self.rng = np.random.default_rng(0)
        self.n, self.updates, self.asked, self.made = n, [], [], None

    def predict_prepared(self, documents, positions):
        assert len(documents) == self.n
        self.asked.append(positions.tolist())
        return (
            np.random.default_rng([len(self.updates), 1])
            .dirichlet(SKEWED, self.n)
            .astype(np.float32)[positions]
        )

    def tuner(self, documents, rate, total, seed):
        self.made = (rate, total, seed)
        return lambda positions, targets: self.updates.append((positions.tolist(), targets))


def run(n=60, select=lambda number, size: np.ones(size, dtype=bool), seed=0, **changed):
    """Self-training of a stand-in -> network, result, and what the selector was given: (samples,
    codes, number).
    """
    network, given = Network(n), []
    samples = [TokenRow(np.zeros(2 + i % 5, dtype=np.int32), np.array([i])) for i in range(n)]

    def selector(part, codes, number):
        given.append((part, codes, number))
        whole = keep_all(part, codes)
        return Selection(
            select(number, len(part)),
            whole.learnt_at,
            whole.confidence,
            whole.per_class,
            "some",
            "said so",
        )

    return network, self_train(network, samples, settings(**changed), selector, seed=seed), given


def test_rounds():
    """60 documents, 12 per update, at most 3 updates per round: 5 updates, each document once."""
    network, done, given = run()
    order = np.random.default_rng([0, 7]).permutation(60)
    assert network.made == (0.001, 5, 0)
    assert done.updates == len(network.updates) == 5
    wanted = [order[:36].tolist(), order[36:].tolist()]
    assert network.asked == [*wanted, list(range(60))]
    assert [refresh.documents.tolist() for refresh in done.refreshes] == wanted
    assert [number for _, _, number in given] == [0, 1]
    first = [i for positions, _ in network.updates[:3] for i in positions]
    assert sorted(first) == sorted(wanted[0])
    second = [i for positions, _ in network.updates[3:] for i in positions]
    assert sorted(second) == sorted(wanted[1])
    for refresh, (part, codes, _) in zip(done.refreshes, given, strict=True):
        assert [int(sample.places[0]) for sample in part] == refresh.documents.tolist()
        assert (codes == refresh.codes).all()
    assert done.probabilities.shape == (60, K)


def test_targets_are_of_the_slice_and_of_the_network_as_it_is():
    network, done, _ = run()
    for refresh, before, own in zip(
        done.refreshes, (0, 3), (network.updates[:3], network.updates[3:]), strict=True
    ):
        p = (
            np.random.default_rng([before, 1])
            .dirichlet(SKEWED, 60)
            .astype(np.float32)[refresh.documents]
        )
        targets = target_distribution(p)
        assert (refresh.codes == targets.argmax(axis=1)).all()
        assert refresh.agreement == pytest.approx((p.argmax(axis=1) == refresh.codes).mean())
        assert 0 < refresh.agreement < 1
        place = {document: row for row, document in enumerate(refresh.documents.tolist())}
        for positions, given in own:
            np.testing.assert_allclose(given, targets[[place[i] for i in positions]], atol=1e-6)
            assert given.dtype == np.float32


@pytest.mark.parametrize("faithful", [False, True])
def test_the_rejected_are_skipped_and_come_back(faithful):
    """In the first round every second document is rejected, in the second none.

    The kept ones are passed again, for as many updates; the original passes them once.
    """
    network, done, _ = run(
        select=lambda number, size: (
            np.arange(size) % 2 == 0 if number == 0 else np.ones(size, dtype=bool)
        ),
        n=36,
        self_train_epochs=2,
        faithful=faithful,
    )
    assert len(done.refreshes) == 2
    first, second = (refresh.documents for refresh in done.refreshes)
    trained = [i for positions, _ in network.updates[:2] for i in positions]
    assert sorted(trained) == sorted(first[::2].tolist())  # 18 documents: two updates
    made = 2 if faithful else 3
    assert done.updates == made + 3
    assert {i for positions, _ in network.updates[:made] for i in positions} == set(first[::2])
    assert set(second.tolist()) == set(range(36))
    assert {i for positions, _ in network.updates[made:] for i in positions} == set(range(36))


def test_nothing_kept_trains_nothing_in_that_round():
    network, done, _ = run(select=lambda number, size: np.full(size, number != 0))
    assert done.updates == len(network.updates) == 2
    assert [len(refresh.selection.kept) for refresh in done.refreshes] == [0, 24]


def test_no_updates():
    network, done, given = run(self_train_epochs=0)
    assert (done.updates, done.refreshes, given, network.updates) == (0, [], [], [])
    assert done.probabilities.shape == (60, K)


def test_the_seed_decides_the_order():
    first, again, other = (run(seed=seed)[0].updates for seed in (0, 0, 1))
    assert [positions for positions, _ in first] == [positions for positions, _ in again]
    assert [positions for positions, _ in first] != [positions for positions, _ in other]


def test_predictions_that_are_no_numbers():
    network = SimpleNamespace(
        predict_prepared=lambda documents, positions: np.full((len(positions), K), np.nan),
        tuner=lambda *_: pytest.fail,
    )
    with pytest.raises(
        LopsError,
        match=(
            "predictions are not numbers any more; wanted a training that converges: lower "
            "learning_rate"
        ),
    ):
        self_train(
            network,
            [TokenRow(np.zeros(2, dtype=np.int32), FIRST)] * 30,
            settings(),
            keep_all,
            seed=0,
        )
