"""Batches by length, devices and precisions, randomness that stays local."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders import torch_tools
from lops_adapters.encoders.torch_tools import (
    LocalRandomness,
    autocast,
    has_bfloat16,
    import_torch,
    prediction_batches,
    resolve_device,
    training_batches,
)


def skewed_lengths(n):
    """Most texts short, a few very long, as in the newsgroups."""
    return np.minimum(np.random.default_rng(0).lognormal(3.5, 1.2, n).astype(int) + 1, 512)


def padded(lengths, batches):
    return sum(len(batch) * lengths[batch].max() for batch in batches)


@pytest.mark.parametrize(
    ("n", "batch_size"), [(1, 4), (4, 4), (9, 4), (1000, 32), (1025, 32), (3, 1)]
)
def test_training_batches_cover_every_sample_once(n, batch_size):
    batches = training_batches(skewed_lengths(n), batch_size, np.random.default_rng(1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(n))
    assert len(batches) == -(-n // batch_size)
    # One is smaller at most.
    assert sorted(map(len, batches))[1:] == [batch_size] * (len(batches) - 1)


def test_training_batches_waste_little():
    lengths, rng = skewed_lengths(4000), np.random.default_rng(1)
    order = rng.permutation(4000)
    at_random = (
        padded(lengths, [order[start : start + 32] for start in range(0, 4000, 32)]) - lengths.sum()
    )
    waste = padded(lengths, training_batches(lengths, 32, rng)) - lengths.sum()
    assert at_random > lengths.sum()  # more padding than text
    assert waste < 0.15 * at_random


def test_training_batches_are_random():
    lengths = skewed_lengths(1024)
    first, second, again = (
        training_batches(lengths, 32, np.random.default_rng(seed)) for seed in (1, 2, 1)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert {frozenset(batch.tolist()) for batch in first} != {
        frozenset(batch.tolist()) for batch in second
    }
    longest = [int(lengths[batch].max()) for batch in first]
    assert longest != sorted(longest)
    assert longest != sorted(longest, reverse=True)
    same_length = training_batches(np.full(64, 7), 8, np.random.default_rng(3))
    assert {frozenset(batch.tolist()) for batch in same_length} != {
        frozenset(range(s, s + 8)) for s in range(0, 64, 8)
    }


def together(lengths, pool):
    """The share of the other samples of its batch that a sample meets again in the next epoch."""
    rng = np.random.default_rng(0)
    one, other = (training_batches(lengths, 32, rng, pool=pool) for _ in range(2))
    batch_of = {int(i): number for number, batch in enumerate(other) for i in batch}
    found = [[batch_of[int(i)] for i in batch] for batch in one]
    return np.mean([np.bincount(batch).max() / 32 for batch in found])


def test_few_samples_are_shuffled_too():
    """1,000 samples fit one pool of 32 batches: without pools they would be sorted every epoch."""
    lengths = np.random.default_rng(1).permutation(1000)
    assert together(lengths, 1) < 0.2
    assert together(lengths, 32) < 0.5


def test_a_pool_of_one_batch_gives_random_batches():
    lengths = skewed_lengths(4000)
    batches = training_batches(lengths, 32, np.random.default_rng(1), pool=1)
    order = np.random.default_rng(1).permutation(4000)
    wanted = {frozenset(order[start : start + 32].tolist()) for start in range(0, 4000, 32)}
    assert {frozenset(batch.tolist()) for batch in batches} == wanted


@pytest.mark.parametrize("budget", [1, 100, 512, 10_000])
def test_prediction_batches(budget):
    lengths = skewed_lengths(500)
    positions = np.random.default_rng(2).permutation(500)[:300]
    batches = prediction_batches(lengths, positions, budget)
    assert sorted(np.concatenate(batches).tolist()) == sorted(positions.tolist())
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest == sorted(longest, reverse=True)  # so that memory runs out at once or not at all
    if budget == 10_000:
        assert len(batches) < 30
    assert prediction_batches(lengths, np.array([], dtype=np.int64), budget) == []


def test_prediction_batches_of_empty_samples():
    assert [
        len(batch) for batch in prediction_batches(np.zeros(10, dtype=np.int64), np.arange(10), 4)
    ] == [4, 4, 2]


def test_local_randomness():
    torch = import_torch()
    cpu = torch.device("cpu")

    def draws(seed, meddle=False):
        local, drawn = LocalRandomness(seed, cpu), []
        for number in range(3):
            if meddle:
                torch.manual_seed(number)
                torch.rand(2)
            with local.inside():
                drawn.append(torch.rand(1).item())
        return drawn

    before = torch.get_rng_state()
    first = draws(4)
    assert torch.equal(torch.get_rng_state(), before)
    assert len(set(first)) == 3  # the sequence goes on from one `inside` to the next
    assert draws(4, meddle=True) == first != draws(5)
    torch.set_rng_state(before)
    expected = torch.Generator().manual_seed(4)
    assert first == [torch.rand(1, generator=expected).item() for _ in range(3)]


def test_local_randomness_after_an_error():
    torch = import_torch()
    local, before = LocalRandomness(0, torch.device("cpu")), torch.get_rng_state()

    def fail():
        torch.rand(3)
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"), local.inside():
        fail()
    assert torch.equal(torch.get_rng_state(), before)


def test_local_randomness_does_not_seed_other_devices(monkeypatch):
    torch = import_torch()
    monkeypatch.setattr(
        torch, "manual_seed", lambda seed: pytest.fail("this seeds the generators of every device")
    )
    with LocalRandomness(2**70 + 1, torch.device("cpu")).inside():
        torch.rand(1)


def test_devices(monkeypatch):
    torch = import_torch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert resolve_device() == resolve_device("cpu") == torch.device("cpu")
    message = "device 'abacus' cannot be used .*; wanted auto, cpu, cuda, cuda:N or mps"
    with pytest.raises(LopsError, match=message):
        resolve_device("abacus")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "empty", lambda *shape, device: None)
    assert resolve_device().type == "cuda"


def test_bfloat16_hardware(monkeypatch):
    torch = import_torch()
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    for found, expected in (
        ({}, False),
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True}, True),
        ({"avx512_bf16": False}, False),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda found=found: found, raising=False)
        assert has_bfloat16(cpu) is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert has_bfloat16(cpu) is False
    for capability, expected in (((7, 5), False), ((8, 0), True), ((9, 0), True)):
        monkeypatch.setattr(
            torch.cuda, "get_device_capability", lambda device, capability=capability: capability
        )
        assert has_bfloat16(cuda) is expected
    assert has_bfloat16(torch.device("meta")) is False


@pytest.mark.parametrize(
    ("precision", "hardware", "enabled"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("float32", True, False),
        ("bfloat16", False, True),
    ],
)
def test_autocast(monkeypatch, precision, hardware, enabled):
    torch = import_torch()
    monkeypatch.setattr(torch_tools, "has_bfloat16", lambda device: hardware)
    with autocast(torch.device("cpu"), precision):
        assert torch.is_autocast_enabled("cpu") is enabled
        assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype == (
            torch.bfloat16 if enabled else torch.float32
        )


def test_torch_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(LopsError, match=r"pip install 'lops_adapters\[transformers\]'"):
        import_torch()
