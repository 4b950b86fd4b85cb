"""Rows outside the sample are scored on Ray as in this process, with every option."""

import sys

import pytest

from lops_adapters.cli import select as command

from ..second_pass import NONE, ONE, TEXT, decisions, write_inputs

# All options of SETTINGS, several at once: each changes the decisions in this process, as
# tests/cli/test_second_pass.py holds, so one that is lost on the way to Ray shows.
TOGETHER = {
    "per class": [*ONE, *NONE, "--per-class", "--source", "source"],
    "near names": [
        *ONE, *NONE, "--source", "source", "--drop-source", "annotator 1",
        "--classes", "sport,money,arts", "--sure", "0.9", "--relabel", "0.6", "--weights",
    ],
    "groups": [*ONE, "--group", "group", "--words", "words.json", "--abstain", "arts"],
    "votes": [
        *TEXT, "--labels", "weak,rule,llm", "--group", "group", "--checked-column", "seen",
        "--weights",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_the_second_pass(ray, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    table = write_inputs(tmp_path)[name]
    command_line = [str(table), *TOGETHER[name], "--probe-rows", "300"]
    command.main([*command_line, "--output", "here"])
    command.main([*command_line, "--output", "there", "--engine", "ray"])
    assert decisions(tmp_path / "here") == decisions(tmp_path / "there")
