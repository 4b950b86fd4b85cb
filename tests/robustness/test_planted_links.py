"""In a folder that others may write, a planted link or pipe leads no write elsewhere."""

import os
import sys
from pathlib import Path

import pytest

from lops_adapters import storage
from lops_adapters.cli.main import main
from lops_adapters.core import LopsError

from ..noisy import noisy_rows, write_table

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
noting: list[bool] = []  # not empty while a test asks
opened: list[str] = []  # names opened for writing


def note(event, arguments):
    if noting and event == "open":
        path, _, flags = arguments
        if isinstance(path, (str, os.PathLike)) and isinstance(flags, int) and flags & WRITES:
            opened.append(str(path))


sys.addaudithook(note)  # it cannot be removed


def commands(folder: Path) -> list[list[str]]:
    """Return commands that write every output next to the table."""
    columns = ["--text", "text", "--label", "weak", "--encoder", "none", "--quiet"]
    table, parts = str(folder / "news.csv"), str(folder / "parts")
    select = ["select", table, *columns, "--output", parts, "--corrected", str(folder / "c.csv")]
    return [
        select,
        [*select, "--force"],
        ["apply", str(folder / "corrections.csv"), table, "--label", "weak", "--output",
         str(folder / "corrected.csv")],
        ["vendor", str(folder)],
    ]  # fmt: skip


def inputs(folder: Path) -> Path:
    folder.mkdir()
    write_table(folder / "news.csv", noisy_rows())
    (folder / "corrections.csv").write_text("row,label\n1,sport\n")
    return folder


def test_links_at_every_name_that_commands_write(tmp_path, monkeypatch):
    """Names are those of a first run by the same process, so a guess cannot be better."""
    monkeypatch.setattr(sys.modules[__name__], "noting", [True])
    first, second = inputs(tmp_path / "first"), inputs(tmp_path / "second")
    for command in commands(first):
        assert main(command) == 0
    names = {Path(name).relative_to(first) for name in opened if name.startswith(str(first))}
    noting.clear()
    planted = {n for n in names if len(n.parts) == 1 and not (second / n).exists()}
    assert {".parts.lock", ".c.csv.lock"} <= set(map(str, planted))
    victims = tmp_path / "victims"
    victims.mkdir()
    for name in planted:
        (victims / name.name).write_text("a precious file")
        (second / name).symlink_to(victims / name.name)
    for command in commands(second):
        main(command)  # a lock that is a link is refused
    assert {path.read_text() for path in victims.iterdir()} == {"a precious file"}


def test_a_lock_that_is_a_link_is_refused(here):
    (here / "victim").write_text("a precious file")
    (here / ".out.lock").symlink_to("victim")
    with (
        pytest.raises(LopsError, match=r"\.out\.lock is a link; wanted a lock .*; delete it"),
        storage.claimed(here / "out"),
    ):
        pass
    assert (here / "victim").read_text() == "a precious file"


def test_a_lock_empties_nothing_and_waits_for_nobody(here):
    (here / ".out.lock").write_text("a hard link")
    os.link(here / ".out.lock", here / "victim")
    os.mkfifo(here / ".pipe.lock")
    with storage.claimed(here / "out", here / "pipe"):
        assert (here / "victim").read_text() == "a hard link"


@pytest.mark.parametrize("end", ["tmp", "old.tmp"])
def test_what_a_killed_process_left_may_be_a_link(here, end):
    """4194305 is beyond the largest process id."""
    (here / "victim").mkdir()
    (here / "victim" / "a").write_text("a precious file")
    (here / f".out.4194305.{end}").symlink_to("victim", target_is_directory=True)
    storage.restore(here / "out")
    assert sorted(path.name for path in here.iterdir()) == ["victim"]
    assert (here / "victim" / "a").read_text() == "a precious file"


def test_temporary_names_are_never_the_same(here):
    names = set()
    for _ in range(20):
        with storage.replacing(here / "a") as temporary:
            temporary.write_text("x")
        with storage.replacing_folder(here / "b") as folder:
            pass
        names |= {temporary.name, folder.name}
    assert len(names) == 40
