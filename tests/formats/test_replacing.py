"""A column with other values: every other byte stays."""

import json

import pytest

from lops_adapters.formats.jsonl import with_value
from lops_adapters.formats.spans import changed, without


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"a": 1}', '{"a": "new"}'),
        ('{"a":1,"b":2}', '{"a":"new","b":2}'),
        (' { "b" : [1, {"a": 3}] , "a" : {"a": 1} } ', ' { "b" : [1, {"a": 3}] , "a" : "new" } '),
        ('{"x": "\\"a\\": 1", "a": null}', '{"x": "\\"a\\": 1", "a": "new"}'),
        ('{"\\u0061": 1.50}', '{"\\u0061": "new"}'),
        ('{"a": 1, "a": 2}', '{"a": "new", "a": "new"}'),
        ('{"a": 1e999, "b": NaN}', '{"a": "new", "b": NaN}'),
        ("{}", '{"a": "new"}'),
        ("{ }", '{"a": "new"}'),
        ('{"b": 1 }', '{"b": 1, "a": "new"}'),
    ],
)
def test_a_value_of_a_json_object(line, expected):
    assert with_value(line, "a", "new") == expected
    assert json.loads(expected)["a"] == "new"


def test_of_a_repeated_key_the_last_value_changes():
    """It is the one that readers of JSON take."""
    text = '[{"a": 1, "b": [1, 2], "a": [3], "b": [4, 5]}]'
    assert changed(text, ("a",), "x") == '[{"a": 1, "b": [1, 2], "a": ["x"], "b": [4, 5]}]'
    assert without(text, ("b", 0)) == '[{"a": 1, "b": [1, 2], "a": [3], "b": [5]}]'
