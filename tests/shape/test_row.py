"""The gates of CONTRIBUTING.md: what a row of a table passes, and how large the house is."""

import subprocess
import sys
from pathlib import Path

import pytest

import lops_adapters

FUNCTIONS, FILES, FRAMES, LINES = 595, 95, 12, 42_850
HERE = Path(lops_adapters.__file__).parent


@pytest.mark.slow
def test_what_a_row_passes():
    """In a process of its own, since a second run finds caches filled."""
    command = [sys.executable, "-m", "tests.shape.row"]
    said = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True)
    words = said.stdout.replace(",", "").split()
    functions, files, frames = map(int, words[1::2])
    assert (functions <= FUNCTIONS, files <= FILES, frames <= FRAMES) == (True,) * 3, said.stdout


def test_lines_of_the_package():
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in HERE.rglob("*.py"))
    assert lines <= LINES, "delete as much as you add; CONTRIBUTING.md says where the house stands"
