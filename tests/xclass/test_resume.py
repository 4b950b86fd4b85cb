"""The command in its own process, killed in the middle of its work, and resumed."""

import json
import signal
from pathlib import Path

import pytest

from lops_adapters import console
from lops_adapters.probes import context_encoder
from lops_adapters.probes.context_encoder import ContextEncoder
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass.__main__ import main

from ..framework_checks import (
    OTHER_OPTIONS,
    assert_not_resumed,
    assert_read_not_made_again,
    assert_same_run,
    metrics_of,
    stages,
)
from ..framework_tools import in_own_process
from .toys import documents, small_presets, write_folder

ARMS = "standard,lops,lops-all"
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
def small(monkeypatch):
    monkeypatch.setattr(context_encoder, "_BLOCK", 30)
    with small_presets():
        yield


@pytest.fixture(scope="module")
def whole(data, bert, tmp_path_factory):
    """Run folder of the command that nobody interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch, small_presets():
        patch.setattr(context_encoder, "_BLOCK", 30)
        assert command(*options(data, bert, output)) == 0
    return output


# Where; the stages done by then, one that is not, and how many of the five blocks of windows are
# left to encode.
KILLS = {
    "vectors-2": (set(), "representation", 3),
    "classifier-0": (
        {"representation", "alignment", "standard-selection"},
        "standard-classifier",
        0,
    ),
    "probe-1": ({"standard-classifier", "lops-classifier"}, "lops-all-selection", 0),
}


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, bert, whole, tmp_path, capsys, monkeypatch):
    output = tmp_path / "run"
    killed = in_own_process(PROGRAM, where, *options(data, bert, output))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before, missing, blocks = KILLS[where]
    assert before <= stages(output)
    assert missing not in stages(output)
    if where == "vectors-2":
        assert (output / "work" / "vectors.npy").is_file()
        assert json.loads((output / "work" / "vectors.json").read_text()) == {"windows": 60}
    else:
        assert not (output / "work" / "vectors.npy").exists()
    assert command(*options(data, bert, output)) == 2
    assert "already holds a run; give --resume" in capsys.readouterr().err
    encode, encoded = ContextEncoder.encode, []
    monkeypatch.setattr(
        ContextEncoder, "encode", lambda self, *args: encoded.append(args) or encode(self, *args)
    )
    assert command(*options(data, bert, output, "--resume")) == 0
    assert len(encoded) == blocks
    assert_same_run(output, whole)


def test_a_finished_run_is_read_not_made_again(data, bert, whole, monkeypatch, capsys):
    for name in ("updates", "predict_prepared"):
        monkeypatch.setattr(TransformerProbe, name, None)
    monkeypatch.setattr("lops_adapters.xclass.pipeline.ContextEncoder", None)
    monkeypatch.setattr("lops_adapters.xclass.pipeline.align", None)
    table = assert_read_not_made_again(
        lambda: command(*options(data, bert, whole, "--resume")), whole, capsys
    )
    for word in ("X-Class on toy, 90 documents", "standard", "lops-all"):
        assert word in table


@pytest.mark.parametrize(
    ("more", "words"),
    [
        *OTHER_OPTIONS,
        (["--confident", "0.4"], "settings.confident = 0.5, not 0.4"),
        (["--faithful"], "settings.faithful = False, not True"),
    ],
)
def test_other_options_are_refused(data, bert, whole, capsys, more, words):
    status = command(*options(data, bert, whole, "--resume", *more))
    assert_not_resumed(status, capsys.readouterr().err, words)


def test_other_data_are_refused(data, bert, whole, tmp_path, capsys):
    texts, labels = documents()
    other = write_folder(tmp_path / "toy", ["Another judge.", *texts[1:]], labels)
    assert command(*options(other, bert, whole, "--resume")) == 2
    assert f"{whole} was started with dataset.sha256 = " in capsys.readouterr().err


def test_an_arm_can_be_added_later(data, bert, whole, tmp_path):
    output = tmp_path / "run"
    for number, (arm, known) in enumerate(
        [
            ("lops-all", ["lops-all"]),
            ("standard", ["standard", "lops-all"]),
            ("lops", ["standard", "lops", "lops-all"]),
        ]
    ):
        assert command(*options(data, bert, output, *["--resume"][:number], arms=arm)) == 0
        assert list(metrics_of(output)["arms"]) == known
    assert_same_run(output, whole)
