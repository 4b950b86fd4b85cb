"""Patching generated checkouts: reversible to the byte, idempotent, and refused if unexpected."""

import ast
import os
import stat
import subprocess
import tempfile
from dataclasses import replace

import pytest

from lops_adapters.core import LopsError
from lops_adapters.vendoring import patching, upstreams
from lops_adapters.vendoring.copies import stamped

from .checkouts import NAMES, contents, hunks_of, skeleton


def states(root, upstream):
    return dict(patching.status(root, upstream))


def change(root, upstream, old, new):
    path = root / upstream.file
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name, line_end, tmp_path):
    upstream = skeleton(tmp_path, name, line_end)
    before = contents(tmp_path)
    assert set(states(tmp_path, upstream).values()) == {"original", "missing"}

    written = patching.apply(tmp_path, upstream)
    assert set(written) == {upstream.file, *upstream.companions()}
    patched = contents(tmp_path)
    assert set(patched) == set(before) | set(upstream.companions())
    assert set(states(tmp_path, upstream).values()) == {"patched", "current"}
    ast.parse(patched[upstream.file])
    old, new = (where[upstream.file].splitlines(keepends=True) for where in (before, patched))
    inserted = hunks_of(upstream)
    assert len(new) == len(old) + sum(len(hunk.lines) for hunk in inserted)
    assert all(line.endswith(line_end.encode()) for line in new)
    shift = 0
    for hunk in inserted:
        assert new[hunk.line + shift].rstrip() == hunk.lines[0]
        assert new[hunk.line + shift - 1] == old[hunk.line - 1]
        shift += len(hunk.lines)

    assert patching.apply(tmp_path, upstream) == []
    assert contents(tmp_path) == patched
    restored, left = patching.reverse(tmp_path, upstream)
    assert set(restored) == {upstream.file, *upstream.companions()}
    assert left == []
    assert contents(tmp_path) == before
    assert patching.reverse(tmp_path, upstream) == ([], [])
    patching.apply(tmp_path, upstream)
    assert contents(tmp_path) == patched


def test_the_file_keeps_its_mode(tmp_path):
    upstream = skeleton(tmp_path, "conwea")
    (tmp_path / "train.py").chmod(0o754)
    patching.apply(tmp_path, upstream)
    assert stat.S_IMODE((tmp_path / "train.py").stat().st_mode) == 0o754
    assert not list(tmp_path.glob(".*"))


def test_an_unknown_tree_is_refused(tmp_path):
    """The skeleton as the real repository: another file of the right name."""
    skeleton(tmp_path, "westclass")
    before = contents(tmp_path)
    real = upstreams.load("westclass")
    with pytest.raises(LopsError) as error:
        patching.apply(tmp_path, real)
    blob = patching.blob_id(before["main.py"])
    for word in (real.blob, real.commit, "WeSTClass", blob, real.repository):
        assert word in str(error.value)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_tree_is_refused(name, tmp_path):
    upstream = skeleton(tmp_path, name)
    change(tmp_path, upstream, b"pass  # 3\n", b"print(3)\nprint(4)\n")
    before = contents(tmp_path)
    with pytest.raises(LopsError, match="Check out that commit"):
        patching.apply(tmp_path, upstream)
    assert states(tmp_path, upstream)[upstream.file] == "changed"
    assert contents(tmp_path) == before


@pytest.mark.parametrize("damage", [(b"+16,4", b"+16,5"), (b"+    import", b"-    import")])
def test_a_damaged_patch_is_refused(damage, tmp_path):
    upstream = skeleton(tmp_path, "conwea")
    before = contents(tmp_path)
    damaged = replace(upstream, patch=upstream.patch.replace(*damage))
    with pytest.raises(LopsError, match="the patch of ConWea is damaged; install lops_adapters"):
        patching.apply(tmp_path, damaged)
    assert contents(tmp_path) == before


def test_without_git_nothing_is_written(tmp_path, monkeypatch):
    upstream = skeleton(tmp_path, "conwea")
    before = contents(tmp_path)
    monkeypatch.setenv("PATH", "")
    for act in (patching.apply, patching.reverse):
        with pytest.raises(LopsError, match=r"lops patch needs git, .*; install git"):
            act(tmp_path, upstream)
    assert contents(tmp_path) == before


