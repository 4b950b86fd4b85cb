"""Values inside JSON objects by their paths, such as ``response.choices.0.text``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Steps = Sequence[str | int]  # keys and places in arrays, from an object to a value in it


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of a key, or else of a path; None: there is none.

    >>> [value_at({"a": {"b": [1, 2]}, "a.b": 3}, name) for name in ("a.b", "a.b.1", "a.b.2", "c")]
    [3, 2, None, None]
    """
    if name in record or "." not in name:
        return record.get(name)
    steps = steps_to(record, name)
    value: Any = record
    for step in steps or ():
        value = value[step]
    return None if steps is None else value


def steps_to(record: Mapping[str, Any], name: str) -> Steps | None:
    """Return the steps of a path; None: no value is there.

    >>> steps_to({"a": [{"0": 1}]}, "a.0.0"), steps_to({"a": 1}, "a.b")
    (['a', 0, '0'], None)
    """
    steps, value = list[str | int](), record
    for part in name.split("."):
        step: Any = part
        if isinstance(value, list):
            step = int(part) if part.isascii() and part.isdigit() and len(part) < 9 else -1
            if not 0 <= step < len(value):
                return None
        elif not isinstance(value, dict) or part not in value:
            return None
        steps.append(step)
        value = value[step]
    return steps


def columns_of(records: Iterable[Mapping[str, Any]], nested: Sequence[str]) -> tuple[str, ...]:
    """Return all keys of objects, and those of the names in ``nested`` that are paths in one.

    >>> columns_of([{"a": 1}, {"b": {"c": 2}}], ["b.c", "a.c", "a"])
    ('a', 'b', 'b.c')
    """
    columns: dict[str, None] = {}
    paths = [name for name in nested if "." in name]
    for record in records:
        columns.update(dict.fromkeys(record))
        paths = [name for name in paths if name not in columns]
        columns.update((name, None) for name in paths if steps_to(record, name) is not None)
    return tuple(columns)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of what is no object and no array inside a value.

    >>> list(leaves({"a": [{"b": 1}, "x"], "c": None}))
    [('a.0.b', 1), ('a.1', 'x'), ('c', None)]
    """
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inside in items:
            yield from leaves(inside, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
