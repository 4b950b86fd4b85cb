"""The command in its own process, killed in the middle of its work, and resumed."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters import arguments, context_encoder
from lops_adapters.conwea.__main__ import main
from lops_adapters.probes.han import HanProbe

from .toys import SEEDS, documents, shrink_presets, write_folder

SECONDS = {"seconds", "seconds_selection"}


def options(data, bert, output, *more):
    sizes = ["--preset", "quick", "--iterations", "2", "--device", "cpu"]
    return ["--dataset", str(data), "--encoder", bert, *sizes, "--output", str(output), "--quiet", *more]


def in_own_process(where, *args):
    command = [sys.executable, str(Path(__file__).with_name("command.py")), where, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def command(*args):
    return arguments.guarded(main)(list(args))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    shrink_presets(monkeypatch)
    monkeypatch.setattr(context_encoder, "_BLOCK", 40)


@pytest.fixture(scope="module")
def whole(data, bert, tmp_path_factory):
    """Run folder of the command that nobody interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        shrink_presets(patch)
        patch.setattr(context_encoder, "_BLOCK", 40)
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
        if name.endswith(".csv") or name.endswith("seeds.json") or "model" in name:
            assert (path / name).read_bytes() == (whole / name).read_bytes(), name
        elif name.endswith(".npz"):
            with np.load(path / name) as one, np.load(whole / name) as other:
                for key in set(other.files) - {"seconds"}:
                    assert (one[key] == other[key]).all(), (name, key)
    assert numbers(json.loads((path / "metrics.json").read_text())) == numbers(json.loads((whole / "metrics.json").read_text()))


def stages(path):
    return {file.stem for file in (path / "work").glob("*.npz")}


KILLS = {
    "vectors-2": (set(), "vectors"),
    "classifier-1": ({"standard-0-classifier", "standard-1-selection"}, "standard-1-classifier"),
    "probe-0": ({"standard-1-classifier"}, "lops-0-selection"),
}


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, bert, whole, tmp_path, capsys):
    output = tmp_path / "run"
    killed = in_own_process(where, *options(data, bert, output))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before, missing = KILLS[where]
    assert before <= stages(output)
    assert missing not in stages(output)
    if where == "vectors-2":
        assert json.loads((output / "work" / "vectors.json").read_text())["windows"] > 0
    assert command(*options(data, bert, output)) == 2
    assert "already holds a run; give --resume" in capsys.readouterr().err
    assert command(*options(data, bert, output, "--resume")) == 0
    assert_same_run(output, whole)


def test_a_finished_run_is_read_not_made_again(data, bert, whole, monkeypatch, capsys):
    files = [whole / name for name in names(whole) if name.endswith(".npz") or "model" in name]
    times = {file: file.stat().st_mtime_ns for file in files}
    for name in ("updates", "predict_prepared"):
        monkeypatch.setattr(HanProbe, name, None)
    monkeypatch.setattr("lops_adapters.conwea.pipeline.ContextEncoder", None)
    tables = []
    for _ in range(2):
        assert command(*options(data, bert, whole, "--resume")) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert times == {file: file.stat().st_mtime_ns for file in files}
    assert "lops" in tables[0]
    assert str(whole) in tables[0]


def test_the_first_table_is_the_last_in_a_process_of_its_own(data, bert, whole, tmp_path, capsys):
    again = in_own_process("nowhere", *options(data, bert, whole, "--resume"))
    assert again.returncode == 0, again.stderr
    assert command(*options(data, bert, whole, "--resume")) == 0
    assert capsys.readouterr().out == again.stdout


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--tau", "0.7"], "was started with settings.tau = 0.5, not 0.7"),
        (["--seed", "3"], "was started with seed = 0, not 3"),
        (["--rule", "ranked"], "settings.rule = 'released', not 'ranked'"),
        (["--max-docs", "40"], "settings.max_docs = None, not 40"),
    ],
)
def test_other_options_are_refused(data, bert, whole, capsys, more, words):
    assert command(*options(data, bert, whole, "--resume", *more)) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "resume with the same options, or give another --output" in error


def test_other_data_are_refused(data, bert, whole, tmp_path, capsys):
    texts, labels = documents()
    other = write_folder(tmp_path / "toy", ["Another judge.", *texts[1:]], labels, SEEDS)
    assert command(*options(other, bert, whole, "--resume")) == 2
    assert f"{whole} was started with dataset.sha256 = " in capsys.readouterr().err
    fewer = write_folder(tmp_path / "fewer" / "toy", texts[1:], labels[1:], SEEDS)
    assert command(*options(fewer, bert, whole, "--resume")) == 2
    assert "dataset.documents = 72, not 71" in capsys.readouterr().err


def test_an_arm_can_be_added_later(data, bert, whole, tmp_path):
    output = tmp_path / "run"
    assert command(*options(data, bert, output, "--arms", "lops")) == 0
    assert list(json.loads((output / "metrics.json").read_text())["arms"]) == ["lops"]
    assert command(*options(data, bert, output, "--arms", "standard", "--resume")) == 0
    assert list(json.loads((output / "metrics.json").read_text())["arms"]) == ["standard", "lops"]
    assert_same_run(output, whole)


def test_tables_are_whole(whole):
    for arm in ("standard", "lops"):
        with (whole / arm / "predictions.csv").open(newline="") as handle:
            rows = list(csv.DictReader(handle))
        assert [row["id"] for row in rows] == [f"d{number}" for number in range(72)]
        assert {row["predicted"] for row in rows} <= set(SEEDS)
        assert all(1 / 3 < float(row["probability"]) <= 1 for row in rows)
