"""Which labels are no class: missing ones, -1 among integer codes, and values that users name."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence, Set
from numbers import Integral
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_unlabelled

_CODE = re.compile(r"-?[0-9]+")


def named(abstain: Any) -> frozenset[Hashable] | None:
    """Return the values that ``select(abstain=...)`` names; None: by default.

    Raises:
        LopsError: a value that cannot be a label.

    >>> named(-1), sorted(named(["?", "skip"])), named(None)
    (frozenset({-1}), ['?', 'skip'], None)
    """
    if abstain is None:
        return None
    many = isinstance(abstain, Iterable) and not isinstance(abstain, str | bytes)
    try:
        return frozenset(abstain if many else [abstain])
    except TypeError:
        raise LopsError(
            f"abstain is {abstain!r:.80}; wanted a label that is no class, or a list of them"
        ) from None


def abstaining(labels: Sequence[Hashable], values: Set[Hashable] | None = None) -> np.ndarray:
    """Return which labels are no class, (n,) bool.

    None, NaN and blank strings are no class. By default, neither is -1, if the labels are integer
    codes from 0 with at least two other classes: label models and frameworks use it so.

    Args:
        labels: n labels, or texts of integers.
        values: further labels that are no class, instead of -1.

    >>> abstaining([0, 1, -1, 1]).tolist(), abstaining(["-1", "1", "", "1"]).tolist()
    ([False, False, True, False], [False, False, True, False])
    >>> abstaining(["a", "b", "?"], {"?"}).tolist()
    [False, False, True]
    """
    missing = np.fromiter(map(is_unlabelled, labels), dtype=bool, count=len(labels))
    if values is None:
        known = {label for label, gone in zip(labels, missing.tolist(), strict=True) if not gone}
        values = minus_one(known)
    if not values:
        return missing
    return missing | np.fromiter((label in values for label in labels), bool, count=len(labels))


def minus_one(known: Set[Hashable]) -> Set[Hashable]:
    """Return the label -1 if it is no class among the distinct labels, else nothing.

    >>> minus_one({-1, 0, 1}), minus_one({-1, 1}), minus_one({-2, -1, 0, 1})
    ({-1}, set(), set())
    """
    codes = {label: _code(label) for label in known}
    if None in codes.values():
        return set()
    negative = {label for label, code in codes.items() if code == -1}
    others = [code for code in codes.values() if code is not None and code != -1]
    return negative if len(others) > 1 and min(others) >= 0 else set()


def _code(label: Hashable) -> int | None:
    """Return a label as an integer; None: it is not one."""
    if isinstance(label, str):
        return int(label) if len(label) < 10 and _CODE.fullmatch(label) else None
    if isinstance(label, float):
        return int(label) if label.is_integer() else None
    return int(label) if isinstance(label, Integral) and not isinstance(label, bool) else None
