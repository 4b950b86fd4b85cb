"""Values of many types, for arguments that want one of them."""

from collections import UserDict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

LABELS = ["a", "a", "b", "b"]


class Own:
    def __repr__(self):
        return "Own()"


def odd_values():
    """One of each: made anew, since a generator is used up."""
    return {
        "None": None,
        "int": 3,
        "negative": -1,
        "huge": 10**400,
        "float": 2.5,
        "nan": float("nan"),
        "inf": float("inf"),
        "complex": 1j,
        "bool": True,
        "fraction": Fraction(1, 2),
        "decimal": Decimal("0.5"),
        "text": "abcd",
        "surrogate": "\ud800",
        "null": "\0",
        "long": "x" * 5000,
        "empty": "",
        "bytes": b"abcd",
        "path": Path("abcd"),
        "object": Own(),
        "class": list,
        "function": len,
        "generator": (label for label in LABELS),
        "iterator": iter(LABELS),
        "dict": dict(enumerate(LABELS)),
        "mapping": UserDict(enumerate(LABELS)),
        "set": set(LABELS),
        "no list": [],
        "list": [0, 1, 2, 3],
        "list of floats": [0.0, 1.0, 2.0, 3.0],
        "list of texts": ["a", "b", "a", "b"],
        "list of lists": [["a"], ["b"], ["a"], ["b"]],
        "list of dicts": [{}, {}, {}, {}],
        "list of sets": [{1}, {2}, {1}, {2}],
        "list of None": [None] * 4,
        "list of objects": [Own(), Own(), Own(), Own()],
        "list of tuples with lists": [([1],), ([1],), ([1],), ([1],)],
        "list of huge": [10**30] * 4,
        "ragged": [[1, 2], [3], [4, 5], [6]],
        "mixed": ["a", 1, None, [2]],
        "0-d": np.array(3.0),
        "0-d text": np.array("abcd"),
        "0-d object": np.array(None),
        "1-d": np.arange(4),
        "1-d floats": np.linspace(0, 1, 4),
        "1-d texts": np.array(list("abab")),
        "1-d objects": np.array([Own(), None, 1, "a"], dtype=object),
        "1-d dates": np.array(["2020-01-01"] * 4, dtype="datetime64[D]"),
        "1-d huge": np.array([2**64 - 1] * 4, dtype=np.uint64),
        "structured": np.zeros(4, dtype=[("x", int), ("y", float)]),
        "2-d": np.full((4, 2), 0.5),
        "2-d wide": np.full((4, 9), 0.5),
        "2-d texts": np.full((4, 2), "a"),
        "2-d objects": np.full((4, 2), None),
        "2-d complex": np.full((4, 2), 1j),
        "2-d bools": np.full((4, 2), True),
        "3-d": np.zeros((4, 2, 1)),
        "no rows": np.zeros((0, 2)),
    }
