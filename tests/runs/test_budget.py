"""The expected time of a run: what it is made from, and when it is said."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from lops_adapters.datasets import Corpus
from lops_adapters.runs import budget
from lops_adapters.runs.budget import Cost, announce, unit_seconds
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.framework import named
from lops_adapters.runs.job import Job
from lops_adapters.xclass.settings import XclassSettings

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "speed"
# What the samples of AG News have: thousands of characters, per size.
KILOCHARACTERS = {300: 70.5, 1000: 234.9}
CORPUS = Corpus("toy", ("1", "2"), ("x" * 900, "x" * 100), ("a", "b"), {})
USUAL = ("standard", "lops", "committee")
COST = Cost(run=60, per_class=60, per_kilocharacter=60)


@pytest.mark.parametrize("name", ["xclass", "conwea", "westclass"])
@pytest.mark.parametrize("size", [300, 1000])
def test_expected_processor_time_is_right_within_a_factor_of_two(name, size):
    path = RESULTS / f"budget-{size}-{name}.json"
    result = json.loads(path.read_text(encoding="utf-8"))["result"]
    text = "x" * 500
    corpus = replace(
        CORPUS,
        ids=tuple(map(str, range(int(2 * KILOCHARACTERS[size])))),
        texts=(text,) * int(2 * KILOCHARACTERS[size]),
        classes=("a", "b", "c", "d"),
    )
    expected = named(name).cost.units(corpus)
    assert 0.5 < expected * result["unit_seconds"] / result["processor_seconds"] < 2


def test_units():
    cost = Cost(run=1, per_class=10, per_kilocharacter=100)
    assert cost.units(CORPUS) == 121
    assert cost._replace(longest=400).units(CORPUS) == 71


def test_a_unit_takes_time_and_leaves_threads_alone():
    import torch

    before = torch.get_num_threads(), torch.get_rng_state()
    assert 0 < unit_seconds(least=0) < 60
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


@pytest.fixture
def said(tmp_path, monkeypatch, caplog):
    """Returns what is said at the start of a run, if anything."""
    monkeypatch.setattr(budget, "unit_seconds", lambda: 1.0)
    folder = RunFolder(tmp_path)
    folder.work.mkdir()
    job = Job(folder, XclassSettings(), 0, "cpu", quiet=False)

    def of(arms=USUAL, cost=COST, **changes):
        caplog.clear()
        with caplog.at_level(logging.INFO, "lops_adapters"):
            announce(cost, CORPUS, replace(job, **changes), arms)
        return caplog.messages

    return of


def test_it_is_said_for_what_was_measured(said):
    (message,) = said()
    assert message.startswith("expected: about 4 minutes if this machine stays as busy")
    assert said(arms=USUAL[::-1])


def test_it_is_not_said_for_anything_else(said, tmp_path):
    assert not said(arms=USUAL[:2])
    assert not said(cost=None)
    assert not said(quiet=True)
    assert not said(device="cuda")
    assert not said(settings=XclassSettings(max_pieces=512))
    (tmp_path / "work" / "representation.npz").touch()
    assert not said()
