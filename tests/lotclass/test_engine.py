"""Updates and predictions: the same however the work is cut, and nobody else's randomness."""

import numpy as np
import pytest

from lops_adapters.lotclass.engine import micro_batches, warm_up_then_fall

from ..probes.toys import global_states


@pytest.fixture
def make():
    """make(dropout) -> a small network, drawn the same way every time, inputs (20, 4) and targets
    (20, 3).
    """
    import torch

    def network(dropout=0.0):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            layers = [
                torch.nn.Linear(4, 8),
                torch.nn.Tanh(),
                torch.nn.Dropout(dropout),
                torch.nn.Linear(8, 3),
            ]
            return torch.nn.Sequential(*layers), torch.randn(20, 4), 9 * torch.randn(20, 3)

    return network


def weights(network):
    return np.concatenate(
        [parameter.detach().numpy().ravel() for parameter in network.parameters()]
    )


def updated(engine, made, size, seed=(0, 1), updates=3, rate=0.1):
    """Weights after some updates on all 20 samples, in micro-batches of ``size``."""
    import torch

    network, x, y = made
    optimizer = torch.optim.SGD(network.parameters(), lr=rate)
    parts = micro_batches(np.arange(20), np.zeros(20), size)
    for number in range(updates):
        engine.step(
            network,
            optimizer,
            parts,
            lambda part: ((network(x[part]) - y[part]) ** 2).sum() / 20,
            (*seed, number),
        )
    assert all(parameter.grad is None for parameter in network.parameters())
    return weights(network)


def test_a_step_is_a_plain_update(engine, make):
    import torch

    network, x, y = make()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(3):
        ((network(x) - y) ** 2).sum().div(20).backward()
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        assert norm > 1  # clipping does something
        optimizer.step()
        optimizer.zero_grad()
    np.testing.assert_allclose(updated(engine, make(), 20), weights(network), atol=1e-7)


@pytest.mark.parametrize("size", [1, 3, 7, 19])
def test_micro_batches_change_nothing_without_dropout(engine, make, size):
    np.testing.assert_allclose(
        updated(engine, make(), size), updated(engine, make(), 20), atol=1e-6
    )


def test_dropout_is_drawn_from_the_seed(engine, make):
    before = global_states()
    one = updated(engine, make(0.5), 6)
    assert global_states() == before
    assert (one == updated(engine, make(0.5), 6)).all()
    assert (one != updated(engine, make(0.5), 6, seed=(0, 2))).any()
    assert (one != updated(engine, make(0.5), 6, seed=(1, 1))).any()
    assert np.abs(one - updated(engine, make(), 6)).max() > 1e-3


def test_each_micro_batch_and_update_draws_its_own_dropout(engine, make):
    network, x, _ = make(0.5)
    import torch

    seen = []

    def loss(part):
        seen.append((network[2](torch.ones(2, 50)) > 0).numpy().ravel().tolist())
        return network(x[part]).sum()

    optimizer = torch.optim.SGD(network.parameters(), lr=0.0)
    for number in range(2):
        engine.step(network, optimizer, [np.arange(2), np.arange(2, 4)], loss, (0, number))
    assert len({tuple(drawn) for drawn in seen}) == 4


def test_cutting_into_micro_batches():
    lengths = np.array([5, 1, 9, 1, 3, 7])
    found = micro_batches(np.array([5, 3, 0, 1, 2]), lengths, 2)
    assert [part.tolist() for part in found] == [[3, 1], [0, 5], [2]]
    assert micro_batches(np.array([], dtype=np.int64), lengths, 2) == []


def test_the_schedule():
    factor = warm_up_then_fall(100)
    assert [factor(step) for step in (0, 5, 10, 55, 100, 101)] == [0, 0.5, 1, 0.5, 0, 0]
    # nothing to warm up in
    assert [warm_up_then_fall(5)(step) for step in (0, 4, 5)] == [1, 0.2, 0]
    assert warm_up_then_fall(0)(0) == 0


def test_predictions_are_put_where_they_belong(engine):
    fill = np.full((6, 2), -1.0)
    batches = [np.array([4, 0]), np.array([2]), np.array([1, 5])]
    found = engine.predict(batches, lambda part: np.stack([part, part**2], axis=1), fill)
    assert found.tolist() == [[0, 0], [1, 1], [2, 4], [-1, -1], [4, 16], [5, 25]]
