"""Rows outside the sample are scored on Ray as in this process, with every option."""

import sys

import pytest

from lops_adapters.cli import select as command

from ..second_pass import SETTINGS, decisions, write_inputs


@pytest.mark.parametrize("name", SETTINGS)
def test_the_second_pass(ray, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    command_line = [str(write_inputs(tmp_path)[name]), *SETTINGS[name], "--probe-rows", "300"]
    command.main([*command_line, "--output", "here"])
    command.main([*command_line, "--output", "there", "--engine", "ray"])
    assert decisions(tmp_path / "here") == decisions(tmp_path / "there")
