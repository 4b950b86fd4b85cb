"""Shapes of records, declared as data: which path holds which type."""

from __future__ import annotations

from typing import Any

from lops_adapters.core import LopsError

ANY = object
SCALAR = (str, int, float)  # a bool is an int
EVERY = "*"  # key: of all values of an object
_WORDS = {dict: "an object", list: "an array", str: "a text", int: "a number", float: "a number"}


def fault(value: Any, shape: Any, path: str = "") -> str | None:
    """Return which value inside another one has a wrong type, and the wanted one; None: none has.

    Args:
        value: of JSON.
        shape: a dict: an object, with shapes of some keys; a list: an array of one shape; a tuple:
            one of several shapes; or a type. A missing value, or null, always fits.
        path: of the value.

    >>> shape = {"a": [{"b": SCALAR}], "c": {EVERY: (str, {"id": int})}}
    >>> fault({"a": [{"b": 1}, {}], "c": {"x": {"id": 3}}, "d": 1}, shape)
    >>> fault({"a": [{"b": [2]}]}, shape)
    'a.0.b is [2]; wanted a text or a number'
    """
    if value is None:
        return None
    kinds = shape if isinstance(shape, tuple) else (shape,)
    for kind in kinds:
        if isinstance(kind, dict) and isinstance(value, dict):
            inside = {key: kind.get(key, kind.get(EVERY, ANY)) for key in value}
            items = [(key, value[key], inside[key]) for key in value]
        elif isinstance(kind, list) and isinstance(value, list):
            items = [(index, one, kind[0]) for index, one in enumerate(value)]
        elif isinstance(kind, type) and isinstance(value, kind):
            return None
        else:
            continue
        faults = (fault(one, part, f"{path}.{key}".strip(".")) for key, one, part in items)
        return next(filter(None, faults), None)
    words = dict.fromkeys(_WORDS[kind if isinstance(kind, type) else type(kind)] for kind in kinds)
    return f"{path or 'it'} is {value!r:.60}; wanted {' or '.join(words)}"


def check_shape(value: Any, shape: Any, place: str) -> None:
    """Raise a LopsError about a value of another shape, with its place."""
    found = fault(value, shape)
    if found is not None:
        raise LopsError(f"{place}: {found}; export it again, or mend it there")
