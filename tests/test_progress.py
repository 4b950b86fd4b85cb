import io
import logging
import sys

import pytest

from lops_adapters.progress import progress


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
    items = progress(range(3), quiet=quiet, delay=delay, desc="counting", mininterval=0)
    assert list(items) == [0, 1, 2]
    assert ("counting" in stream.getvalue()) == shown


def test_a_bar_leaves_no_line(monkeypatch):
    stream = Terminal(True)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(total=2, delay=0, mininterval=0) as bar:
        bar.update(2)
    assert stream.getvalue().endswith("\r")


def test_long_work_is_lines_of_a_log_elsewhere(monkeypatch, caplog):
    monkeypatch.setattr(sys, "stderr", Terminal(False))
    caplog.set_level(logging.INFO, "lops_adapters")
    now = {"delay": 0, "mininterval": 0, "miniters": 1}
    assert list(progress(range(4), desc="counting", **now)) == [0, 1, 2, 3]
    with progress(unit="rows", desc="reading", **now) as bar:
        bar.update(7)
    assert caplog.messages == [
        *(f"counting: {n} % done, less than a minute left" for n in (25, 50, 75, 100)),
        "reading: 7 rows so far",
    ]
    caplog.clear()
    list(progress(range(4), desc="quick work"))
    list(progress(range(4), desc="quiet", quiet=True, **now))
    assert not caplog.messages
