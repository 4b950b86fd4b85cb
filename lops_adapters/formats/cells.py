"""Values of cells: missing ones; as text or JSON, with lone surrogates replaced."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from lops_adapters import storage

NO_CLASS = "-"  # in place of a checked label: none of the classes
# What pandas and R write, and read as a missing value, in files of text; errors of spreadsheets.
_ERRORS = "#N/A #REF! #VALUE! #DIV/0! #NAME? #NUM! #NULL! #SPILL! #CALC! #FIELD! #GETTING_DATA"
NA = frozenset(["NA", "N/A", "n/a", "<NA>", "NULL", "null", "NaN", "nan", "None", *_ERRORS.split()])
NUMBER = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]*))?")  # its parts need no second look
_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")  # that begin a formula in a spreadsheet


def is_missing(value: object) -> bool:
    """Return whether a cell is None or NaN.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_unlabelled(label: Any) -> bool:
    """Return whether a label is None, NaN, pandas.NA or a blank string.

    >>> [is_unlabelled(label) for label in (None, float("nan"), " ", "a", 0)]
    [True, True, True, False, False]
    """
    if isinstance(label, str):
        return not label.strip()
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 (NaN and NaT differ from themselves)
    except (TypeError, ValueError, RuntimeError):  # pandas.NA, arrays and tensors are neither
        return True


def valid_text(text: str) -> str:
    r"""Return a text that UTF-8 can encode: surrogate pairs joined, lone surrogates replaced.

    >>> valid_text("half \ud83d of an emoji")
    'half � of an emoji'
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def valid(value: Any) -> Any:
    """Return a value of JSON with :func:`valid_text` of every string in it."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [valid(item) for item in value]
    if isinstance(value, dict):
        return {valid_text(key): valid(item) for key, item in value.items()}
    return value


def cell_text(value: Any) -> str:
    """Return a value as the text of a CSV cell: empty for None, JSON for lists and objects.

    >>> [cell_text(value) for value in ("a", None, 1.5, True, ["x"])]
    ['a', '', '1.5', 'true', '["x"]']
    """
    if isinstance(value, str):
        return valid_text(value)
    if value is None:
        return ""
    return json_text(value) if isinstance(value, bool | list | dict) else str(value)


def without_formula(value: Any) -> str:
    """Return :func:`cell_text`, with an apostrophe before the sign of a formula.

    >>> [without_formula(value) for value in ("=1+1", "-2.5", "-x", "@x", "a")]
    ["'=1+1", '-2.5', "'-x", "'@x", 'a']
    """
    text = cell_text(value)
    if not text.startswith(_SIGNS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def content(value: Any) -> str:
    """Return a text or an id without what files and spreadsheets change in it: spaces, line ends.

    >>> [content(value) for value in (" one\\r\\n two ", 7, None, float("nan"))]
    ['one two', '7', '', '']
    """
    return "" if is_unlabelled(value) else " ".join(cell_text(value).split())


def cell_texts(values: Iterable[Any], escape: bool = False) -> list[str]:
    """Return the cells of a row as texts; ``escape``: without formulas.

    >>> cell_texts(["a", None, "=b"]), cell_texts(["=b"], escape=True)
    (['a', '', '=b'], ["'=b"])
    """
    if escape:
        return list(map(without_formula, values))
    return [v if v.__class__ is str and v.isascii() else cell_text(v) for v in values]


def spelling(value: Any) -> str:
    """Return a cell without what a spreadsheet or a data frame changes in it.

    These are an apostrophe before a formula, spaces around it, case, and zeros of a number.

    >>> [spelling(cell) for cell in ("'=a", " TRUE ", "2.0", "04", "-1.00", -1, "1.50", "v2.0")]
    ['=a', 'true', '2', '4', '-1', '-1', '1.5', 'v2.0']
    """
    text = cell_text(value).removeprefix("'").strip().casefold()
    number = NUMBER.fullmatch(text)
    if number is None:
        return text
    sign, digits, rest = number.groups("")
    point = f".{rest}".rstrip("0").rstrip(".")
    return f"{sign.strip('+')}{digits.lstrip('0') or '0'}{point}"


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number without a point."""
    number = NUMBER.fullmatch(text)
    return number is not None and number[1] != "+" and number[3] is None


def whole(text: str) -> str:
    """Return a whole number without the point that data frames add; other texts as they are.

    >>> [whole(text) for text in ("3.0", "-1.", "03.00", "3.5", "v3.0")]
    ['3', '-1', '03', '3.5', 'v3.0']
    """
    number, point, rest = text.partition(".")
    return number if point and not rest.strip("0") and is_whole(number) else text


class Names:
    """Known names, found by :func:`spelling`.

    >>> known = Names(["2.0", "B", "b", "4.0"])
    >>> known.meant("2"), known.meant("b"), known.meant(" B "), known.alike(" B "), known.meant("A")
    ('2.0', 'b', None, ['B', 'b'], None)
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._alike: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            self.add(name)

    def add(self, name: str) -> None:
        """Add a name that is not known yet."""
        self._alike.setdefault(spelling(name), []).append(name)

    def alike(self, text: str) -> list[str]:
        """Return the names that a text spells, in their order."""
        return self._alike.get(spelling(text), [])

    def meant(self, text: str) -> str | None:
        """Return the one name that a text is or spells; None: none, or several."""
        alike = self.alike(text)
        return text if text in alike else alike[0] if len(alike) == 1 else None


def single(cell: Any) -> Any:
    """Return the label in a list of one label; an empty list is no label.

    Label Studio's choices are such a list.

    >>> single(["a"]), single([]), single({"choices": ["a"]}), single(["a", "b"])
    ('a', None, 'a', ['a', 'b'])
    """
    if isinstance(cell, dict) and list(cell) == ["choices"]:
        cell = cell["choices"]
    if not isinstance(cell, list) or len(cell) > 1:
        return cell
    return cell[0] if cell else None


def number_text(value: Any) -> str:
    """Return an added value as the text of a CSV cell: six digits, 1 and 0 for True and False.

    >>> [number_text(value) for value in (0.12345678, 1234567.0, True, "a")]
    ['0.123457', '1234567', '1', 'a']
    """
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.6g}"
    return cell_text(value)


def json_text(value: Any) -> str:
    """Return a value as JSON; a lone surrogate is escaped."""
    text = json.dumps(storage.plain(value), ensure_ascii=False, default=str)
    if valid_text(text) == text:
        return text
    return json.dumps(storage.plain(value), default=str)
