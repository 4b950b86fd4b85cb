"""Progress bars; what else console.py does is tested where frameworks and commands use it."""

import io
import sys

import pytest

from lops_adapters import console


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
