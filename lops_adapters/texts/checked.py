"""Rows that a person has checked: read, and what they say of the noise."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from lops_adapters.console import percent
from lops_adapters.core import LopsError
from lops_adapters.selection.checking import Rate
from lops_adapters.texts.copies import Place

_NARROW = 0.1  # range of the share of wrong labels, from which on more checks say little


def read_checked(
    checked: Any, names: Sequence[Hashable], labelled: np.ndarray, place: Place
) -> dict[int, Hashable | None]:
    """Return the checked labels by position among the labelled texts; None: no class.

    Args:
        checked: position among all n texts -> label by a person, None: none of the classes; or
            None: no checked rows.
        names: n labels.
        labelled: (m,) positions of the texts that have a label.
        place: names texts, given their positions.

    Raises:
        LopsError: no mapping, a position outside the texts, a text without a label, or a label that
            no text has.

    """
    if checked is None:
        return {}
    if not isinstance(checked, Mapping):
        raise LopsError(
            f"checked is {checked!r:.80}; wanted a dict, position of a text to its right label"
        )
    index = {position: row for row, position in enumerate(labelled.tolist())}
    known = {None: None, **{names[position]: names[position] for position in index}}
    labels: dict[int, Hashable | None] = {}
    for position, label in checked.items():
        is_position = isinstance(position, Integral) and not isinstance(position, bool)
        if not is_position or not 0 <= position < len(names):
            raise LopsError(
                f"checked has the position {position!r:.40}; wanted one of 0 to {len(names) - 1:,}"
            )
        if position not in index:
            raise LopsError(
                f"checked names {place([int(position)])}, which has no label; leave it out, or "
                "give it a label first"
            )
        if not isinstance(label, Hashable) or label not in known:
            raise LopsError(_unknown(label, list(known)[1:], place([int(position)])))
        labels[index[position]] = known[label]
    return labels


def _unknown(label: Any, known: Sequence[Hashable], where: str) -> str:
    """Return the error about a checked label that no text has."""
    near = difflib.get_close_matches(str(label), list(map(str, known)), n=1)
    meant = f"did you mean {near[0]!r}?" if near else "is it a new class?"
    return (
        f"{where} is checked as {label!r:.80}, a label that no text has; {meant} Wanted one of the "
        "labels, or None (in a file, -) if no class fits; for a new class, relabel its texts first"
    )


def with_copies(
    checks: Mapping[int, Hashable | None], samples: Sequence[Hashable], labels: Sequence[Hashable]
) -> dict[int, Hashable | None] | None:
    """Return the checked labels, also of copies with the same label; None: nothing is checked.

    >>> with_copies({0: "b"}, ["x", "x", "x", "y"], ["a", "a", "b", "a"])
    {0: 'b', 1: 'b'}
    """
    if not checks:
        return None
    by_content = {(samples[row], labels[row]): label for row, label in checks.items()}
    pairs = enumerate(zip(samples, labels, strict=True))
    return {row: by_content[pair] for row, pair in pairs if pair in by_content}


def sentences(rate: Rate | None, n: int) -> list[str]:
    """Return what checked rows say of the noise of n rows, and what more of them would bring."""
    if rate is None:
        return []
    rows = "1 row" if rate.checked == 1 else f"{rate.checked:,} rows"
    text = (
        f"Checked: {rows}. Wrong labels: {percent(rate.value)} of all rows "
        f"({percent(rate.low)} to {percent(rate.high)}, 95 % interval)"
    )
    return [f"{text}{what_more_brings(rate, n)}."]


def what_more_brings(rate: Rate, n: int) -> str:
    """Return what checking more of n rows would bring, to append to a sentence; or nothing.

    >>> what_more_brings(Rate(0.1, 0.05, 0.25, 50), 1000)
    '; checking 150 more would halve the range'
    """
    if rate.high - rate.low <= _NARROW:
        return "; this range is narrow enough to stop"
    if 4 * rate.checked <= n:
        return f"; checking {3 * rate.checked:,} more would halve the range"
    return ""
