"""Where rows stand, for messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

SHOWN = 5  # places named in a message
Place = tuple[Path, int]  # file, and line or number of a row in it


def shown_places(places: Sequence[Place], unit: str, count: int, several: bool) -> str:
    """Return the places of rows for a message, the first of them.

    >>> shown_places([(Path("a.csv"), 3), (Path("a.csv"), 5)], "line", 2, False)
    'lines 3, 5'
    """
    first = places[:SHOWN]
    if len({path for path, _ in first}) == 1:
        shown = ", ".join(str(number) for _, number in first)
        shown += f" of {first[0][0]}" if several else ""
    else:
        shown = ", ".join(f"{number} of {path}" for path, number in first)
    rest = f" and {count - len(first):,} more" if count > len(first) else ""
    return f"{unit}{'s' if count > 1 else ''} {shown}{rest}"


def rows_of(count: int) -> str:
    """Return a number of rows in words.

    >>> rows_of(1), rows_of(2000)
    ('1 row', '2,000 rows')
    """
    return f"{count:,} row{'' if count == 1 else 's'}"
