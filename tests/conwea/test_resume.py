"""The command in its own process, killed in the middle of its work, and resumed."""

import json
import signal
from pathlib import Path

import pytest

from lops_adapters import console
from lops_adapters.conwea.__main__ import main
from lops_adapters.probes import context_encoder
from lops_adapters.probes.han import HanProbe

from ..framework_checks import (
    OTHER_OPTIONS,
    assert_not_resumed,
    assert_read_not_made_again,
    assert_same_run,
    metrics_of,
    stages,
)
from ..framework_tools import in_own_process, read_rows, write_folder
from .toys import SEEDS, documents, small_presets

PROGRAM = Path(__file__).with_name("command.py")


def options(data, bert, output, *more):
    sizes = ["--preset", "quick", "--iterations", "2", "--device", "cpu"]
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
    monkeypatch.setattr(context_encoder, "_BLOCK", 40)
    with small_presets():
        yield


@pytest.fixture(scope="module")
def whole(data, bert, tmp_path_factory):
    """Run folder of the command that nobody interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch, small_presets():
        patch.setattr(context_encoder, "_BLOCK", 40)
        assert command(*options(data, bert, output)) == 0
    return output


KILLS = {
    "vectors-2": (set(), "vectors"),
    "classifier-1": ({"standard-0-classifier", "standard-1-selection"}, "standard-1-classifier"),
    "probe-0": ({"standard-1-classifier"}, "lops-0-selection"),
}


@pytest.mark.parametrize("where", KILLS)
def test_killed_and_resumed(where, data, bert, whole, tmp_path, capsys):
    output = tmp_path / "run"
    killed = in_own_process(PROGRAM, where, *options(data, bert, output))
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
    for name in ("updates", "predict_prepared"):
        monkeypatch.setattr(HanProbe, name, None)
    monkeypatch.setattr("lops_adapters.conwea.pipeline.ContextEncoder", None)
    table = assert_read_not_made_again(
        lambda: command(*options(data, bert, whole, "--resume")), whole, capsys
    )
    assert "lops" in table


def test_the_first_table_is_the_last_in_a_process_of_its_own(data, bert, whole, tmp_path, capsys):
    again = in_own_process(PROGRAM, "nowhere", *options(data, bert, whole, "--resume"))
    assert again.returncode == 0, again.stderr
    assert command(*options(data, bert, whole, "--resume")) == 0
    assert capsys.readouterr().out == again.stdout


@pytest.mark.parametrize(
    ("more", "words"),
    [*OTHER_OPTIONS, (["--rule", "ranked"], "settings.rule = 'released', not 'ranked'")],
)
def test_other_options_are_refused(data, bert, whole, capsys, more, words):
    status = command(*options(data, bert, whole, "--resume", *more))
    assert_not_resumed(status, capsys.readouterr().err, words)


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
    assert list(metrics_of(output)["arms"]) == ["lops"]
    assert command(*options(data, bert, output, "--arms", "standard", "--resume")) == 0
    assert list(metrics_of(output)["arms"]) == ["standard", "lops"]
    assert_same_run(output, whole)


def test_tables_are_whole(whole):
    for arm in ("standard", "lops"):
        rows = read_rows(whole / arm / "predictions.csv")
        assert [row["id"] for row in rows] == [f"d{number}" for number in range(72)]
        assert {row["predicted"] for row in rows} <= set(SEEDS)
        assert all(1 / 3 < float(row["probability"]) <= 1 for row in rows)
