"""What a terminal shows: errors, warnings, the log, aligned tables, progress bars."""

import contextvars
import io
import logging
import signal
import subprocess
import sys
import time
import warnings

import pytest

from lops_adapters import console
from lops_adapters.core import LopsError, LopsWarning


def test_a_pipe_that_is_closed_is_silent():
    program = (
        "import sys\nfrom lops_adapters import console\n"
        "def main(_):\n    print('x' * 10**6)\n    return 0\n"
        "sys.exit(console.guarded(main)(None))\n"
    )
    done = subprocess.run(
        [
            "bash",
            "-c",
            '"$0" -c "$1" | head -c 3; echo " ${PIPESTATUS[0]}"',
            sys.executable,
            program,
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("xxx 141\n", "")


def test_arguments_as_they_were_typed():
    """With a value, as in Python or as an option; the same in another process."""
    asked = [("header_row", 3), ("keep_na", True), ("quotes", False), ("text",)]
    said = [console.typed(*one) for one in asked]
    assert said == ["header_row=3", "keep_na=True", "quotes=False", "text"]
    said = list[str]()
    assert (
        console.guarded(lambda _: said.extend(console.typed(*one) for one in asked) or 0)([]) == 0
    )
    assert said == ["--header-row 3", "--keep-na", "--no-quotes", "--text"]
    there = contextvars.copy_context()
    assert there.run(console.as_command, lambda: console.typed(*asked[0])) == "--header-row 3"
    assert console.typed("text") == "text"


def test_errors_are_one_line(capsys):
    def bad(argv):
        raise LopsError(f"found {argv}; wanted better")

    assert console.guarded(bad)(["x"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "error: found ['x']; wanted better\n"
    assert captured.out == ""


def test_other_exceptions_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        console.guarded(lambda argv: 1 // 0)(None)


def test_interrupted(capsys):
    def interrupted(argv):
        raise KeyboardInterrupt

    assert console.guarded(interrupted)(None) == 130
    assert "The same command with --resume continues." in capsys.readouterr().err


def test_warnings_are_one_line_and_only_inside(capsys):
    def warns(argv):
        warnings.warn("seeds are few", LopsWarning, stacklevel=1)
        return 0

    before = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert console.guarded(warns)(None) == 0
    assert capsys.readouterr().err == "warning: seeds are few\n"
    assert warnings.showwarning is before


@pytest.mark.parametrize("quiet", [True, False])
def test_the_log(capsys, quiet):
    logger = logging.getLogger("lops_adapters.some.room")
    for _ in range(2):
        console.set_up_logging(quiet)
    logger.info("working")
    logger.warning("odd")
    said = "warning: odd\n"
    assert capsys.readouterr().err == (said if quiet else f"working\n{said}")


class Terminal(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "quiet", "delay", "shown"),
    [
        (True, False, 0, True),
        (True, True, 0, False),
        (False, False, 0, False),  # a log file has no use for bars
        (True, False, 30, False),  # quick work has none
    ],
)
def test_a_bar_shows_on_a_terminal_if_work_takes_time(monkeypatch, terminal, quiet, delay, shown):
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    items = console.progress(range(3), quiet=quiet, delay=delay, desc="counting", mininterval=0)
    assert list(items) == [0, 1, 2]
    assert ("counting" in stream.getvalue()) == shown


def test_a_bar_leaves_no_line(monkeypatch):
    stream = Terminal(True)
    monkeypatch.setattr(sys, "stderr", stream)
    with console.progress(total=2, delay=0, mininterval=0) as bar:
        bar.update(2)
    assert stream.getvalue().endswith("\r")


def test_long_work_is_lines_of_a_log_elsewhere(monkeypatch, caplog):
    monkeypatch.setattr(sys, "stderr", Terminal(False))
    caplog.set_level(logging.INFO, "lops_adapters")
    now = {"delay": 0, "mininterval": 0, "miniters": 1}
    assert list(console.progress(range(4), desc="counting", **now)) == [0, 1, 2, 3]
    with console.progress(unit="rows", desc="reading", **now) as bar:
        bar.update(7)
    assert caplog.messages == [
        *(f"counting: {n} % done, less than a minute left" for n in (25, 50, 75, 100)),
        "reading: 7 rows so far",
    ]
    caplog.clear()
    list(console.progress(range(4), desc="quick work"))
    list(console.progress(range(4), desc="quiet", quiet=True, **now))
    assert not caplog.messages


@pytest.fixture
def heard():
    """SIGINT raises, also in a process that a shell started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_a_stop_inside_a_destructor_stops(capsys):
    """Python prints a traceback there, and goes on."""

    class Destroyed:
        def __del__(self):
            raise KeyboardInterrupt

    def main(arguments):
        one = Destroyed()
        del one
        for _ in range(arguments):
            done.append(time.sleep(0.05))
        return 0

    hook = sys.unraisablehook
    for steps in (0, 200):
        done = []
        assert console.guarded(main, "Stopped.")(steps) == 130
        assert len(done) < 100
        assert capsys.readouterr().err == "Stopped.\n"
    assert sys.unraisablehook is hook


@pytest.mark.filterwarnings("always::lops_adapters.core.LopsWarning")
def test_control_characters_command_no_terminal(capsys):
    """Of labels and of the names of columns and files."""

    def said(argv):
        sys.stdout.write(console.aligned([["a\x1b[2J", "1"], ["b\nc", "2"]]) + " \u202e.\n")
        warnings.warn(LopsWarning("w\x07"), stacklevel=2)
        raise LopsError("e\r\x9b")

    assert console.guarded(said)([]) == 2
    captured = capsys.readouterr()
    assert captured.out == "a\\x1b[2J  1\nb c       2 \\u202e.\n"
    assert captured.err == "warning: w\\x07\nerror: e\\r\\x9b\n"
