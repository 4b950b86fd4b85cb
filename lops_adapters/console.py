"""What people see: exit statuses, Ctrl-C, warnings, the log, lists, tables, percentages."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from threading import Timer
from typing import TYPE_CHECKING, Any

from lops_adapters.core import LopsError

if TYPE_CHECKING:
    from tqdm import tqdm

BAD_INPUT, STOPPED, NO_READER = 2, 130, 141  # exit statuses; 0 is success
log = logging.getLogger(__name__)
# The last ones turn the direction of a text.
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
_LINES = {"leave": False, "delay": 10.0, "mininterval": 20.0, "maxinterval": 30.0}  # seconds
_BARS = {"leave": False, "delay": 1.0, "dynamic_ncols": True, "mininterval": 0.5}
RESUME = "Stopped. The same command with --resume continues."


_IS_COMMAND = ContextVar("_IS_COMMAND", default=False)


def typed(name: str, value: object = None) -> str:
    """Return an argument as it was typed: ``--per-class`` in a command, ``per_class`` in Python.

    With a value: ``--format jsonl`` and ``format='jsonl'``; ``--no-quotes`` and ``quotes=False``.
    """
    if not _IS_COMMAND.get():
        return name if value is None else f"{name}={value!r}"
    option = f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
    return option if value is None or isinstance(value, bool) else f"{option} {value}"


def as_command(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in another process, whose errors name arguments as a command does."""
    _IS_COMMAND.set(True)
    return work(*arguments)


Main = Callable[[Sequence[str] | None], int]


def guarded(main: Main | str, stopped: str = RESUME) -> Main:
    """Turn a command's errors and warnings into one line each on standard error.

    ``main`` is the command, or the name of the module that has it, imported when it runs.

    A :class:`~lops_adapters.core.LopsError`, and a system error such as a full disk, exit with
    status 2; Ctrl-C prints ``stopped`` and exits with 130; a closed pipe is silent, 141. Errors
    name arguments as they were :func:`typed`.
    """

    def run(arguments: Sequence[str] | None = None) -> int:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            token = _IS_COMMAND.set(True)
            out = sys.stdout and _Visible(sys.stdout)
            try:
                with _stopped_anywhere(), redirect_stdout(out):
                    command: Main = import_module(main).main if isinstance(main, str) else main
                    status = command(arguments)
                if sys.stdout is not None:
                    sys.stdout.flush()
                return status
            except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is flushed at the end
                return NO_READER
            except LopsError as error:
                sys.stderr.write(visible(f"error: {error}\n"))
                return BAD_INPUT
            except OSError as error:
                where = "" if error.filename is None else f"{error.filename}: "
                sys.stderr.write(visible(f"error: {where}{error.strerror or error}\n"))
                return BAD_INPUT
            except KeyboardInterrupt:
                sys.stderr.write(f"{stopped}\n")
                return STOPPED
            finally:
                _IS_COMMAND.reset(token)

    return run


