"""``lops``: quick help, a table of commands, errors in one line."""

import subprocess
import sys
from importlib import import_module
from textwrap import dedent

import pytest

from lops_adapters.cli.main import COMMANDS, STOPPED, main
from lops_adapters.core import LopsError, __version__

from ..light import start


def test_help_is_quick_and_light():
    started = start("from lops_adapters.cli.main import main\nmain(['--help'])")
    assert started.packages == {"lops_adapters"}  # without NumPy
    assert started.modules < 60
    for name, text in COMMANDS.items():
        assert f"  {name:<12}{text}" in started.out


def test_ctrl_c_while_modules_are_imported_ends_in_one_line():
    interrupted = """
        import importlib.abc, sys
        from lops_adapters.cli.main import main
        class Interrupted(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "numpy":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Interrupted())
        sys.exit(main(["select", "table.csv"]))
    """
    command = [sys.executable, "-c", dedent(interrupted)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, f"{STOPPED}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module(name, capsys):
    assert callable(import_module(f"lops_adapters.cli.{name}").main)
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert f"usage: lops {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["selct"], "unknown command 'selct'; did you mean select?"),
        (["zzz"], "wanted one of demo, select"),
        (["zzz"], "or a framework: conwea, lotclass, self_training, westclass, xclass"),
        (["xclas"], "unknown command 'xclas'; did you mean xclass?"),
    ],
)
def test_wrong_commands(arguments, word, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert word in capsys.readouterr().err


def test_a_framework_by_its_name(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["xclass", "--help"])
    assert stopped.value.code == 0
    assert "usage: python -m lops_adapters.xclass " in capsys.readouterr().out


def test_no_command_shows_the_help(capsys):
    assert main([]) == 2
    assert "  select      select the labels" in capsys.readouterr().err


def test_stopped_while_a_command_is_imported(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lops_adapters.console.import_module", interrupted)
    assert main(["select", "x.csv"]) == 130
    assert capsys.readouterr().err == "Stopped. No partial output was written.\n"


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"lops_adapters {__version__}\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (LopsError("found this, wanted that"), "error: found this, wanted that\n"),
        (PermissionError(13, "Permission denied", "/x"), "error: /x: Permission denied\n"),
    ],
)
def test_bad_input_is_one_line(error, line, monkeypatch, capsys):
    def fail(_):
        raise error

    monkeypatch.setattr("lops_adapters.cli.vendor.main", fail)
    assert main(["vendor", "x"]) == 2
    assert capsys.readouterr().err == line