def test_a_temporary_folder_inside_a_repository_changes_nothing(tmp_path, monkeypatch):
    """There git apply would skip files that are not of the repository."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "repo")], check=True)
    (tmp_path / "repo" / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "repo" / "temporary"))
    (tmp_path / "checkout").mkdir()
    upstream = skeleton(tmp_path / "checkout", "conwea")
    patching.apply(tmp_path / "checkout", upstream)
    assert states(tmp_path / "checkout", upstream)["train.py"] == "patched"


def test_git_settings_of_the_user_change_nothing(tmp_path, monkeypatch):
    upstream = skeleton(tmp_path, "conwea", "\r\n")
    before = contents(tmp_path)
    settings = tmp_path / ".gitconfig"
    settings.write_text("[core]\n\tautocrlf = true\n[apply]\n\twhitespace = fix\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    patching.apply(tmp_path, upstream)
    patching.reverse(tmp_path, upstream)
    settings.unlink()
    assert contents(tmp_path) == before


def test_work_after_patching_stays(tmp_path):
    upstream = skeleton(tmp_path, "xclass")
    patching.apply(tmp_path, upstream)
    change(tmp_path, upstream, b"pass  # 3\n", b"pass  # three\n# four\n")
    assert states(tmp_path, upstream)[upstream.file] == "patched, changed"
    assert patching.apply(tmp_path, upstream) == []
    patching.reverse(tmp_path, upstream)
    assert b"# three" in (tmp_path / upstream.file).read_bytes()
    assert b"lops" not in (tmp_path / upstream.file).read_bytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"import lops_conwea\n", b"import lops_conwea, time\n"),
        (b"# <<< lops_adapters\n", b""),
        (b"pass  # 3\n", b"# >>> lops_adapters\n"),
    ],
)
def test_an_edited_patch_is_refused(old, new, tmp_path):
    upstream = skeleton(tmp_path, "conwea")
    patching.apply(tmp_path, upstream)
    path = tmp_path / "train.py"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    edited = contents(tmp_path)
    assert states(tmp_path, upstream)["train.py"] == "patch edited"
    for act in (patching.apply, patching.reverse):
        with pytest.raises(LopsError, match=r"were edited .* git checkout -- train\.py"):
            act(tmp_path, upstream)
    assert contents(tmp_path) == edited


def test_an_edited_copy_is_never_lost(tmp_path):
    upstream = skeleton(tmp_path, "conwea")
    patching.apply(tmp_path, upstream)
    glue = tmp_path / "lops_conwea.py"
    glue.write_text(glue.read_text() + "# mine\n")
    assert states(tmp_path, upstream)["lops_conwea.py"] == "edited"
    restored, left = patching.reverse(tmp_path, upstream)
    assert "lops_conwea.py" not in restored
    assert left == ["lops_conwea.py"]
    before = contents(tmp_path)
    with pytest.raises(
        LopsError, match=r"lops_conwea\.py was edited after it was copied, and would be lost"
    ):
        patching.apply(tmp_path, upstream)
    assert contents(tmp_path) == before


def test_a_file_of_theirs_in_the_way_is_never_lost(tmp_path):
    upstream = skeleton(tmp_path, "conwea")
    (tmp_path / "lops_core.py").write_text("print()\n")
    with pytest.raises(LopsError, match="is not a copy made by lops_adapters"):
        patching.apply(tmp_path, upstream)
    assert states(tmp_path, upstream)["train.py"] == "original"


def test_old_copies_are_renewed(tmp_path):
    upstream = skeleton(tmp_path, "conwea")
    patching.apply(tmp_path, upstream)
    (tmp_path / "lops_shared.py").write_text(
        stamped("print()\n", "lops_adapters/vendoring/glue/lops_shared.py")
    )
    assert states(tmp_path, upstream)["lops_shared.py"] == "old"
    assert patching.apply(tmp_path, upstream) == ["lops_shared.py"]
    assert states(tmp_path, upstream)["lops_shared.py"] == "current"


def test_a_killed_patching_is_finished_by_the_next(tmp_path, monkeypatch):
    upstream = skeleton(tmp_path, "conwea")
    before = contents(tmp_path)
    replaces = patching._replace

    def killed(path, data):
        if path.name == "train.py":
            raise KeyboardInterrupt
        replaces(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(patching, "_replace", killed)
        with pytest.raises(KeyboardInterrupt):
            patching.apply(tmp_path, upstream)
    assert states(tmp_path, upstream) == {
        "train.py": "original",
        **dict.fromkeys(upstream.companions(), "current"),
    }
    assert patching.apply(tmp_path, upstream) == ["train.py"]
    patching.reverse(tmp_path, upstream)
    assert contents(tmp_path) == before


def hostile(path, kind, outside):
    """Put something else in the place of a file, whose contents are outside."""
    if path.exists():
        path.rename(outside)
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        with path.open("wb") as file:
            file.truncate(2**40)


@pytest.mark.parametrize("kind", ["link", "pipe", "huge"])
@pytest.mark.parametrize("which", ["file", "companion"])
def test_a_hostile_checkout(tmp_path, kind, which):
    """Nothing outside is read to its end or written; a dangling link is not filled."""
    root = tmp_path / "checkout"
    root.mkdir()
    upstream = skeleton(root, NAMES[0])
    name = upstream.file if which == "file" else next(iter(upstream.companions()))
    outside = tmp_path / "outside"
    hostile(root / name, kind, outside)
    before = outside.read_bytes() if outside.exists() else None
    for act in (patching.apply, patching.reverse, patching.status):
        with pytest.raises(LopsError, match=r"leads out of|is no file, or a huge one"):
            act(root, upstream)
    assert (outside.read_bytes() if outside.exists() else None) == before
