"""The command in its own process, killed in the middle of its work, and resumed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters import arguments, context_encoder
from lops_adapters.context_encoder import ContextEncoder
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass.__main__ import main

from .toys import documents, shrink_presets, write_folder

SECONDS = {"seconds", "seconds_selection"}
ARMS = "standard,lops,lops-all"


def options(data, bert, output, *more, arms=ARMS):
    sizes = ["--preset", "quick", "--device", "cpu", "--arms", arms]
    return ["--dataset", str(data), "--encoder", bert, *sizes, "--output", str(output), "--quiet", *more]


def in_own_process(where, *args):
    command = [sys.executable, str(Path(__file__).with_name("command.py")), where, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def command(*args):
    return arguments.guarded(main)(list(args))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    shrink_presets(monkeypatch)
    monkeypatch.setattr(context_encoder, "_BLOCK", 30)


@pytest.fixture(scope="module")
def whole(data, bert, tmp_path_factory):
    """Run folder of the command that nobody interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        shrink_presets(patch)
        patch.setattr(context_encoder, "_BLOCK", 30)
        assert command(*options(data, bert, output)) == 0
    return output


def names(path):
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())


def numbers(metrics):
    """metrics.json without the seconds."""
    if isinstance(metrics, dict):
        return {key: numbers(value) for key, value in metrics.items() if key not in SECONDS}
    return [numbers(item) for item in metrics] if isinstance(metrics, list) else metrics


def assert_same_run(path, whole):
    assert names(path) == names(whole)
    for name in names(whole):
        if name.endswith((".csv", "class_words.json")) or "model" in name:
            assert (path / name).read_bytes() == (whole / name).read_bytes(), name
        elif name.endswith(".npz"):
            with np.load(path / name) as one, np.load(whole / name) as other:
                for key in set(other.files) - {"seconds"}:
                    assert (one[key] == other[key]).all(), (name, key)
    assert numbers(json.loads((path / "metrics.json").read_text())) == numbers(json.loads((whole / "metrics.json").read_text()))


def stages(path):
    return {file.stem for file in (path / "work").glob("*.npz")}


# Where; the stages done by then, one that is not, and how many of the five blocks of windows are left to encode.
KILLS = {
    "vectors-2": (set(), "representation", 3),
    "classifier-0": ({"representation", "alignment", "standard-selection"}, "standard-classifier", 0),
    "probe-1": ({"standard-classifier", "lops-classifier"}, "lops-all-selection", 0),
}


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, bert, whole, tmp_path, capsys, monkeypatch):
    output = tmp_path / "run"
    killed = in_own_process(where, *options(data, bert, output))
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
    monkeypatch.setattr(ContextEncoder, "encode", lambda self, *args: encoded.append(args) or encode(self, *args))
    assert command(*options(data, bert, output, "--resume")) == 0
    assert len(encoded) == blocks
    assert_same_run(output, whole)


def test_a_finished_run_is_read_not_made_again(data, bert, whole, monkeypatch, capsys):
    files = [whole / name for name in names(whole) if name.endswith(".npz") or "model" in name]
    times = {file: file.stat().st_mtime_ns for file in files}
    for name in ("updates", "predict_prepared"):
        monkeypatch.setattr(TransformerProbe, name, None)
    monkeypatch.setattr("lops_adapters.xclass.pipeline.ContextEncoder", None)
    monkeypatch.setattr("lops_adapters.xclass.pipeline.align", None)
    tables = []
    for _ in range(2):
        assert command(*options(data, bert, whole, "--resume")) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert times == {file: file.stat().st_mtime_ns for file in files}
    for word in ("X-Class on toy, 90 documents", "standard", "lops-all", str(whole)):
        assert word in tables[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--tau", "0.7"], "was started with settings.tau = 0.5, not 0.7"),
        (["--seed", "3"], "was started with seed = 0, not 3"),
        (["--confident", "0.4"], "settings.confident = 0.5, not 0.4"),
        (["--faithful"], "settings.faithful = False, not True"),
    ],
)
def test_other_options_are_refused(data, bert, whole, capsys, more, words):
    assert command(*options(data, bert, whole, "--resume", *more)) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "resume with the same options, or give another --output" in error


def test_other_data_are_refused(data, bert, whole, tmp_path, capsys):
    texts, labels = documents()
    other = write_folder(tmp_path / "toy", ["Another judge.", *texts[1:]], labels)
    assert command(*options(other, bert, whole, "--resume")) == 2
    assert f"{whole} was started with dataset.sha256 = " in capsys.readouterr().err


def test_an_arm_can_be_added_later(data, bert, whole, tmp_path):
    output = tmp_path / "run"
    for number, (arm, known) in enumerate(
        [("lops-all", ["lops-all"]), ("standard", ["standard", "lops-all"]), ("lops", ["standard", "lops", "lops-all"])]
    ):
        assert command(*options(data, bert, output, *["--resume"][:number], arms=arm)) == 0
        assert list(json.loads((output / "metrics.json").read_text())["arms"]) == known
    assert_same_run(output, whole)
