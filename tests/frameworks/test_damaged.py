"""A run whose ``work/`` folder was damaged: it ends in one short message whose advice helps, and
then as a run that nobody disturbed.
"""

import json
import re
import shutil
from itertools import cycle
from pathlib import Path

import pytest

from ..framework_checks import assert_refused, assert_same_run
from ..framework_tools import pretend

pytestmark = pytest.mark.slow


def emptied(path, _):
    path.write_bytes(b"")


def truncated(path, _):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_another_seed(path, folder):
    shutil.copy(folder / "other" / "work" / path.name, path)


def of_another_stage(path, folder):
    names = sorted(file.name for file in (folder / "other" / "work").iterdir())
    shutil.copy(folder / "whole" / "work" / names[names.index(path.name) - 1], path)


def unreadable(path, _):
    path.chmod(0)  # root reads it as before


DAMAGES = (emptied, truncated, of_another_seed, of_another_stage, unreadable)


@pytest.fixture
def folder(whole, tmp_path):
    """``whole`` and ``other``, with the stages of another seed, next to the damaged ``run``."""
    for name in ("run", "whole", "other"):
        shutil.copytree(whole.path, tmp_path / name)
    (tmp_path / "run" / "metrics.json").unlink()
    config = json.loads((whole.path / "config.json").read_text(encoding="utf-8"))
    pretend(tmp_path / "other", config | {"seed": 1})
    return tmp_path


def test_every_damaged_stage_is_told_and_made_again(stand, whole, folder):
    """Each in another way; tests/runs/test_folder.py has every way for one stage."""
    run, damaged = folder / "run", []
    paths = sorted((run / "work").iterdir())
    for path, damage in zip(paths, cycle(DAMAGES), strict=False):
        assert path.suffix == ".npz"
        damage(path, folder)
        if damage is not unreadable or not readable(path):
            damaged.append(path)
    refused = []
    while (outcome := stand.command(run, "--resume")).status:
        assert_refused(outcome, "delete it and resume: it is made again", may_warn=True)
        refused += [Path(re.search(r"error: (\S+\.npz) ", outcome.err)[1])]
        refused[-1].unlink()
        assert len(refused) <= len(damaged)
    assert sorted(refused) == damaged
    for path in (run / "work").iterdir():
        path.chmod(0o600)
    assert_same_run(run, whole.path)


def readable(path):
    try:
        return path.open("rb").close() is None
    except PermissionError:
        return False
