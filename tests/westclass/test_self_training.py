import itertools
import logging

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.tuning import target_distribution
from lops_adapters.westclass.self_training import self_train
from lops_adapters.westclass.settings import WestclassSettings

NONE = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class Fake:
    """A network that predicts what a script says for the number of updates made, and writes down
    what it is asked.
    """

    def __init__(self, script):
        self.script, self.updates, self.asked, self.seen = script, [], [], []

    def tuner(self, **options):
        self.options = options
        return self.update

    def update(self, prepared, positions, targets):
        self.seen.append(prepared)
        self.updates.append((positions.copy(), targets.copy()))

    def predict_prepared(self, prepared):
        self.seen.append(prepared)
        self.asked.append(len(self.updates))
        return self.script(len(self.updates)).astype(np.float32)


def settings(**given):
    return WestclassSettings(
        **{"batch_size": 4, "update_interval": 3, "max_iterations": 12, "stop_below": 0.0, **given}
    ).for_length(10)


def train(network, n=10, labelled=NONE, seed=0, **given):
    return self_train(network, "the documents", n, settings(**given), labelled, seed=seed)


def predictions(n=10, k=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(k), size=n)


def constant(updates):
    return predictions()


def changing(updates):
    return predictions(seed=updates)


def with_changes(n_changed, n=10):
    """Predictions of which so many classes have changed with every refresh, and then no more."""

    def script(updates):
        classes = np.zeros(n, dtype=int)
        for step, number in enumerate(n_changed[: updates // 3]):
            classes[:number] = step + 1
        return np.eye(len(n_changed) + 1)[classes] * 0.9 + 0.01

    return script


def test_targets_are_made_anew_every_interval_and_held_in_between():
    network = Fake(changing)
    found = train(network)
    assert network.asked == [0, 3, 6, 9, 12]
    for number, (positions, targets) in enumerate(network.updates):
        expected = target_distribution(changing(3 * (number // 3)).astype(np.float32))
        np.testing.assert_array_equal(targets, expected[positions])
    classes = [changing(updates).argmax(axis=1) for updates in (0, 3, 6, 9)]
    assert found.changed == tuple(float((a != b).mean()) for a, b in itertools.pairwise(classes))
    assert len(set(found.changed)) > 1
    assert (found.iterations, found.converged) == (12, False)
    np.testing.assert_array_equal(found.probabilities, changing(12).astype(np.float32))
    assert found.probabilities.dtype == np.float32
    assert set(network.seen) == {"the documents"}


def test_it_stops_where_fewer_change():
    network = Fake(with_changes([5, 2, 1, 3]))
    found = train(network, stop_below=0.15, max_iterations=100)
    assert found.changed == (0.5, 0.2, 0.1)
    assert (found.iterations, found.converged, len(network.updates)) == (9, True, 9)
    np.testing.assert_array_equal(
        found.probabilities, with_changes([5, 2, 1, 3])(9).astype(np.float32)
    )


def test_as_many_as_the_limit_is_not_fewer():
    for stop_below, refreshes in ((0.2, 3), (0.2000001, 2), (0.5, 2), (0.500001, 1)):
        assert len(train(Fake(with_changes([5, 2, 1])), stop_below=stop_below).changed) == refreshes
    found = train(Fake(constant), stop_below=0.0)
    assert found.changed == (0.0, 0.0, 0.0)
    assert (found.iterations, found.converged) == (12, False)


def test_it_never_stops_before_the_first_update():
    found = train(Fake(constant), stop_below=1.0)
    assert (found.iterations, found.changed, found.converged) == (3, (0.0,), True)


@pytest.mark.parametrize(
    ("limit", "asked"), [(1, [0, 1]), (3, [0, 3]), (4, [0, 3, 4]), (5, [0, 3, 5])]
)
def test_the_limit(limit, asked):
    network = Fake(changing)
    found = train(network, max_iterations=limit)
    assert (
        network.asked == asked
    )  # at the end with the final weights, and no target is made that nobody trains towards
    assert (found.iterations, len(network.updates), found.converged) == (limit, limit, False)
    assert len(found.changed) == (limit - 1) // 3


@pytest.mark.parametrize(("passes", "updates"), [(1, 3), (3, 9), (5, 12)])
def test_the_limit_in_passes(passes, updates):
    found = train(Fake(changing), max_passes=passes)  # of three updates; at most 12
    assert (found.iterations, found.converged) == (updates, False)


def test_changes_are_counted_since_the_last_refresh():
    """Back and forth: two refreshes differ from each other, not from the first."""
    flip = np.array([[0.9, 0.1]] * 10), np.array([[0.1, 0.9]] * 10)
    assert train(Fake(lambda updates: flip[updates // 3 % 2])).changed == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 10, 12, 37])
def test_each_pass_covers_every_document_once(n):
    network = Fake(lambda updates: predictions(n))
    per_pass = -(-n // 4)
    train(network, n=n, max_iterations=3 * per_pass)
    orders = []
    for start in range(0, 3 * per_pass, per_pass):
        batches = [positions for positions, _ in network.updates[start : start + per_pass]]
        orders.append(np.concatenate(batches).tolist())
        assert sorted(orders[-1]) == list(range(n))
        assert all(1 <= len(batch) <= 4 for batch in batches)
        assert sum(len(batch) < 4 for batch in batches) == (n % 4 > 0)
    assert orders[0] == orders[1] == orders[2]  # as the original draws them
    if n > 5:
        assert orders[0] != sorted(orders[0])


def test_given_labels_stay_the_target():
    labelled = (np.array([2, 7, 8]), np.array([1, 0, 0]))
    network = Fake(changing)
    train(network, labelled=labelled)
    seen = set()
    for number, (positions, targets) in enumerate(network.updates):
        plain = target_distribution(changing(3 * (number // 3)).astype(np.float32))
        plain[[2, 7, 8]] = [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
        np.testing.assert_array_equal(targets, plain[positions])
        seen |= set(positions.tolist())
    assert seen == set(range(10))


def test_the_seed_decides_the_order_and_nothing_else_does():
    orders = []
    for seed, disturb in ((0, 1), (0, 2), (1, 1)):
        np.random.seed(disturb)
        network = Fake(constant)
        train(network, seed=seed)
        orders.append([positions.tolist() for positions, _ in network.updates])
    assert orders[0] == orders[1] != orders[2]


def test_the_settings_reach_the_optimizer():
    network = Fake(constant)
    train(network, learning_rate=0.25, decay=0.5)
    assert network.options == {"learning_rate": 0.25, "momentum": 0.9, "decay": 0.5}


@pytest.mark.parametrize("breaks_at", [0, 3, 12])
def test_predictions_that_are_no_numbers(breaks_at):
    """All of them would count as the first class, so that none changed any more."""
    with pytest.raises(LopsError, match=r"not numbers any more; .* lower learning_rate"):
        train(
            Fake(lambda updates: changing(updates) * (np.nan if updates >= breaks_at else 1)),
            stop_below=0.5 if breaks_at < 12 else 0,
        )


def test_log_and_progress(caplog, capsys, bars):
    with caplog.at_level(logging.INFO, logger="lops_adapters"):
        train(Fake(constant), stop_below=1.0)
        train(Fake(changing))
    assert [record.message for record in caplog.records] == [
        "self-training: 3 updates, converged: few documents change",
        "self-training: 12 updates, the limit",
    ]
    assert capsys.readouterr().err == ""
    self_train(Fake(constant), None, 10, settings(), NONE, seed=0, quiet=False)
    assert "self-training" in capsys.readouterr().err
