"""Running a protocol: skips what is done, goes on with what was killed, stops in time, and lets a
failure be a hole.
"""

import json
import os
import subprocess
import sys
import time

import pytest

from benchmarks import collect, runner
from benchmarks.__main__ import main
from lops_adapters.core import LopsError

# Writes what a run folder holds at the end; counts its calls, and sleeps or fails where its name
# says so.
FAKE = """
import argparse, json, os, pathlib, sys, time
parser = argparse.ArgumentParser()
for name in ("--how", "--output", "--data-dir", "--encoder"):
    parser.add_argument(name)
for name in ("--resume", "--quiet"):
    parser.add_argument(name, action="store_true")
options = parser.parse_args()
run = pathlib.Path(options.output)
run.mkdir(exist_ok=True)
stage = run / "stage"
resumed = stage.exists()
(run / "new").write_text(str(os.getpid()))
(run / "new").rename(stage)
if options.how == "slow" and not resumed:
    time.sleep(60)
if options.how == "fails":
    sys.exit("error: no such thing")
(run / "config.json").write_text(json.dumps({"command": "x", "device": "cpu", "seed": 0,
    "settings": {"encoder": options.encoder}}))
(run / "metrics.json").write_text(json.dumps({"resumed": resumed, "data_dir": options.data_dir}))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A function that writes a protocol of such commands and returns its path."""
    for module in (runner, collect):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    (tmp_path / "fake.py").write_text(FAKE, encoding="utf-8")

    def protocol(*hows, more=""):
        lists = {"how": list(hows)}
        template = {
            "kind": "curves",
            "name": "cell-{how}",
            "command": f"python {tmp_path / 'fake.py'} --how {{how}}{more}",
            "lists": lists,
        }
        path = tmp_path / "tiny.json"
        path.write_text(json.dumps({"templates": [template]}), encoding="utf-8")
        return str(path)

    return protocol


def result(tmp_path, how):
    path = tmp_path / "results" / "tiny" / f"cell-{how}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def test_every_cell_gets_its_file_and_what_is_done_is_skipped(place, tmp_path, capsys):
    path, work = place("quick", "other"), tmp_path / "work"
    assert runner.run_protocol(path, only="*-quick", work=work, data_dir=tmp_path) == 0
    assert result(tmp_path, "other") is None
    found = result(tmp_path, "quick")
    assert found["result"] == {"resumed": False, "data_dir": str(tmp_path)}
    assert found["about"]["command"] == f"python {tmp_path / 'fake.py'} --how quick"
    assert not (work / "tiny" / "cell-quick" / "run").exists()
    stamp = (tmp_path / "results" / "tiny" / "cell-quick.json").stat().st_mtime_ns
    capsys.readouterr()
    assert runner.run_protocol(path, work=work) == 0
    said = capsys.readouterr().out
    assert "cell-other" in said
    assert "cell-quick" not in said
    assert "2 of 2 cells are done, 0 failed" in said
    assert (tmp_path / "results" / "tiny" / "cell-quick.json").stat().st_mtime_ns == stamp
    assert runner.list_cells(path, work=work).startswith("done    cell-quick\n")


def test_a_finished_cell_is_said_and_measured_again_elsewhere(place, tmp_path, capsys):
    path, work = place("quick"), tmp_path / "work"
    assert runner.run_protocol(path, work=work) == 0
    stored = tmp_path / "results" / "tiny" / "cell-quick.json"
    before = stored.read_bytes()
    capsys.readouterr()
    assert runner.run_protocol(path, only="cell-*", work=work) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said == f"cell-quick is finished: {stored}; --again measures it again"
    assert runner.run_protocol(path, only="cell-*", work=work, data_dir=tmp_path, again=True) == 0
    new = work / "again" / "tiny" / "cell-quick.json"
    assert str(new) in capsys.readouterr().out
    assert json.loads(new.read_text())["result"]["data_dir"] == str(tmp_path)
    assert stored.read_bytes() == before


