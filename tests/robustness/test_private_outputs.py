"""Who cannot read an input cannot read an output."""

import os
import stat

import pytest

from lops_adapters.cli.main import main

from ..noisy import noisy_rows, write_table

COLUMNS = ["--text", "text", "--label", "weak", "--quiet"]
COMMANDS = {
    "select": ["select", "a.csv", *COLUMNS, "--encoder", "none", "--output", "out",
               "--corrected", "kept.csv"],
    "apply": ["apply", "corrections.csv", "a.csv", "--label", "weak", "--output", "kept.csv"],
}  # fmt: skip


def modes(path):
    return {stat.S_IMODE(entry.stat().st_mode) for entry in [path, *path.rglob("*")]}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("mode", "folder", "file"), [(0o600, 0o700, 0o600), (0o640, 0o750, 0o640),
                                                     (0o644, 0o755, 0o644)])  # fmt: skip
def test_the_modes_of_outputs(here, command, mode, folder, file):
    before = os.umask(0o022)
    try:
        write_table(here / "a.csv", noisy_rows()).chmod(mode)
        (here / "corrections.csv").write_text("row,label\n1,sport\n")
        assert main(COMMANDS[command]) == 0
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    if (here / "out").exists():
        assert modes(here / "out") == {folder, file}
    if (here / "kept.csv").exists():
        assert modes(here / "kept.csv") == {file}


def test_a_table_of_another_group(here, monkeypatch):
    write_table(here / "a.csv", noisy_rows()).chmod(0o640)
    monkeypatch.setattr(os, "getegid", lambda: (here / "a.csv").stat().st_gid + 1)
    assert main(COMMANDS["select"]) == 0
    assert modes(here / "out") == {0o700, 0o600}
