"""Fixtures of the tests of one framework: its toy corpus, runs in this process, its command.

The conftest of a framework's tests imports all of them and adds one, ``room``.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from lops_adapters.core import LopsWarning
from lops_adapters.datasets import load_dataset as load
from lops_adapters.runs.command import command
from lops_adapters.runs.framework import named

from ..framework_checks import assert_refused
from ..framework_tools import (
    copy_killed,
    job_for,
    outcome,
    plain_arithmetic,
    run_in_process,
    warnings_as_for_a_user,
)
from .cases import CASES, Case

__all__ = [
    "bert", "choose", "data", "dataset", "finished", "go", "good", "head_start", "no_work", "ready",
    "refuse", "run", "same_everywhere", "small",
]  # fmt: skip


@dataclass(frozen=True)
class Room:
    """A framework's tests.

    Attributes:
        name: of the framework.
        arms: of a run.
        stages: what the arms share.
        options: of every command.
        expected: start of a warning that runs on so small a corpus may give.
        quick: a function of ``case.work`` that a refused command may call.

    """

    name: str
    arms: Sequence[str] = ("standard", "lops")
    stages: Sequence[str] = ()
    options: Sequence[str] = ()
    expected: str = "nothing is expected"
    quick: str = ""

    @property
    def case(self) -> Case:
        """The row of the conformance suite."""
        return CASES[self.name]


@pytest.fixture(scope="module", autouse=True)
def same_everywhere():
    """One thread and float32: sums come out alike on every machine and in the subprocesses."""
    with plain_arithmetic():
        yield


@pytest.fixture(scope="session")
def bert(room, tmp_path_factory):
    """Path of a tiny random BERT that knows the toy words."""
    return room.case.encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def data(room, tmp_path_factory):
    """Folder of the toy corpus, with gold labels."""
    return room.case.write(tmp_path_factory.mktemp("data") / "toy", *room.case.toys.documents())


@pytest.fixture(scope="session")
def dataset(data):
    return load(data, quiet=True)


@pytest.fixture(scope="session")
def choose(room, request):
    """choose(...) -> the settings of a small run, with these changes."""
    usual = {"encoder": request.getfixturevalue("bert")} if room.case.encoder else {}
    return lambda **changes: room.case.toys.settings(**{**usual, **changes})


@pytest.fixture(scope="session")
def ready(room, choose):
    """ready(dataset, path, ...) -> what the arms of a run share; no arm is run."""

    def prepared(dataset, path, resume=False, **changes):
        job = job_for(room.name, choose(**changes), path, dataset, resume=resume)
        with plain_arithmetic():
            return named(room.name).prepare(dataset.corpus, job)

    return prepared


@pytest.fixture(scope="session")
def go(room, choose):
    """Run the framework in this process: go(dataset, path, arms=..., **settings) -> the run's path,
    metrics, settings and folder.
    """

    def run(dataset, path, arms=room.arms, seed=0, resume=False, **overrides):
        chosen = choose(**overrides)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", room.expected, LopsWarning)
            return run_in_process(room.name, dataset, path, chosen, arms, seed, resume)

    return run


@pytest.fixture(scope="session")
def finished(dataset, go, tmp_path_factory):
    """A finished run of the room's arms on the toy corpus; nobody writes into it."""
    return go(dataset, tmp_path_factory.mktemp("finished") / "run")


@pytest.fixture
def head_start(room, finished, tmp_path):
    """Path of a run killed after all that the arms share was done."""
    return copy_killed(finished, tmp_path / "killed", room.stages)


@pytest.fixture
def small(room):
    """The command's quick preset is small, and warnings are lines."""
    presets = named(room.name).settings.PRESETS
    with pytest.MonkeyPatch.context() as patch, warnings_as_for_a_user():
        patch.setitem(presets, "quick", room.case.toys.SMALL)
        yield


@pytest.fixture
def run(room, small, request, tmp_path, capsys):
    """run(folder, option, ...) -> exit status, standard output and error; into tmp_path/run.

    Options and their values may stand in one string: run(folder, "--seed 1 --arms lops").
    """
    usual = ["--preset", "quick", "--device", "cpu", "--quiet", *room.options]
    if room.case.encoder:
        usual += ["--encoder", request.getfixturevalue("bert")]
    main = command(named(room.name))

    def call(folder, *more):
        options = ["--dataset", folder, "--output", tmp_path / "run", *usual]
        for item in more:
            options += item.split() if str(item).startswith("--") else [item]
        return outcome(main, capsys, *options)

    return call


@pytest.fixture(scope="session")
def good(room, tmp_path_factory):
    """Folder of a sample that is just enough, with gold labels."""
    texts, labels = room.case.toys.documents(room.case.documents[1])
    return room.case.write(tmp_path_factory.mktemp("good") / "good", texts, labels)


@pytest.fixture
def no_work(room, monkeypatch):
    """Fail the test where a function of long work is called."""
    room.case.forbid_work(monkeypatch, room.quick)


@pytest.fixture
def refuse(run, no_work, tmp_path, monkeypatch):
    """refuse(folder, options, words): the command is refused before any work, in one line that says
    these words, and leaves nothing, so that the corrected command can have the folder.
    """
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def call(folder, options, words, may_warn=False):
        options, words = ([x] if isinstance(x, str) else x for x in (options, words))
        assert_refused(run(folder, *filter(None, options)), *words, may_warn=may_warn)
        assert not (tmp_path / "run").exists()

    return call