def test_an_encoder_in_the_data_folder_is_found_and_named_without_it(place, tmp_path):
    (tmp_path / "base").mkdir()
    path = place("quick", more=" --encoder base")
    runner.run_protocol(path, work=tmp_path / "work", data_dir=tmp_path)
    assert result(tmp_path, "quick")["about"]["settings"] == {"encoder": "base"}
    (tmp_path / "results" / "tiny" / "cell-quick.json").unlink()
    (tmp_path / "base" / "config.json").write_text("{}", encoding="utf-8")
    words = runner._in_data("base", tmp_path), runner._in_data("base", None)
    assert words == (str(tmp_path / "base"), "base")
    runner.run_protocol(path, work=tmp_path / "work", data_dir=tmp_path)
    assert result(tmp_path, "quick")["about"]["settings"] == {"encoder": "base"}


def test_a_failing_cell_is_a_hole_with_a_reason_and_stops_nobody(place, tmp_path, capsys):
    assert runner.run_protocol(place("fails", "quick"), work=tmp_path / "work") == 1
    assert result(tmp_path, "fails") is None
    assert result(tmp_path, "quick") is not None
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last[0] == "1 of 2 cells are done, 1 failed"
    assert "cell-fails: exit status 1: error: no such thing" in last[1]


def test_time_ends_the_command_and_the_next_call_resumes_it(place, tmp_path, capsys):
    path, work = place("slow", "quick"), tmp_path / "work"
    stage = work / "tiny" / "cell-slow" / "run" / "stage"
    for _ in range(40):  # a busy machine may not start the command within half a second
        start = time.monotonic()
        assert runner.run_protocol(path, minutes=0.5 / 60, work=work) == 0
        assert time.monotonic() - start < 30
        assert "minutes are up" in capsys.readouterr().out
        if stage.exists():
            break
    assert result(tmp_path, "slow") is result(tmp_path, "quick") is None
    assert runner.list_cells(path, work=work).splitlines()[0] == "started cell-slow"
    assert runner.run_protocol(path, minutes=0, work=work) == 0
    assert result(tmp_path, "slow") is None
    assert runner.run_protocol(path, work=work) == 0
    assert result(tmp_path, "slow")["result"]["resumed"]


def started(path, work):
    """A runner in a process of its own, and the file of the stage that it has begun."""
    stage = work / "tiny" / "cell-slow" / "run" / "stage"
    command = [sys.executable, "-m", "benchmarks", "run", path, "--work", str(work)]
    process = subprocess.Popen(command, cwd=runner.ROOT, stdout=subprocess.PIPE, text=True)
    while not stage.exists() and process.poll() is None:
        time.sleep(0.05)
    return process, stage


def test_a_command_whose_runner_was_killed_keeps_its_folder_for_itself(place, tmp_path, capsys):
    """A second runner skips the cell while the orphan lives, and resumes it afterwards."""
    path, work = place("slow"), tmp_path / "work"
    first, stage = started(path, work)
    orphan = int(stage.read_text())
    first.kill()
    first.communicate()
    assert runner.run_protocol(path, work=work) == 0
    assert "skipped: another process runs it" in capsys.readouterr().out
    os.kill(orphan, 9)
    deadline = time.monotonic() + 20
    while result(tmp_path, "slow") is None and time.monotonic() < deadline:
        runner.run_protocol(path, work=work)
    assert result(tmp_path, "slow")["result"]["resumed"]


def test_a_runner_that_is_asked_to_end_takes_its_command_along(place, tmp_path):
    path, work = place("slow"), tmp_path / "work"
    first, _ = started(path, work)
    first.terminate()
    first.communicate(timeout=30)
    assert first.returncode == 143
    assert runner.run_protocol(path, work=work) == 0
    assert result(tmp_path, "slow")["result"]["resumed"]


def test_a_pattern_without_a_cell_is_refused(place):
    with pytest.raises(
        LopsError, match=r"--only 'nothing\*' matches no cell; pass a pattern such as 'cell-quick'"
    ):
        runner.run_protocol(place("quick"), only="nothing*")


def test_the_list_runs_nothing(place, tmp_path, capsys):
    assert main(["run", place("quick"), "--list", "--work", str(tmp_path / "work")]) == 0
    assert capsys.readouterr().out.startswith("open    cell-quick\n        python ")
    assert result(tmp_path, "quick") is None
