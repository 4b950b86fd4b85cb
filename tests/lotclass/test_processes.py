"""Two processes do what one does, as ``accelerate launch`` starts them; the first alone writes."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ..framework_checks import metrics_of, names, stripped
from ..framework_tools import read_rows
from .toys import ARMS

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("command.py")


def launch(*args, processes=2):
    """Run the command in several processes with the environment that ``accelerate launch --cpu``
    and torchrun give; each one's outcome.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    cpu = {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **common, **cpu, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(processes)
    ]  # fmt: skip
    try:
        return [(*process.communicate(timeout=300), process.returncode) for process in started]
    finally:
        for process in started:
            process.kill()


@pytest.fixture(scope="module")
def together(data, bert, finished, tmp_path_factory):
    """A run of two processes on the data and language model of ``finished``: where it is, its
    options, and what each process said.
    """
    import torch

    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("this PyTorch has no gloo, by which processes on CPUs talk")
    folder = tmp_path_factory.mktemp("together")
    scratch = folder / "scratch"
    scratch.mkdir()
    usual = ["--dataset", data, "--encoder", bert, "--preset", "quick", "--device", "cpu"]
    usual += ["--arms", ",".join(ARMS), "--output", folder / "run", "--quiet"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "TMPDIR", str(scratch))
        said = launch(*usual)
        assert [status for *_, status in said] == [0, 0], said
        yield folder / "run", usual, said


def test_the_same_selections_and_predictions(together, finished):
    path = together[0]
    assert [name for name in names(path) if name not in ("report.html",)] == names(finished.path)
    for name in [name for name in names(path) if name.endswith(".csv")]:
        one, other = read_rows(finished.path / name), read_rows(path / name)
        for key in set(one[0]) - {"probability"}:
            assert [row[key] for row in one] == [row[key] for row in other], (name, key)
        if "probability" in one[0]:
            difference = [float(row["probability"]) for row in one] - np.array(
                [float(row["probability"]) for row in other]
            )
            assert np.abs(difference).max() < 1e-3, name
    assert (path / "category_vocabulary.json").read_bytes() == (
        finished.path / "category_vocabulary.json"
    ).read_bytes()
    different = {"processes", "seconds", "seconds_selection"}
    assert stripped(metrics_of(path), different) == stripped(metrics_of(finished.path), different)
    assert metrics_of(path)["processes"] == 2


def test_one_process_writes_and_talks(together):
    path, _, ((out, _, _), (other_out, other_err, _)) = together
    assert "LOTClass on toy: 90 documents" in out
    assert str(path) in out
    assert other_out == ""
    assert "Traceback" not in other_err
    assert {entry.name for entry in path.parent.iterdir()} == {"run", "scratch"}
    assert not [
        entry for entry in (path.parent / "scratch").iterdir() if entry.name.startswith("lops-")
    ]


def test_a_second_start_with_resume(together):
    """All is read; and with a stage missing, both make it again."""
    path, usual, _ = together
    before = {name: (path / name).read_bytes() for name in names(path) if name.endswith(".csv")}
    (path / "work" / "lops-refresh-self-training.npz").unlink()
    said = launch(*usual, "--resume")
    assert [status for *_, status in said] == [0, 0], said
    assert {name: (path / name).read_bytes() for name in before} == before
    assert "lops-refresh" in said[0][0]


def test_an_error_ends_all_processes(together, tmp_path):
    usual = together[1]
    said = launch(*usual[:-3], "--output", tmp_path / "run", "--quiet", "--min-rows", 80)
    assert [status for *_, status in said] == [2, 2], said
    assert "too few documents speak of" in said[0][1]
    assert not (tmp_path / "run").exists()
