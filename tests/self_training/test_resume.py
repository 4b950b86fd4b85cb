"""The command in its own process, killed in the middle of its work, and resumed."""

import signal
from pathlib import Path

import pytest

from lops_adapters import console
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.self_training.__main__ import main

from ..framework_checks import (
    OTHER_OPTIONS,
    assert_not_resumed,
    assert_read_not_made_again,
    assert_same_run,
    metrics_of,
    stages,
)
from ..framework_tools import in_own_process, write_folder
from .toys import SEEDS, documents, small_presets

METHODS = "standard,lops,random,optimal"
PROGRAM = Path(__file__).with_name("command.py")


def options(data, output, *more, methods=METHODS):
    usual = ["--preset", "quick", "--device", "cpu", "--method", methods]
    return ["--dataset", str(data), *usual, "--output", str(output), "--quiet", *more]


def command(*args):
    return console.guarded(main)(list(args))


@pytest.fixture(autouse=True)
def small():
    with small_presets():
        yield


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """Run folder of the command that nobody interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run"
    with small_presets():
        assert command(*options(data, output)) == 0
    return output


# Trainings: three classifiers of standard, then of lops a probe and a classifier in turns, three of
# optimal, three of random.
KILLS = {
    "training-0": ({"pseudo_labels", "standard-0-selection"}, "standard-0-classifier"),
    "training-5": ({"standard-2-classifier", "lops-0-classifier"}, "lops-1-selection"),
    "training-8": ({"lops-1-classifier", "lops-2-selection"}, "lops-2-classifier"),
    "training-13": (
        {"lops-2-classifier", "optimal-2-classifier", "random-1-selection"},
        "random-1-classifier",
    ),
}


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, whole, tmp_path, capsys, monkeypatch):
    output = tmp_path / "run"
    killed = in_own_process(PROGRAM, where, *options(data, output))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before, missing = KILLS[where]
    assert before <= stages(output)
    assert missing not in stages(output)
    assert command(*options(data, output)) == 2
    assert "already holds a run; give --resume" in capsys.readouterr().err
    updates, trained = LinearProbe.updates, []
    monkeypatch.setattr(
        LinearProbe, "updates", lambda self, *args: trained.append(1) or updates(self, *args)
    )
    assert command(*options(data, output, "--resume")) == 0
    assert len(trained) == 15 - int(
        where.partition("-")[2]
    )  # what was finished is not trained again
    assert_same_run(output, whole)


def test_a_finished_run_is_read_not_made_again(data, whole, monkeypatch, capsys):
    for name in ("updates", "predict_prepared"):
        monkeypatch.setattr(LinearProbe, name, None)
    monkeypatch.setattr("lops_adapters.self_training.pipeline.string_match", None)
    table = assert_read_not_made_again(
        lambda: command(*options(data, whole, "--resume")), whole, capsys
    )
    for word in ("Self training on toy, 90 documents", "standard", "lops", "random"):
        assert word in table


@pytest.mark.parametrize(
    ("more", "words"),
    [
        *OTHER_OPTIONS,
        (["--delta", "0.5"], "settings.delta = 0.6, not 0.5"),
        (["--iterations", "4"], "settings.iterations = 3, not 4"),
        (
            ["--pseudo-labels", "exclusive-string-match"],
            "settings.pseudo_labels = 'string-match', not 'exclusive-string-match'",
        ),
        (["--method", "random"], "settings.n_from = 'lops', not 'tau'"),
        (["--faithful"], "settings.faithful = False, not True"),
    ],
)
def test_other_options_are_refused(data, whole, capsys, more, words):
    status = command(*options(data, whole, "--resume", *more))
    assert_not_resumed(status, capsys.readouterr().err, words)


def test_other_data_are_refused(data, whole, tmp_path, capsys):
    texts, labels = documents()
    other = write_folder(tmp_path / "toy", ["Another judge.", *texts[1:]], labels, SEEDS)
    assert command(*options(other, whole, "--resume")) == 2
    assert f"{whole} was started with dataset.sha256 = " in capsys.readouterr().err


def test_another_file_of_pseudo_labels_is_refused(data, tmp_path, capsys):
    mine = tmp_path / "mine.csv"
    rows = [f"d{i},{('arts', 'law', 'sport')[i % 3]}\n" for i in range(30)]
    mine.write_text("id,label\n" + "".join(rows), encoding="utf-8")
    more = ["--pseudo-labels", str(mine)]
    assert command(*options(data, tmp_path / "run", *more, methods="standard")) == 0
    assert command(*options(data, tmp_path / "run", *more, "--resume", methods="standard")) == 0
    mine.write_text("id,label\n" + "".join(rows[:-1]), encoding="utf-8")
    assert command(*options(data, tmp_path / "run", *more, "--resume", methods="standard")) == 2
    assert "was started with settings.pseudo_labels_sha256" in capsys.readouterr().err


def test_a_method_can_be_added_later(data, whole, tmp_path):
    output = tmp_path / "run"
    for number, (methods, known) in enumerate(
        [
            ("optimal", ["optimal"]),
            ("lops", ["lops", "optimal"]),
            ("lops,random", ["lops", "optimal", "random"]),
            ("standard", ["standard", "lops", "optimal", "random"]),
        ]
    ):
        assert command(*options(data, output, *["--resume"][:number], methods=methods)) == 0
        assert list(metrics_of(output)["arms"]) == known
    assert_same_run(output, whole)
