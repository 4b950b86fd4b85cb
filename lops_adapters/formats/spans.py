"""The places of values in the text of a JSON object: one changes, and other bytes stay."""

import json
from collections.abc import Iterator
from typing import Any

from lops_adapters.formats.cells import json_text
from lops_adapters.formats.paths import Steps

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def items(text: str, i: int) -> Iterator[tuple[Any, int, int]]:
    """Yield (key or place, start, end) of the values of the object or array that begins here."""
    close, number = {"{": "}", "[": "]"}[text[i]], 0
    i = _skip(text, i + 1)
    while text[i] != close:
        name: Any = number
        if close == "}":
            name, i = _DECODER.raw_decode(text, i)
            i = _skip(text, _skip(text, i) + 1)  # behind the colon
        start = i
        _, i = _DECODER.raw_decode(text, start)
        yield name, start, i
        number, i = number + 1, _skip(text, i)
        if text[i] == ",":
            i = _skip(text, i + 1)


def _skip(text: str, i: int) -> int:
    while text[i] in _SPACE:
        i += 1
    return i


def span(text: str, steps: Steps) -> tuple[int, int]:
    """Return (start, end) of a value in the first object of a text; of a repeated key the last."""
    start = end = text.index("{")
    for step in steps:
        *_, (start, end) = (
            (first, last) for name, first, last in items(text, start) if name == step
        )
    return start, end


def changed(text: str, steps: Steps, value: Any) -> str:
    """Return the text with another value, in a list if the value was in one.

    >>> changed('[ {"a": [1, {"b":  ["x"]}]}', ("a", 1, "b"), "y")
    '[ {"a": [1, {"b":  ["y"]}]}'
    """
    start, end = span(text, steps)
    return text[:start] + json_text([value] if text[start] == "[" else value) + text[end:]


def without(text: str, steps: Steps) -> str:
    """Return the text without an element of an array.

    >>> without('{"a": [1, 2,  3]}', ("a", 1)), without('{"a": [1, 2]}', ("a", 1))
    ('{"a": [1, 3]}', '{"a": [1]}')
    """
    *outer, index = steps
    spans = [(start, end) for _, start, end in items(text, span(text, outer)[0])]
    start, end = spans[int(index)]
    if int(index) + 1 < len(spans):
        end = spans[int(index) + 1][0]
    elif index:
        start = spans[int(index) - 1][1]
    return text[:start] + text[end:]
