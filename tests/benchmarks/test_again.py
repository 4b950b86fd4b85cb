"""Where results come from, their commands, and whether today's code still gives them."""

import argparse
import json
import re
import runpy
import shlex
import sys

import pytest

from benchmarks import again, protocol, record
from benchmarks.__main__ import main
from lops_adapters.core import LopsError
from lops_adapters.storage import write_json

# Writes half of what it once wrote, as a benchmark does.
FAKE = """
from benchmarks.record import write_result
from lops_adapters.datasets import Corpus
corpus = Corpus("toy", ("1",), ("a",), ("x", "y"))
write_result("kind/cell", {"noise": 0.25, "n": 7, "seconds": 9}, corpus)
"""


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """A stored result whose command is :data:`FAKE`."""
    (tmp_path / "fake.py").write_text(FAKE, encoding="utf-8")
    about = {"command": f"python {tmp_path / 'fake.py'} --tables"}
    stored = {"about": about, "result": {"noise": 0.5, "n": 7, "seconds": 1}}
    write_json_in(tmp_path / "results" / "kind" / "cell.json", stored)
    monkeypatch.setenv("PYTHONPATH", str(again.ROOT))
    for module in (again, record):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(again, "STORED", tmp_path / "again.json")
    monkeypatch.setattr(again, "CHEAP", {"kind/cell": "", "other/cell": ""})
    return tmp_path


def write_json_in(path, value):
    path.parent.mkdir(parents=True)
    write_json(path, value)


def test_a_result_is_measured_again_and_what_moved_is_printed_and_kept(cell, capsys):
    before = (cell / "results" / "kind" / "cell.json").read_bytes()
    command = ["check", "--again", "--only", "kind/*", "--keep", "--work", str(cell / "work")]
    assert main(command) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == "kind/cell: 1 of 2 numbers moved, most noise: 0.5000, now 0.2500"
    kept = json.loads((cell / "again.json").read_text(encoding="utf-8"))["kind/cell"]
    assert (kept["n"], kept["moved"], kept["old"], kept["new"]) == (2, 1, 0.5, 0.25)
    assert (cell / "results" / "kind" / "cell.json").read_bytes() == before


def test_a_command_that_fails_is_said(cell, capsys):
    (cell / "fake.py").write_text("raise SystemExit('error: no such thing')", encoding="utf-8")
    assert again.check_again("kind/*", work=cell / "work") == 1
    assert "kind/cell: failed: exit status 1: error: no such thing" in capsys.readouterr().out
    with pytest.raises(LopsError, match="'none' matches none of kind/cell, other/cell; pass one"):
        again.check_again("none", work=cell / "work")


def test_cheap_results_exist():
    assert [name for name in again.CHEAP if not (record.RESULTS / f"{name}.json").exists()] == []


def test_results_outside_the_history_are_those_that_a_page_names():
    """Their commits are lost; the page of sources says which they are."""
    try:
        outside = again.outside_history()
    except LopsError:
        pytest.skip("not a checkout")
    if again._git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("a shallow checkout")
    page = (again.ROOT / "docs/results/measurements.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^- `(\w+/[\w-]+)`: outside", page, re.MULTILINE)) == set(outside)


class ParsedError(Exception):
    """Ends a module once its options are read."""


@pytest.mark.filterwarnings("ignore:.* found in sys.modules after import:RuntimeWarning")
def test_recorded_commands_parse_today(monkeypatch):
    def stop(self, args=None, namespace=None):
        if self.parse_known_args(args, namespace)[1]:
            raise ValueError("unknown options")
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    recorded = {
        record.read_result(path)["about"]["command"]: path
        for path in sorted(record.RESULTS.rglob("*.json"))
        if path != again.STORED
    }
    of_protocols = {  # which test_protocols.py parses
        cell.command
        for path in protocol.PROTOCOLS.glob("*.json")
        for cell in protocol.read_cells(path)
    }
    commands = {
        re.sub(r"seed \d+", "seed 0", command): path
        for command, path in recorded.items()
        if command not in of_protocols
    }
    assert len(commands) > 200
    for command, path in commands.items():
        words = shlex.split(command)
        assert words[:2] == ["python", "-m"], (path, command)
        if words[2].startswith(again._WRITES_RUN) and "--output" not in words:
            words += ["--output", "O"]  # which a protocol adds
        monkeypatch.setattr(sys, "argv", words[2:])
        try:
            with pytest.raises(ParsedError):
                runpy.run_module(words[2], run_name="__main__")
        except (SystemExit, ValueError) as error:
            pytest.fail(f"{path}: {command}: {error}")
