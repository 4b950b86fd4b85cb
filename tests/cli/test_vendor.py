"""``lops vendor``, as a user runs it."""

import os

from lops_adapters.cli.main import main
from lops_adapters.core import __version__
from lops_adapters.vendoring import copies


def run(capsys, *arguments):
    status = main(["vendor", *map(str, arguments)])
    done = capsys.readouterr()
    return status, done.out, done.err


def test_copy_and_check(tmp_path, capsys):
    path = tmp_path / "lops_core.py"
    assert run(capsys, tmp_path / "order.py")[0] == 0
    assert (tmp_path / "order.py").read_text().split("\n", 1)[1] == copies.core_text()
    status, out, err = run(capsys, tmp_path, "--check")
    assert (status, out) == (2, "")
    assert err == f"error: {path} does not exist; to make one: lops vendor {tmp_path}\n"
    assert run(capsys, tmp_path) == (0, f"{path} is lops_adapters {__version__}\n", "")
    assert run(capsys, tmp_path, "--check") == (0, f"{path} is current\n", "")
    assert run(capsys, tmp_path) == (0, f"{path} is lops_adapters {__version__}, unchanged\n", "")

    path.write_text(path.read_text() + "# mine\n")
    assert run(capsys, tmp_path, "--check") == (
        1,
        f"{path} is edited: lops_adapters {__version__}; installed: {__version__}\n",
        "",
    )
    status, _, err = run(capsys, tmp_path)
    assert status == 2
    assert "was edited after it was copied, and would be lost" in err
    assert path.read_text().endswith("# mine\n")

    path.write_text(
        copies.stamped("import numpy\n", "lops_adapters/core.py").replace(__version__, "0.0.1")
    )
    assert run(capsys, tmp_path, "--check") == (
        1,
        f"{path} is old: lops_adapters 0.0.1; installed: {__version__}\n",
        "",
    )
    assert run(capsys, tmp_path)[0] == 0
    assert run(capsys, tmp_path, "--check")[0] == 0


def test_another_file(tmp_path, capsys):
    (tmp_path / "a.py").write_text("print()\n")
    assert run(capsys, tmp_path / "a.py", "--check")[0] == 2
    status, _, err = run(capsys, tmp_path / "a.py")
    assert (status, "is not a copy made by lops_adapters" in err) == (2, True)
    assert (tmp_path / "a.py").read_text() == "print()\n"


def test_a_link_to_nowhere_is_not_written_through(tmp_path, capsys):
    (tmp_path / "lops_core.py").symlink_to(tmp_path / "elsewhere.py")
    status, _, err = run(capsys, tmp_path)
    assert status == 2
    assert "lops_core.py is not a copy made by lops_adapters, and would be lost" in err
    assert not (tmp_path / "elsewhere.py").exists()


def test_a_pipe_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "lops_core.py")
    status, _, err = run(capsys, tmp_path)
    assert (status, "lops_core.py is a pipe or a device; wanted a file" in err) == (2, True)
    assert not (tmp_path / "lops_core.py").is_file()
