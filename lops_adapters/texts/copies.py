"""Texts that occur twice, and empty ones: what cross-validation cannot assess."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

SHOWN = 5  # positions named in a message
Place = Callable[[Sequence[int]], str]  # names texts by their positions


@dataclass(frozen=True)
class Copies:
    """Positions of texts, int64.

    Attributes:
        again: same text and same label as an earlier text.
        torn: same text as an earlier text, but another label.
        blank: empty texts.
    """

    again: np.ndarray
    torn: np.ndarray
    blank: np.ndarray


def copies(texts: Sequence[str], labels: Sequence[Hashable]) -> Copies:
    """Return the repeated and empty texts; an empty text repeats nothing.

    >>> found = copies(["a", "a", "", "a"], [0, 0, 1, 1])
    >>> found.again.tolist(), found.torn.tolist(), found.blank.tolist()
    ([1], [3], [2])
    """
    first: dict[str, Hashable] = {}
    again: list[int] = []
    torn: list[int] = []
    blank: list[int] = []
    for position, (text, label) in enumerate(zip(texts, labels, strict=True)):
        if not text.strip():
            blank.append(position)
        elif text not in first:
            first[text] = label
        else:
            (again if first[text] == label else torn).append(position)
    return Copies(*(np.array(rows, dtype=np.int64) for rows in (again, torn, blank)))


def problems(repeated: Copies, where: Place) -> list[str]:
    """Return sentences about copies whose labels conflict, and empty texts.

    ``where`` names their positions.
    """
    sentences = []
    if len(repeated.torn):
        sentences.append(
            f"Same text as an earlier row, but another label: {_rows(repeated.torn)} "
            f"({where(repeated.torn.tolist())}). At most one of the labels is right."
        )
    if len(repeated.blank):
        sentences.append(
            f"Empty text: {_rows(repeated.blank)} ({where(repeated.blank.tolist())}). These labels "
            "cannot be checked."
        )
    return sentences


def repeats(repeated: Copies) -> list[str]:
    """Return a sentence about copies with the same label, if any."""
    if not len(repeated.again):
        return []
    return [
        f"Same text and same label as an earlier row: {_rows(repeated.again)}. Copies confirm "
        "each other; if their labels may be wrong, keep one of each and run again."
    ]


def positions(places: Sequence[int]) -> str:
    """Return positions for a message, the first of them.

    >>> positions([3]), positions(range(7))
    ('position 3', 'positions 0, 1, 2, 3, 4 and 2 more')
    """
    shown = ", ".join(map(str, places[:SHOWN]))
    rest = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return f"position{'s' if len(places) > 1 else ''} {shown}{rest}"


def _rows(rows: np.ndarray) -> str:
    return f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
