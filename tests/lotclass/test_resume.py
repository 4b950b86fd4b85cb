"""The command in its own process, killed in the middle of its work, and resumed."""

import os
import signal
from pathlib import Path

import pytest

from lops_adapters import console
from lops_adapters.lotclass import masked_lm
from lops_adapters.lotclass.__main__ import main
from lops_adapters.lotclass.probe import LotclassProbe
from lops_adapters.lotclass.vocabulary import Predictor

from ..framework_checks import (
    OTHER_OPTIONS,
    assert_not_resumed,
    assert_read_not_made_again,
    assert_same_run,
    metrics_of,
    stages,
)
from ..framework_tools import in_own_process, warnings_as_for_a_user, write_folder
from .toys import SEEDS, documents, small_presets

ARMS = "standard,lops,lops-refresh"
PROGRAM = Path(__file__).with_name("command.py")


def options(data, bert, output, *more, arms=ARMS):
    sizes = ["--preset", "quick", "--device", "cpu", "--arms", arms]
    return [
        "--dataset",
        str(data),
        "--encoder",
        bert,
        *sizes,
        "--output",
        str(output),
        "--quiet",
        *more,
    ]


def command(*args):
    return console.guarded(main)(list(args))


@pytest.fixture(autouse=True)
def small():
    with small_presets(), warnings_as_for_a_user():
        yield


@pytest.fixture(scope="module")
def whole(data, bert, tmp_path_factory):
    """Run folder of the command that nobody interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run"
    with small_presets(), warnings_as_for_a_user():
        assert command(*options(data, bert, output)) == 0
    return output


SHARED = {"rows", "standard-selection", "standard-category"}
# Where; the stages done by then, and one that is not.
KILLS = {
    "head-40": (set(), "rows"),
    "rows-1": (set(), "rows"),
    "category-0": ({"rows", "standard-selection"}, "standard-category"),
    "probe-0": ({*SHARED, "standard-self-training"}, "lops-selection"),
    "tuning-2": (
        {*SHARED, "standard-self-training", "lops-self-training"},
        "lops-refresh-self-training",
    ),
}


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, bert, whole, tmp_path, capsys, monkeypatch):
    output = tmp_path / "run"
    if where.startswith("head"):  # a language model that nobody has trained yet
        monkeypatch.setitem(os.environ, "XDG_CACHE_HOME", str(tmp_path / "cache"))
    killed = in_own_process(PROGRAM, where, *options(data, bert, output))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before, missing = KILLS[where]
    assert before <= stages(output)
    assert missing not in stages(output)
    if where.startswith("head"):
        assert not list((tmp_path / "cache").rglob("lops.json"))
        # the model that is there is the one that would be trained: a test of its own
        monkeypatch.undo()
    assert command(*options(data, bert, output)) == 2
    assert "already holds a run; give --resume" in capsys.readouterr().err
    assert command(*options(data, bert, output, "--resume")) == 0
    assert_same_run(output, whole)


def test_a_finished_run_is_read_not_made_again(data, bert, whole, monkeypatch, capsys):
    for kind, name in (
        (LotclassProbe, "updates"),
        (LotclassProbe, "predict_prepared"),
        (Predictor, "best"),
    ):
        monkeypatch.setattr(kind, name, None)
    monkeypatch.setattr(masked_lm, "_train", None)
    table = assert_read_not_made_again(
        lambda: command(*options(data, bert, whole, "--resume")), whole, capsys
    )
    for word in ("LOTClass on toy, 90 documents", "standard", "lops-refresh"):
        assert word in table


@pytest.mark.parametrize(
    ("more", "words"),
    [
        *OTHER_OPTIONS,
        (["--match-threshold", "1"], "settings.match_threshold = 3, not 1"),
        (["--supervision", "keywords"], "settings.supervision = 'names', not 'keywords'"),
        (["--faithful"], "settings.faithful = False, not True"),
    ],
)
def test_other_options_are_refused(data, bert, whole, capsys, more, words):
    status = command(*options(data, bert, whole, "--resume", *more))
    assert_not_resumed(status, capsys.readouterr().err, words)


def test_other_data_are_refused(data, bert, whole, tmp_path, capsys):
    texts, labels = documents()
    other = write_folder(tmp_path / "toy", ["Another judge.", *texts[1:]], labels, SEEDS)
    assert command(*options(other, bert, whole, "--resume")) == 2
    assert f"{whole} was started with dataset.sha256 = " in capsys.readouterr().err


def test_an_arm_can_be_added_later(data, bert, whole, tmp_path):
    output = tmp_path / "run"
    for number, (arm, known) in enumerate(
        [
            ("lops-refresh", ["lops-refresh"]),
            ("standard", ["standard", "lops-refresh"]),
            ("lops", ["standard", "lops", "lops-refresh"]),
        ]
    ):
        assert command(*options(data, bert, output, *["--resume"][:number], arms=arm)) == 0
        assert list(metrics_of(output)["arms"]) == known
    assert_same_run(output, whole)
