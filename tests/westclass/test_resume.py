"""The command in its own process, killed in the middle of its work, and resumed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lops_adapters import console
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.runs.folder import RunFolder
from lops_adapters.westclass import pipeline
from lops_adapters.westclass.__main__ import main

from ..framework_checks import (
    OTHER_OPTIONS,
    assert_not_resumed,
    assert_read_not_made_again,
    assert_same_run,
    metrics_of,
    stages,
)
from ..framework_tools import write_folder
from .toys import SEEDS, documents, small_presets


def options(data, output, *more):
    return [
        "--dataset",
        str(data),
        "--preset",
        "quick",
        "--device",
        "cpu",
        "--output",
        str(output),
        "--quiet",
        *more,
    ]


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


SHARED = {"word_vectors", "pseudo_documents"}
KILLS = {
    "lops-selection": SHARED,
    "lops-pretraining": SHARED | {"lops-selection"},
    "lops-self-training": SHARED | {"lops-selection", "lops-pretraining"},
}


@pytest.fixture(scope="module")
def killed(data, tmp_path_factory):
    """Folder that holds a run killed in each stage of KILLS, named after it."""
    folder = tmp_path_factory.mktemp("killed")
    program = [
        sys.executable,
        str(Path(__file__).with_name("command.py")),
        str(folder),
        ",".join(KILLS),
    ]
    done = subprocess.run(
        [*program, *options(data, "nowhere", "--arms", "lops")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert json.loads(done.stdout) == dict.fromkeys(KILLS, -signal.SIGKILL), done.stderr
    return folder


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, whole, killed, capsys):
    output = killed / where
    assert stages(output) == KILLS[where]
    assert not (output / "metrics.json").exists()
    assert command(*options(data, output, "--arms", "lops")) == 2
    assert "already holds a run; give --resume" in capsys.readouterr().err
    assert command(*options(data, output, "--arms", "lops", "--resume")) == 0
    assert_same_run(output, whole, ["lops"])


class StoppedError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize(
    "place", ["in the first update", "behind the model", "behind the last stage"]
)
def test_stopped_in_self_training_and_resumed(place, dataset, go, tmp_path):
    """The hierarchical network, with labelled documents; and the moments around the model's
    writing.
    """
    labelled = tuple((f"d{number}", dataset.gold.labels[number]) for number in (3, 4, 5))
    more = {
        "network": "han",
        "supervision": "documents",
        "labelled": labelled,
        "max_iterations": 6,
        "pretrain_epochs": 3,
    }
    whole = go(dataset, tmp_path / "whole", ["standard"], **more)

    def stop(*_, **__):
        raise StoppedError

    with pytest.MonkeyPatch.context() as patch:
        if place == "in the first update":
            patch.setattr(HanProbe, "tuner", lambda *_, **__: stop)
        elif place == "behind the model":
            save = RunFolder.save_model
            patch.setattr(RunFolder, "save_model", lambda *args: (save(*args), stop()))
        else:
            patch.setattr("lops_adapters.westclass.run.write_predictions", stop)
        with pytest.raises(StoppedError):
            go(dataset, tmp_path / "run", ["standard"], **more)
    again = go(dataset, tmp_path / "run", ["standard"], resume=True, **more)
    assert_same_run(again.path, whole.path, ["standard"])


def test_a_finished_run_is_read_not_made_again(data, whole, monkeypatch, capsys):
    for name in ("updates", "predict_prepared", "tuner"):
        monkeypatch.setattr(KerasProbe, name, None)
    monkeypatch.setattr(pipeline, "train_word_vectors", None)
    monkeypatch.setattr(pipeline, "generate", None)
    table = assert_read_not_made_again(
        lambda: command(*options(data, whole, "--resume")), whole, capsys
    )
    assert "self-training" in table


@pytest.mark.parametrize(
    ("more", "words"),
    [
        *OTHER_OPTIONS,
        (["--supervision", "names"], "settings.supervision = 'keywords', not 'names'"),
        (["--labelled-per-class", "2"], "settings.supervision = 'keywords', not 'documents'"),
        (["--network", "han"], "settings.network = 'cnn', not 'han'"),
    ],
)
def test_other_options_are_refused(data, whole, capsys, more, words):
    status = command(*options(data, whole, "--resume", *more))
    assert_not_resumed(status, capsys.readouterr().err, words)


def test_other_data_are_refused(whole, tmp_path, capsys):
    texts, labels = documents()
    other = write_folder(tmp_path / "toy", ["Another judge.", *texts[1:]], labels, SEEDS)
    assert command(*options(other, whole, "--resume")) == 2
    assert f"{whole} was started with dataset.sha256 = " in capsys.readouterr().err


def test_an_arm_can_be_added_later(data, whole, tmp_path):
    output = tmp_path / "run"
    assert command(*options(data, output, "--arms", "lops")) == 0
    assert list(metrics_of(output)["arms"]) == ["lops"]
    assert not (output / "standard").exists()
    assert command(*options(data, output, "--arms", "standard", "--resume")) == 0
    assert list(metrics_of(output)["arms"]) == ["standard", "lops"]
    assert_same_run(output, whole)


def test_labelled_documents_drawn_again_are_the_same(data, tmp_path):
    """A resumed run draws what it drew before: 2 documents a class, by the seed."""
    more = [
        "--labelled-per-class",
        "2",
        "--arms",
        "standard",
        "--pretrain-epochs",
        "1",
        "--max-iterations",
        "1",
    ]
    assert command(*options(data, tmp_path / "run", *more)) == 0
    assert (
        len(json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["labelled"]) == 6
    )
    assert command(*options(data, tmp_path / "run", "--resume", *more)) == 0
