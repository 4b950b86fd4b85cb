"""Rows that a person has checked: which ones, and the codes of their labels."""

import difflib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled


def with_checked(
    labelled: Labelled, checked: Any, where: Callable[[Sequence[int]], str]
) -> Labelled:
    """Return samples with what a person says of some.

    Args:
        labelled: n samples.
        checked: position -> label by a person, None: none of the classes; or None: no checked rows.
        where: names samples, given their positions, in a LopsError about no mapping, a position
            outside the samples, a sample without a label, or a label that no sample has.
    """
    if checked is None:
        return labelled
    check_positions(checked, len(labelled.codes))
    codes = labelled.codes
    occur = [labelled.classes[code] for code in sorted(set(codes[codes >= 0].tolist()))]
    code_of = {None: -1, **{label: code for code, label in enumerate(labelled.classes)}}
    checks: dict[int, int] = {}
    for position, label in checked.items():
        if codes[position] < 0:
            raise LopsError(
                f"checked names {where([int(position)])}, which has no label; leave it out, or "
                "give it a label first"
            )
        if not isinstance(label, Hashable) or label not in (None, *occur):
            raise LopsError(_unknown(label, occur, where([int(position)])))
        checks[int(position)] = code_of[label]
    return replace(labelled, checked=checks)


def check_positions(checked: Any, n: int) -> None:
    """Raise a LopsError: checked rows are no mapping, or have a position outside n texts."""
    if not isinstance(checked, Mapping):
        raise LopsError(
            f"checked is {checked!r:.80}; wanted a dict, position of a text to its right label"
        )
    for position in checked:
        is_position = isinstance(position, Integral) and not isinstance(position, bool)
        if not is_position or not 0 <= position < n:
            raise LopsError(
                f"checked has the position {position!r:.40}; wanted one of 0 to {n - 1:,}"
            )


def _unknown(label: Any, known: Sequence[Hashable], where: str) -> str:
    """Return the error about a checked label that no text has."""
    near = difflib.get_close_matches(str(label), list(map(str, known)), n=1)
    meant = f"did you mean {near[0]!r}?" if near else "is it a new class?"
    return (
        f"{where} is checked as {label!r:.80}, a label that no text has; {meant} Wanted one of the "
        "labels, or None (in a file, -) if no class fits; for a new class, relabel its texts first"
    )


def with_copies(labelled: Labelled) -> Labelled:
    """Return samples whose copies with the same label are also checked.

    >>> import numpy as np
    >>> some = Labelled(["x", "x", "x", "y"], np.array([0, 0, 1, 0]), ["a", "b"], checked={0: 1})
    >>> with_copies(some).checked
    {0: 1, 1: 1}
    """
    if not labelled.checked:
        return labelled
    samples, codes = labelled.samples, labelled.codes.tolist()
    by_content = {(samples[row], codes[row]): code for row, code in labelled.checked.items()}
    pairs = enumerate(zip(samples, codes, strict=True))
    return replace(
        labelled, checked={row: by_content[pair] for row, pair in pairs if pair in by_content}
    )
