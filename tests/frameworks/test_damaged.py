"""A run whose folder was damaged: it ends in one short message whose advice helps, and then as a
run that nobody disturbed.
"""

import json
import re
import shutil
from itertools import cycle
from pathlib import Path

import pytest

from ..framework_checks import assert_refused, assert_same_run, names
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


def gone(path, _):
    path.unlink()


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


@pytest.mark.usefixtures("no_work")
def test_damaged_tables_are_written_again_and_foreign_files_stay(stand, whole, tmp_path):
    """Each table in another way: gone, empty, cut."""
    run = tmp_path / "run"
    shutil.copytree(whole.path, run)
    tables = [path for path in run.rglob("*") if path.suffix in (".csv", ".html")]
    for path, damage in zip(sorted(tables), cycle((gone, emptied, truncated)), strict=False):
        damage(path, None)
    foreign = [run / place / "notes.txt" for place in ("", "work", stand.case.arms[-1])]
    for path in foreign:
        path.write_text("mine")
    status, _, err = stand.command(run, "--resume")
    assert status == 0, err
    assert [path.read_text() for path in foreign] == ["mine"] * 3
    for path in foreign:
        path.unlink()
    assert_same_run(run, whole.path)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("case", ["toy"], indirect=True)
@pytest.mark.parametrize("place", ["config.json", "metrics.json", "predictions.csv", "ARM", "work"])
def test_something_else_in_its_place_is_refused_and_kept(stand, whole, tmp_path, place):
    run = tmp_path / "run"
    shutil.copytree(whole.path, run)
    place = run / place.replace("ARM", stand.case.arms[0])
    if place.is_dir():
        place.rename(tmp_path / "moved")
        place.write_text("mine")
    else:
        place.unlink()
        place.mkdir()
        (place / "notes.txt").write_text("mine")
    before = names(run)
    assert_refused(stand.command(run, "--resume"), str(place), may_warn=True)
    assert names(run) == before


def readable(path):
    try:
        return path.open("rb").close() is None
    except PermissionError:
        return False
