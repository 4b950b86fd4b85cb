"""``lops patch``, as a user runs it."""

import pytest

from lops_adapters.cli.main import main
from lops_adapters.vendoring import upstreams

from ..third_party.checkouts import contents, skeleton


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A generated checkout of LOTClass, which the command takes for the real one."""
    upstream = skeleton(tmp_path, "lotclass")
    monkeypatch.setattr(upstreams, "load", lambda name: {"lotclass": upstream}[name])
    return tmp_path


def run(capsys, checkout, *arguments):
    status = main(["patch", "lotclass", str(checkout), *arguments])
    done = capsys.readouterr()
    return status, done.out, done.err


def test_a_whole_life(checkout, capsys):
    before = contents(checkout)
    status, out, err = run(capsys, checkout, "--check")
    assert (status, err) == (0, "")
    glue = "src/lops_shared.py, src/lops_held_out.py, src/lops_lotclass.py"
    files = f"src/trainer.py, src/lops_core.py, {glue}\n"
    assert out == f"Would write: {files}"
    assert contents(checkout) == before

    status, out, err = run(capsys, checkout)
    assert (status, err) == (0, "")
    assert out.startswith(f"Wrote: {files}Set LOPS=1 ")
    assert run(capsys, checkout)[:2] == (
        0,
        "Already patched; nothing to do.\n" + out.split("\n", 1)[1],
    )

    status, out, _ = run(capsys, checkout, "--status")
    assert status == 0
    assert [line.split() for line in out.splitlines()] == [
        ["src/trainer.py", "patched"],
        ["src/lops_core.py", "current"],
        ["src/lops_shared.py", "current"],
        ["src/lops_held_out.py", "current"],
        ["src/lops_lotclass.py", "current"],
    ]

    glue = checkout / "src" / "lops_lotclass.py"
    glue.write_text(glue.read_text() + "# mine\n")
    status, out, _ = run(capsys, checkout, "--reverse")
    assert status == 0
    assert "Left in place, edited since the patch: src/lops_lotclass.py" in out
    glue.unlink()
    assert contents(checkout) == before
    assert run(capsys, checkout, "--reverse")[:2] == (0, "Nothing to remove.\n")
    assert contents(checkout) == before


def test_a_changed_file(checkout, capsys):
    path = checkout / "src" / "trainer.py"
    path.write_text("# changed\n" + path.read_text())
    before = contents(checkout)
    for arguments in ((), ("--check",)):
        status, out, err = run(capsys, checkout, *arguments)
        assert (status, out) == (2, "")
        assert err.startswith(f"error: {path} has blob id ")
        assert err.count("\n") == 1
    assert contents(checkout) == before


def test_another_folder(tmp_path, capsys):
    status = main(["patch", "conwea", str(tmp_path / "nowhere")])
    err = capsys.readouterr().err
    assert status == 2
    assert (
        "git clone https://github.com/dheeraj7596/ConWea && "
        "git -C ConWea checkout 5adb1222e9c07a064f92e67efb84a82ec562b3ae" in err
    )
    assert "nowhere holds no train.py; wanted the top folder of a checkout of ConWea" in err


@pytest.mark.parametrize(
    "arguments", [["patch", "bert", "."], ["patch", "conwea", ".", "--check", "--reverse"]]
)
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error: " in capsys.readouterr().err
