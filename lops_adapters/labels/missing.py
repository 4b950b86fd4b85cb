"""Which labels are no class: missing ones, -1 among integer codes, and values that users name."""

from collections.abc import Collection, Hashable, Iterable, Set
from numbers import Integral
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import cell_text, is_whole, whole


def named(abstain: Any) -> frozenset[Hashable] | None:
    """Return the values that ``select(abstain=...)`` names; None: by default.

    A whole number is the same in any spelling: -1, -1.0, "-1" and "-1.0". Raises a LopsError about
    a value that cannot be a label.

    >>> named("-1.0"), sorted(named(["?", "skip"])), named(None)
    (frozenset({-1}), ['?', 'skip'], None)
    """
    if abstain is None:
        return None
    many = isinstance(abstain, Iterable) and not isinstance(abstain, str | bytes)
    try:
        return frozenset(map(code_or_label, abstain if many else [abstain]))
    except TypeError:
        raise LopsError(
            f"abstain is {abstain!r:.80}; wanted a label that is no class, or a list of them"
        ) from None


def no_classes(
    labels: Collection[Hashable], abstain: Any = None, *, soft: bool = False
) -> set[Hashable]:
    """Return the distinct labels that are no class.

    None, NaN and blank strings are no class, and not among them. By default, neither is -1, if the
    labels are integer codes from 0 with at least two other classes: label models and frameworks use
    it so. ``soft`` labels name their classes, so that all of these are.

    >>> no_classes([0, 1, -1]), no_classes(["-1.0", "1.0", "0.0"]), no_classes(["a", "?"], "?")
    ({-1}, {'-1.0'}, {'?'})
    """
    values = named(abstain)
    if values is None:
        return set() if soft else set(minus_one(set(labels)))
    return {label for label in labels if is_named(label, values)}


def is_named(label: Hashable, values: Set[Hashable]) -> bool:
    """Return whether a label is one of the values of :func:`named`, or spelt as one.

    >>> is_named(True, {"true"}), is_named(1.0, {1}), is_named("1", {2})
    (True, True, False)
    """
    return bool(values) and (code_or_label(label) in values or cell_text(label) in values)


def minus_one(known: Set[Hashable]) -> Set[Hashable]:
    """Return the label -1 if it is no class among the distinct labels, else nothing.

    >>> minus_one({-1, 0, 1}), minus_one({-1, 1}), minus_one({-2, -1, 0, 1})
    ({-1}, set(), set())
    >>> minus_one({"-1.0", "0.0", "1.0"})
    {'-1.0'}
    """
    codes = {label: _code(label) for label in known}
    if None in codes.values():
        return set()
    negative = {label for label, code in codes.items() if code == -1}
    others = [code for code in codes.values() if code is not None and code != -1]
    return negative if len(others) > 1 and min(others) >= 0 else set()


def code_or_label(label: Hashable) -> Hashable:
    """Return a label, or the integer that it spells."""
    code = _code(label)
    return label if code is None else code


def _code(label: Hashable) -> int | None:
    """Return a label as an integer; None: it is not one."""
    if isinstance(label, str):
        text = whole(label.strip())  # data frames write -1.0 next to empty cells
        return int(text) if len(label) < 12 and is_whole(text) else None
    if isinstance(label, float):
        return int(label) if label.is_integer() else None
    return int(label) if isinstance(label, Integral) and not isinstance(label, bool) else None
