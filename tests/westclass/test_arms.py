"""What the arms share."""

import numpy as np
import pytest

from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.runs.framework import Job
from lops_adapters.selection import keep_all

from ..framework_tools import kept_by

FAST = {"pretrain_epochs": 3, "max_iterations": 12}


@pytest.fixture
def calls(monkeypatch):
    """The seeds of all selectors; those of ``lops`` keep every second."""
    found = []

    def selector(job, method, probe, *, seed=None, **_):
        def select(samples, labels):
            found.append(seed)
            if method == "standard":
                return keep_all(samples, labels)
            return kept_by(np.arange(len(samples)) % 2 == 0, samples, labels, "half")

        return select

    monkeypatch.setattr(Job, "selector", selector)
    return found


@pytest.fixture
def updates(monkeypatch):
    """The documents of each update: of pre-training, then of self-training, per arm."""
    found = []
    training, tuner = KerasProbe.updates, KerasProbe.tuner

    def trained(network, *arguments):
        found.append([])
        for update in training(network, *arguments):
            found[-1].append(update.samples)
            yield update

    def tuned(network, **options):
        found.append([])
        step = tuner(network, **options)

        def update(prepared, positions, targets):
            found[-1].append(positions.tolist())
            step(prepared, positions, targets)

        return update

    monkeypatch.setattr(KerasProbe, "updates", trained)
    monkeypatch.setattr(KerasProbe, "tuner", tuned)
    return found


def test_all_arms_make_the_same_updates(calls, updates, dataset, go, tmp_path):
    """36 pseudo documents in batches of 6, three times; 18 kept ones are passed six times."""
    done = go(dataset, tmp_path / "run", **FAST)
    standard, _, lops, _ = updates
    assert [len(standard), len(lops), sum(standard), sum(lops)] == [18, 18, 108, 108]
    rows = [arm["iterations"][0] for arm in done.metrics["arms"].values()]
    assert [row["updates"] for row in rows] == [18, 18]
    assert [row["selected"] for row in rows] == [36, 18]


def test_faithful_makes_the_same_epochs(calls, updates, dataset, go, tmp_path):
    go(dataset, tmp_path / "run", faithful=True, **FAST)
    assert [len(updates[0]), len(updates[2])] == [18, 9]


def test_the_probe_has_another_seed_than_any_network(calls, dataset, go, tmp_path):
    go(dataset, tmp_path / "run", ["lops"], seed=3, **FAST)
    assert calls == [3 + 2**31]
