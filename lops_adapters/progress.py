"""Progress bars, and lines of a log where no terminal is."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm  # tqdm.auto warns in a notebook without ipywidgets

log = logging.getLogger(__name__)
_LINES = {"leave": False, "delay": 10.0, "mininterval": 20.0, "maxinterval": 30.0}  # seconds
_BARS = {"leave": False, "delay": 1.0, "dynamic_ncols": True, "mininterval": 0.5}


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
    if quiet or _on_terminal() or not log.isEnabledFor(logging.INFO):
        return tqdm(items, disable=quiet or not _on_terminal(), **{**_BARS, **options})
    return _LoggedProgress(items, file=io.StringIO(), **{**_LINES, **options})


class _LoggedProgress(tqdm):
    """A progress bar that is lines of a log."""

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Log how much is done and how long the rest takes, as measured."""
        if msg is None and self.n and not self.disable:
            what = self.desc.removesuffix(": ") or "progress"
            if self.total:
                seconds = (self.total - self.n) * self.format_dict["elapsed"] / self.n
                log.info(
                    "%s: %.0f %% done, %s left", what, 100 * self.n / self.total, about(seconds)
                )
            else:
                log.info("%s: %d %s so far", what, self.n, self.unit)
        return True


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