def visible(text: str) -> str:
    r"""Return a text whose control characters are escapes; on a terminal they are commands.

    Tabs and line ends stay.

    >>> visible("sports\x1b[2J\r\n")
    'sports\\x1b[2J\\r\n'
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


class _Visible:
    """Standard output, on which labels and names of files command nothing."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._stream.write(visible(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _stopped_anywhere() -> Iterator[None]:
    """Raise a Ctrl-C again that came where Python cannot raise, such as in a destructor."""
    hook, again = sys.unraisablehook, list[Timer]()

    def note(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            hook(unraisable)
            return
        again.append(Timer(0.1, interrupt_main))  # not from here: it would be lost again
        again[-1].daemon = True
        again[-1].start()

    sys.unraisablehook = note
    try:
        yield
        if again:
            raise KeyboardInterrupt
    finally:
        sys.unraisablehook = hook
        for timer in again:
            timer.cancel()


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    sys.stderr.write(visible(f"warning: {message}\n"))


class _Lines(logging.Formatter):
    """One line per message; warnings look as :func:`guarded` prints them."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        message = visible(super().format(record))
        return f"warning: {message}" if record.levelno >= logging.WARNING else message


def set_up_logging(quiet: bool) -> None:
    """Send the package's log to standard error: progress lines, or warnings only if ``quiet``."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines())
    logger = logging.getLogger("lops_adapters")
    logger.handlers = [handler]
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def progress(
    items: Iterable[Any] | None = None, *, quiet: bool = False, **options: Any
) -> tqdm[Any]:
    """Return a progress bar over ``items``, or to be updated by hand.

    It shows after a second, on a terminal, and leaves no line behind. Elsewhere, work that takes
    longer than twenty seconds logs a line now and then with the time that is left.

    Args:
        items: what is iterated over.
        quiet: no bar.
        options: of tqdm: ``total``, ``desc``, ``unit``, ...
    """
    from tqdm import tqdm  # tqdm.auto warns in a notebook without ipywidgets

    if quiet or _on_terminal() or not log.isEnabledFor(logging.INFO):
        return tqdm(items, disable=quiet or not _on_terminal(), **{**_BARS, **options})
    bar = tqdm(items, file=io.StringIO(), **{**_LINES, **options})
    bar.display = partial(_log_progress, bar)
    return bar


def _log_progress(bar: tqdm[Any], msg: str | None = None, pos: int | None = None) -> None:
    """Log how much is done and how long the rest takes, in place of ``tqdm.display``."""
    if msg is not None or not bar.n:
        return
    what = bar.desc.removesuffix(": ") or "progress"
    if bar.total:
        seconds = (bar.total - bar.n) * bar.format_dict["elapsed"] / bar.n
        log.info("%s: %.0f %% done, %s left", what, 100 * bar.n / bar.total, about(seconds))
    else:
        log.info("%s: %d %s so far", what, bar.n, bar.unit)


def about(seconds: float) -> str:
    """Return a time in words.

    >>> about(40), about(100), about(5000)
    ('less than a minute', 'about 2 minutes', 'about 1.4 hours')
    """
    if seconds < 60:
        return "less than a minute"
    if seconds < 3600:
        return f"about {seconds / 60:.0f} minute{'s' if seconds >= 90 else ''}"
    return f"about {seconds / 3600:.1f} hours"


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def percent(fraction: float | None) -> str:
    """Return a fraction in percent with one decimal, ``-`` for None.

    >>> percent(0.125), percent(None)
    ('12.5 %', '-')
    """
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def chance(probability: float) -> str:
    """Return a probability in percent with one decimal, rounded to neither 0 nor 100.

    >>> chance(9.75e-7), chance(0.25), chance(0.9999), chance(1)
    ('< 0.1 %', '25.0 %', '> 99.9 %', '100.0 %')
    """
    if 0 < probability < 0.001:
        return "< 0.1 %"
    return "> 99.9 %" if 0.999 < probability < 1 else percent(probability)


def unsure(classes: Iterable[Any]) -> str | None:
    """Return what is shown for a suggestion that is the label of a rejected row.

    None (nothing) where labels are no text, or a class has this name.

    >>> unsure(["arts", "law"]), unsure([1, 2]), unsure(["unsure", "sure"])
    ('unsure', None, None)
    """
    names = list(classes)
    return "unsure" if all(isinstance(name, str) and name != "unsure" for name in names) else None


def listed(names: Iterable[object], limit: int = 30) -> str:
    """Join names for a message, at most ``limit`` of them.

    >>> listed(["b", "a"]), listed(range(5), limit=2)
    ('b, a', '0, 1 and 3 more')
    """
    shown = [str(name) for name in names]
    rest = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return (", ".join(shown[:limit]) or "none") + rest


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as text in columns, the first left-aligned, the others right-aligned.

    >>> print(aligned([["arm", "n"], ["lops", "12"]]))
    arm    n
    lops  12
    """
    rows = [[visible(" ".join(cell.split("\n"))) for cell in row] for row in rows]
    first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        aligned_cells = [cell.rjust(width) for cell, width in zip(cells, others, strict=True)]
        lines.append("  ".join([name.ljust(first), *aligned_cells]).rstrip())
    return "\n".join(lines)
