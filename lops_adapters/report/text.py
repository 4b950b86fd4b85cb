"""Text of unknown origin, made safe for a page: it cannot run or break the file."""

import math
import re
from html import escape
from typing import Any

from lops_adapters.formats.cells import valid_text

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def cut(text: str, size: int) -> str:
    """Return at most ``size`` characters of a valid text; a longer text ends in an ellipsis.

    >>> cut("learning order", 6)
    'learn…'
    """
    return valid_text(text if len(text) <= size else text[: size - 1] + "…")


def visible(text: str) -> str:
    r"""Return a text with Unicode's control pictures for control characters, which HTML forbids.

    >>> visible("a\x00b\x7f")
    'a␀b␡'
    """

    def picture(character: re.Match[str]) -> str:
        return "␡" if character[0] == "\x7f" else chr(0x2400 + ord(character[0]))

    return _CONTROL.sub(picture, valid_text(text))


def escaped(value: Any) -> str:
    """Return anything as text between tags or in quotes.

    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(visible(str(value)))


def isolated(value: Any) -> str:
    """Return text of unknown direction in an element that isolates its direction."""
    return f'<bdi dir="auto">{escaped(value)}</bdi>'


def count(number: int) -> str:
    """Return a whole number with separators.

    >>> count(1843)
    '1,843'
    """
    return f"{number:,}"


def threshold(value: float, is_probability: bool) -> str:
    """Return the least confidence that is kept; the percentage of a probability is rounded down.

    >>> threshold(0.99996, True), threshold(0.57, True), threshold(0.25, False)
    ('99.99 %', '57 %', '0.25')
    """
    if not is_probability:
        return f"{round(value, 3) + 0.0:g}"
    return f"{math.floor(1e4 * value + 1e-6) / 100:g} %"


def share(part: int, whole: int) -> str:
    """Return a share in whole percent, rounded to neither 0 nor 100; ``-`` for an empty whole.

    >>> share(1843, 2000), share(1999, 2000), share(0, 0)
    ('92 %', 'over 99 %', '-')
    """
    if not whole:
        return "-"
    rounded = round(100 * part / whole)
    if rounded == 100 and part < whole:
        return "over 99 %"
    return "under 1 %" if rounded == 0 and part else f"{rounded} %"
