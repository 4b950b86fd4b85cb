"""Arguments of any type: an answer or a LopsError, never a TypeError or an AttributeError."""

import importlib.util
from collections import UserDict
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lops_adapters
from lops_adapters.core import LearningOrder, LopsError

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


TEXTS = ["the striker scored a late goal"] * 6 + ["the bank cut its rates"] * 6
NAMES = ["sports"] * 6 + ["money"] * 6


@pytest.fixture(autouse=True, scope="module")
def offline():
    """Names of encoders are looked up nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        if importlib.util.find_spec("huggingface_hub") is not None:
            patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        yield


odd = st.sampled_from(sorted(odd_values()))
ARGUMENTS = ("pseudo_labels", "tau", "rule", "max_checkpoints", "classes", "horizon", "seed")
OBSERVED = ("predictions", "time", "positions")
CHOICES = (
    *("method", "keep", "per_class", "probe", "every", "seed"),
    *("sure", "encoder", "words"),
)
USUAL = {"probe": "linear", "encoder": None}


def calls(names):
    return st.dictionaries(st.sampled_from(names), odd, min_size=1, max_size=3)


def made(names):
    return {argument: odd_values()[kind] for argument, kind in names.items()}


def broken(call):
    """Return the kinds of values for which the call ends in another error than LopsError."""
    found = {}
    for kind, value in odd_values().items():
        try:
            call(value)
        except LopsError:
            pass
        except Exception as error:
            found[kind] = repr(error)
    return found


@pytest.mark.parametrize("name", [*ARGUMENTS, *OBSERVED])
def test_each_argument_alone(name):
    def observe(value):
        given, observed = {"pseudo_labels": LABELS}, {"predictions": LABELS}
        (observed if name in OBSERVED else given)[name] = value
        LearningOrder(**given).observe(**observed)

    assert broken(observe) == {}


quiet = pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")


@quiet
@settings(max_examples=80)
@given(calls(("texts", "labels", *CHOICES)))
def test_select(arguments):
    with suppress(LopsError):
        lops_adapters.select(**{"texts": TEXTS, "labels": NAMES, **USUAL, **made(arguments)})


@quiet
@pytest.mark.parametrize("name", ["texts", "labels", *CHOICES])
def test_each_choice_alone(name):
    usual = {"texts": TEXTS, "labels": NAMES, **USUAL}
    assert broken(lambda value: lops_adapters.select(**{**usual, name: value})) == {}


@pytest.mark.parametrize("name", ["frame", "text", "label"])
def test_frames(name):
    pandas = pytest.importorskip("pandas")
    from lops_adapters.integrations.frames import select_frame

    frame = pandas.DataFrame({"text": TEXTS, "label": NAMES, 3: range(12)})
    assert broken(lambda value: select_frame(**{"frame": frame, **USUAL, name: value})) == {}
    for frame_class in (pandas.DataFrame, pandas.Series(NAMES)):
        with pytest.raises(
            LopsError, match=r"wanted a pandas or polars DataFrame or a datasets\.Dataset"
        ):
            select_frame(frame_class)


@quiet
@pytest.mark.parametrize("column", ["text", "label"])
def test_cells_of_frames(column):
    pandas = pytest.importorskip("pandas")
    from lops_adapters.integrations.frames import select_frame

    def select(value):
        cells = {"text": TEXTS, "label": NAMES, column: [value] * 12}
        select_frame(pandas.DataFrame(cells, dtype=object), probe="linear")

    assert broken(select) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pseudo_labels": None}, "pseudo_labels are one NoneType; wanted a list or an array"),
        ({"pseudo_labels": {"a": 1}}, "pseudo_labels are one dict; wanted a list"),
        ({"pseudo_labels": (x for x in "ab")}, "pseudo_labels are one generator; wanted a list"),
        ({"pseudo_labels": np.array("a")}, r"labels have shape \(\); wanted one per sample"),
        ({"classes": 3}, "classes are one int; wanted a list"),
        ({"tau": None}, "tau is None; wanted a number"),
        ({"tau": "0.5"}, "tau is '0.5'; wanted a number"),
        ({"max_checkpoints": [4]}, r"max_checkpoints is \[4\]; wanted a number"),
        ({"horizon": {}}, "horizon is {}; wanted a number"),
        ({"seed": None}, "seed is None; wanted an integer"),
        ({"rule": None}, "rule is None; wanted one of released"),
    ],
)
def test_what_is_said(arguments, message):
    with pytest.raises(LopsError, match=message):
        LearningOrder(**{"pseudo_labels": LABELS, **arguments})


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        ({"predictions": None}, "predictions are one NoneType; wanted a list or an array"),
        ({"predictions": "aabb"}, "predictions are one str; wanted a list"),
        ({"predictions": (x for x in LABELS)}, "predictions are one generator; wanted a list"),
        ({"predictions": np.full((4, 2), "a")}, "type <U1; wanted .* numbers"),
        ({"positions": "0123"}, "positions have shape .* wanted a flat list of integers"),
        ({"positions": [[1], [2, 3]]}, "positions .*wanted"),
        ({"time": "now"}, "time is 'now'; wanted a number"),
    ],
)
def test_what_is_said_of_predictions(observed, message):
    order = LearningOrder(LABELS)
    with pytest.raises(LopsError, match=message):
        order.observe(**{"predictions": LABELS, **observed})
    assert order.undecided.tolist() == [0, 1, 2, 3]
