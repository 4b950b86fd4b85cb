"""Mutants that are named in mutants.json: all fit the package, and a sample is killed."""

import subprocess
import sys

import pytest

from .mutants import ROOT, mutants, stale


def test_every_mutant_changes_a_line_that_is_there():
    assert stale(mutants()) == []
    assert len(mutants()) > 60


@pytest.mark.slow
def test_tests_of_a_room_notice_a_changed_line():
    """Of 20 mutants, each a second; all of them: python -m tests.robustness.mutants."""
    command = [sys.executable, "-m", "tests.robustness.mutants", "--sample"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("20 of 20 mutants killed")
