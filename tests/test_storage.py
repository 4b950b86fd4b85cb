import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

from lops_adapters import storage
from lops_adapters.core import LopsError


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    storage.write_text(path, "old")

    def half(temporary):
        temporary.write_text("ne")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"), storage.replacing(path) as place:
        half(place)
    with pytest.raises(TypeError):
        storage.write_json(path, {"a": object()})
    with pytest.raises(UnicodeEncodeError):
        storage.write_text(path, "x" * 10_000 + "\ud800")
    with pytest.raises(RuntimeError):
        storage.write_csv(path, ["a"], (half(tmp_path / ".scratch") for _ in range(1)))
    (tmp_path / ".scratch").unlink()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_stands_under_the_final_name_before_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"

    def look(temporary):
        temporary.write_text("half")
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".")
        assert not path.exists()

    with storage.replacing(path) as place:
        look(place)
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), storage.replacing(tmp_path / "a.txt"):
        pass
    assert not list(tmp_path.iterdir())


def test_json_has_no_nan(tmp_path):
    path = tmp_path / "a.json"
    value = {
        "a": float("nan"),
        "b": [np.float32("inf"), np.int64(3), np.bool_(True)],
        1: np.array([[1.5, np.nan]]),
        "p": Path("x/y"),
    }
    storage.write_json(path, {**value, "t": (1, None), "s": "ö<&>\n"})
    assert json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail) == {
        "a": None,
        "b": [None, 3, True],
        "1": [[1.5, None]],
        "p": "x/y",
        "t": [1, None],
        "s": "ö<&>\n",
    }
    assert "ö" in path.read_text(encoding="utf-8")


def test_plain_values_are_of_jsons_own_types():
    found = storage.plain({"n": np.int32(2), "f": np.float64(0.5), "s": np.str_("x"), "b": False})
    assert [type(value) for value in found.values()] == [int, float, str, bool]


AWKWARD = ["plain", "a,b", 'say "yes"', "two\nlines", "ünï ☃", "", " spaces ", "'", ";", "\t"]


def test_csv_cells_come_back(tmp_path):
    path = tmp_path / "a.csv"
    rows = [[cell, AWKWARD[-place], place] for place, cell in enumerate(AWKWARD)]
    storage.write_csv(path, ["id, or so", "b", "n"], rows)
    with path.open(encoding="utf-8", newline="") as handle:
        found = list(csv.reader(handle))
    assert found[0] == ["id, or so", "b", "n"]
    assert found[1:] == [[one, two, str(number)] for one, two, number in rows]
    assert b"\r" not in path.read_bytes()


def test_none_is_an_empty_cell(tmp_path):
    storage.write_csv(tmp_path / "a.csv", ["a", "b"], [[None, 1.5]])
    assert (tmp_path / "a.csv").read_text() == "a,b\n,1.5\n"


def test_arrays_come_back(tmp_path):
    path = tmp_path / "a.npz"
    storage.write_arrays(
        path, one=np.arange(3), none=np.zeros((0, 2), dtype=np.float32), scalar=np.array(0.5)
    )
    with np.load(path) as stored:
        assert set(stored.files) == {"one", "none", "scalar"}
        assert stored["none"].shape == (0, 2)
        assert stored["scalar"] == 0.5
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_stands_there_when_it_is_complete(tmp_path):
    folder = tmp_path / "deep" / "model"

    def look(temporary):
        (temporary / "weights").write_text("new")
        assert temporary.parent == folder.parent
        assert temporary.name.startswith(".")

    with storage.replacing_folder(folder) as place:
        look(place)
    assert (folder / "weights").read_text() == "new"
    (folder / "old").write_text("old")
    with storage.replacing_folder(folder) as place:
        look(place)
    assert [path.name for path in folder.iterdir()] == ["weights"]
    assert list(folder.parent.iterdir()) == [folder]


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    with storage.replacing_folder(folder) as temporary:
        (temporary / "weights").write_text("old")
    rename = Path.rename

    def refused(path, target):
        if (path / "new").exists():
            raise PermissionError("not this one")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with (
        pytest.raises(PermissionError, match="not this one"),
        storage.replacing_folder(folder) as temporary,
    ):
        (temporary / "new").write_text("new")
    assert (folder / "weights").read_text() == "old"


def test_a_folder_that_fails_leaves_the_old_one(tmp_path):
    """And nothing of what it had written."""
    folder = tmp_path / "model"
    with storage.replacing_folder(folder) as temporary:
        (temporary / "weights").write_text("old")

    def half(temporary):
        (temporary / "half").write_text("ne")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"), storage.replacing_folder(folder) as place:
        half(place)
    assert list(tmp_path.iterdir()) == [folder]
    assert [path.name for path in folder.iterdir()] == ["weights"]
    with storage.replacing_folder(folder) as temporary:
        (temporary / "weights").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["weights"]
    assert (folder / "weights").read_text() == "new"
    assert list(tmp_path.iterdir()) == [folder]


def test_the_user_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert storage.user_cache() == tmp_path / "lops_adapters"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert storage.user_cache() == tmp_path / "home" / ".cache" / "lops_adapters"


def test_a_full_disk_names_the_file(tmp_path):
    def full():
        raise OSError(28, "No space left on device")

    with (
        pytest.raises(OSError, match=r"No space left on device: '.*a\.txt'"),
        storage.replacing(tmp_path / "a.txt"),
    ):
        full()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [Path.mkdir, getattr(os, "mkfifo", Path.mkdir)])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_file_is_not_replaced(tmp_path, make, linked):
    """A pipe stands for a device, which the superuser could replace."""
    path, there = tmp_path / "a.txt", tmp_path / "there"
    make(there)
    if linked:
        path.symlink_to(there)
    before = sorted(tmp_path.iterdir())
    given = path if linked else there
    with pytest.raises(LopsError, match=f"{given.name} is no file; move it away"):
        storage.write_text(given, "new")
    assert sorted(tmp_path.iterdir()) == before
    assert not there.is_file()
    assert path.is_symlink() == linked


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system names no open pipes")
def test_a_link_to_an_open_pipe_is_refused(tmp_path):
    """As /dev/stdout in a pipeline: the name that it leads to does not exist."""
    path, (read, write) = tmp_path / "out.csv", os.pipe()
    path.symlink_to(f"/proc/self/fd/{write}")
    assert not path.resolve().exists()
    with pytest.raises(LopsError, match=r"out\.csv is no file; move it away"):
        storage.write_text(path, "new")
    os.close(read)
    os.close(write)


def test_a_file_is_not_replaced_by_a_folder(tmp_path):
    path = tmp_path / "model"
    path.write_text("mine")
    with (
        pytest.raises(LopsError, match="model is no folder; move it away"),
        storage.replacing_folder(path),
    ):
        pytest.fail("it begins to write")
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("replaced", [True, False])
def test_a_folder_that_a_killed_process_had_moved_aside(tmp_path, replaced):
    """It goes back, unless the new one already stands in its place."""
    moved = tmp_path / f".model.{2**22 + 1}.ab.old.tmp"
    moved.mkdir()
    (moved / "weights").write_text("old")
    folder = tmp_path / "model"
    if replaced:
        folder.mkdir()
        (folder / "weights").write_text("new")
    storage.restore(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (folder / "weights").read_text() == ("new" if replaced else "old")
