"""What a killed process leaves is repaired by the next; two processes never write one output."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lops_adapters import storage
from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.metrics import finished_arms

from ..noisy import noisy_rows, write_table

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OPTIONS = ["--text", "text", "--label", "weak", "--probe", "linear", "--encoder", "none", "--quiet"]
CONFIG = {"framework": "toy", "settings": {}, "seed": 0, "dataset": {}, "versions": {}}


def python(code, *arguments):
    """Start a program that has Path and storage; it may print."""
    head = "import os, sys, time\nfrom pathlib import Path\nfrom lops_adapters import storage\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_kills_at_random_moments():
    """A few of them; 50 by hand, also of X-Class, with `python -m tests.robustness --kills 50`."""
    pytest.importorskip("transformers")
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness", "--kills", "3"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kills 3, different outputs 0," in done.stdout


KILLED_BETWEEN_RENAMES = """
rename = Path.rename
def once(path, target):
    rename(path, target)
    os.kill(os.getpid(), 9)
Path.rename = once
with storage.replacing_folder(Path(sys.argv[1])) as place:
    (place / "new").write_text("new")
"""


def test_a_kill_between_the_two_renames(here):
    table = write_table(here / "a.csv", noisy_rows())
    assert command.main([str(table), *OPTIONS]) == 0
    before = (here / "a-lops" / "kept.csv").read_bytes()
    assert python(KILLED_BETWEEN_RENAMES, here / "a-lops").wait(60) == -signal.SIGKILL
    assert not (here / "a-lops").exists()
    with pytest.raises(LopsError, match="a-lops already exists; give --force"):
        command.main([str(table), *OPTIONS])
    assert (here / "a-lops" / "kept.csv").read_bytes() == before
    assert command.main([str(table), "--force", *OPTIONS]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["a-lops", "a.csv"]


def test_leftovers_of_running_processes_stay(here):
    running = here / f".a.{os.getpid()}.tmp"
    ended = here / ".a.4194305.tmp"  # beyond the largest process id
    strange = here / ".a.b.tmp"
    for path in (running, ended, strange):
        path.write_text("x")
    storage.restore(here / "a")
    assert sorted(here.iterdir()) == sorted([running, strange])


def test_two_commands_into_one_output(here):
    table = write_table(here / "a.csv", noisy_rows())
    code = """
    with storage.claimed(Path(sys.argv[1])):
        print("claimed", flush=True)
        time.sleep(60)
    """
    other = python(code, here / "a-lops")
    try:
        assert other.stdout.readline() == "claimed\n"
        with pytest.raises(LopsError, match="another process is writing a-lops; wait until it"):
            command.main([str(table), *OPTIONS])
    finally:
        other.kill()
        other.wait()
    assert command.main([str(table), *OPTIONS]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["a-lops", "a.csv"]


def test_two_processes_in_one_run_folder(here):
    code = """
    from lops_adapters.runs.folder import RunFolder
    RunFolder.open(Path(sys.argv[1]), __import__("json").loads(sys.argv[2]), resume=False)
    print("open", flush=True)
    time.sleep(60)
    """
    other = python(code, here / "run", json.dumps(CONFIG))
    try:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(LopsError, match=r"another process is writing .*run; wait until it"):
            RunFolder.open(here / "run", CONFIG, resume=True)
    finally:
        other.kill()
        other.wait()
    for _ in range(2):  # the same process may open it again
        RunFolder.open(here / "run", CONFIG, resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_a_kill_while_config_is_first_written(here, resume):
    (here / "run").mkdir()
    (here / "run" / ".config.json.4194305.tmp").write_text('{"frame')
    run = RunFolder.open(here / "run", CONFIG, resume=resume)
    assert sorted(path.name for path in run.path.iterdir()) == ["config.json", "work"]


@pytest.mark.parametrize("content", ["", "[]", '{"a":', "[" * 100_000, "null"])
def test_a_damaged_config(here, content):
    (here / "run").mkdir()
    (here / "run" / "config.json").write_text(content)
    with pytest.raises(LopsError, match=r"config.json is damaged .*; give another --output"):
        RunFolder.open(here / "run", CONFIG, resume=True)


@pytest.mark.parametrize("name", ["out/clean.csv", "out", "out/deep/clean.csv"])
def test_the_corrected_table_inside_the_folder(here, name):
    table = write_table(here / "a.csv", noisy_rows())
    (here / "out" / "deep").mkdir(parents=True)
    given = [str(table), "--output", "out.csv" if name == "out" else "out", "--force"]
    corrected = "out.csv" if name == "out" else name
    with pytest.raises(LopsError, match=r"--corrected is .*, inside the folder of --output"):
        command.main([*given, "--corrected", corrected, *OPTIONS])


@pytest.mark.parametrize(
    "content", ["", "[]", '{"arms":', '{"arms": 5}', '{"arms": {"lops": 5}}', '{"arms": {"a": {}}}']
)
def test_damaged_metrics(here, content):
    run = RunFolder.open(here / "run", CONFIG, resume=False)
    (run.path / "metrics.json").write_text(content)
    with pytest.raises(LopsError, match=r"metrics.json is damaged .*; delete it and resume"):
        finished_arms(run)


def test_a_full_disk(here, monkeypatch):
    run = RunFolder.open(here / "run", CONFIG, resume=False)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LopsError, match=r"run cannot be written \(No space left on device\)"):
        run.stage("probe", dict)
    with pytest.raises(LopsError, match=r"run cannot be written \(No space left on device\)"):
        run.save_model(run.path / "model", full)
    assert not list(run.path.rglob(".*"))
