"""What goes in: every kind of container a training loop holds, and every mistake with the text that
answers it.
"""

import re

import numpy as np
import pandas as pd
import pytest

from lops_adapters.core import LearningOrder, LopsError

LABELS = ["cat", "dog", "cat", "dog"]
RIGHT = ["cat", "dog", "dog", "dog"]  # kept under the default rule: 0, 1, 3


def text(*parts: str) -> str:
    """Pattern that finds the parts, in this order, whatever lies between them."""
    return "(?s)" + ".*".join(re.escape(part) for part in parts)


WRONG_SETTINGS = [
    (
        {"rule": "best"},
        text("'best'", "wanted one of released, algorithm1, stop-and-take-all, ranked"),
    ),
    ({"tau": 0}, text("tau is 0;", "wanted a fraction above 0 and at most 1")),
    ({"tau": 1.5}, text("tau is 1.5;", "wanted a fraction above 0 and at most 1")),
    ({"tau": float("nan")}, text("tau is nan;", "wanted")),
    ({"max_checkpoints": 0}, text("max_checkpoints is 0;", "wanted an integer, at least 1")),
    ({"max_checkpoints": 2.5}, text("max_checkpoints is 2.5;", "wanted an integer")),
    ({"horizon": 0.0}, text("horizon is 0.0;", "wanted a positive number in the unit of time")),
    ({"horizon": float("inf")}, text("horizon is inf;", "wanted a positive number")),
    (
        {"classes": ["cat", "dog", "cat"]},
        text("classes hold a name twice", "wanted distinct names"),
    ),
    ({"classes": ["cat", None]}, text("missing value (None)")),
    (
        {"classes": ["cat", "cow"]},
        text("pseudo-labels hold 'dog' at position 1", "'cat', 'cow'", "pass classes=..."),
    ),
    ({"classes": []}, text("pseudo-labels hold 'cat' at position 0", "pass classes=...")),
]


@pytest.mark.parametrize(("settings", "message"), WRONG_SETTINGS)
def test_wrong_settings(settings, message):
    with pytest.raises(LopsError, match=message):
        LearningOrder(LABELS, **settings)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], text("found no pseudo-labels; wanted at least one sample")),
        (
            np.array(["cat", None, "dog"], dtype=object),
            text("missing value (None)", "leave unlabelled samples out"),
        ),
        (["cat", float("nan")], text("missing value (nan)", "leave unlabelled samples out")),
        (
            np.array([0.0, np.nan, np.nan]),
            text("missing value (nan)", "leave unlabelled samples out"),
        ),
        (
            pd.Series([1, None], dtype="Int64"),
            text("missing value (<NA>)", "leave unlabelled samples out"),
        ),
        (
            pd.Series(["cat", pd.NA], dtype="string"),
            text("missing value (", "leave unlabelled samples out"),
        ),
        (
            pd.Series(["cat", None], dtype="category"),
            text("missing value (nan)", "leave unlabelled samples out"),
        ),
        (
            [["cat"], ["dog"]],
            text(
                "labels are not hashable", "wanted strings, integers or other hashable class names"
            ),
        ),
        (np.zeros((3, 1), dtype=int), text("shape (3, 1)", "wanted one per sample, shape (n,)")),
        (pd.DataFrame({"label": ["cat"]}), text("shape (1, 1)", "wanted one per sample")),
    ],
)
def test_wrong_labels(labels, message):
    with pytest.raises(LopsError, match=message):
        LearningOrder(labels)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels_with_classes_given(missing):
    with pytest.raises(
        LopsError, match=text("hold", "at position 1", "leave unlabelled samples out")
    ):
        LearningOrder(["cat", missing], classes=["cat", "dog"])


def test_whole_number_array_without_classes():
    with pytest.raises(LopsError, match=text("pseudo-labels hold 5 at position 0")):
        LearningOrder(np.array([5, 5]), classes=[])


SCORES = [[0.9, 0.1]] * 4
WRONG_OBSERVATIONS = [
    ({"predictions": RIGHT[:3]}, text("found 3 predictions; wanted 4, one per sample")),
    ({"predictions": [*RIGHT, "cat"]}, text("found 5 predictions; wanted 4")),
    ({"predictions": SCORES[:3]}, text("shape (3, 2)", "wanted (4, 2)")),
    (
        {"predictions": np.zeros((4, 3))},
        text("shape (4, 3)", "wanted (4, 2)", "2 classes 'cat', 'dog'", "Pass classes=..."),
    ),
    (
        {"predictions": np.zeros((4, 2, 1))},
        text("shape (4, 2, 1)", "wanted (n,) labels or (n, k) numbers"),
    ),
    ({"predictions": [["0.1", "0.9"]] * 4}, text("wanted (n,) labels or (n, k) numbers")),
    ({"predictions": [[0.1, 0.9], [0.1]] * 2}, text("wanted (n, k")),
    (
        {"predictions": [*SCORES[:2], [0.5, float("nan")], SCORES[0]]},
        text("sample 2 hold NaN; wanted numbers", "diverged?"),
    ),
    ({"predictions": [[np.nan, 1.0]], "positions": [3]}, text("sample 3 hold NaN")),
    (
        {"predictions": ["cat", "cow", "dog", "dog"]},
        text("predicted labels hold 'cow' at position 1", "'cat', 'dog'", "pass classes=..."),
    ),
    (
        {"predictions": ["cat", None, "dog", "dog"]},
        text("predicted labels hold None at position 1"),
    ),
    ({"predictions": [0.3, 0.1, 0.9, 0.2]}, text("predicted labels hold 0.3 at position 0")),
    (
        {"predictions": RIGHT, "time": 1.0},
        text("time is 1.0", "more than 1.0 (the last checkpoint)"),
    ),
    (
        {"predictions": RIGHT, "time": 0.5},
        text("time is 0.5", "more than 1.0 (the last checkpoint)"),
    ),
    ({"predictions": RIGHT, "time": float("nan")}, text("time is nan", "wanted more than 1.0")),
    (
        {"predictions": RIGHT, "time": 4.5},
        text("time is 4.5", "at most 4.0 (the horizon; pass horizon=..."),
    ),
    (
        {"predictions": ["cat"] * 2, "positions": [1, 1]},
        text("position 1 was observed twice", "padded samplers"),
    ),
    ({"predictions": ["cat"], "positions": [4]}, text("positions run from 4 to 4; wanted 0 to 3")),
    (
        {"predictions": ["cat"], "positions": [-1]},
        text("positions run from -1 to -1; wanted 0 to 3"),
    ),
    (
        {"predictions": ["cat"], "positions": [0.0]},
        text("type float64; wanted a flat list of integers"),
    ),
    (
        {"predictions": RIGHT, "positions": [True] * 4},
        text("type bool; wanted a flat list of integers"),
    ),
    (
        {"predictions": ["cat"], "positions": [[0]]},
        text("shape (1, 1)", "wanted a flat list of integers"),
    ),
    ({"predictions": ["cat"], "positions": 0}, text("shape ()", "wanted a flat list of integers")),
    ({"predictions": ["cat"], "positions": [0, 1]}, text("found 1 predictions; wanted 2")),
    (
        {"predictions": ["cat"] * 2, "positions": [0, 3], "close": True},
        text("checkpoint 2 cannot close", "position 2", "undecided"),
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG_OBSERVATIONS)
def test_wrong_observation_leaves_no_trace(call, message):
    """After the error the same object goes on as if nothing had happened."""
    order, other = LearningOrder(LABELS, tau=1), LearningOrder(LABELS, tau=1)
    order.observe(RIGHT)
    with pytest.raises(LopsError, match=message):
        order.observe(**call)
    assert order.times == [1.0]
    assert order.undecided.tolist() == [0, 2]
    other.observe(RIGHT)
    for watch in (order, other):
        for position in (3, 0, 2, 1):  # also fails if a sample counted as seen
            watch.observe(["cat"], positions=[position])
    assert order.times == other.times == [1.0, 2.0]
    one, two = order.select(), other.select()
    assert one.learnt_at.tolist() == two.learnt_at.tolist() == [1, 1, 2, 1]
    assert one.per_class == two.per_class


def test_wrong_batch_inside_an_open_checkpoint():
    order = LearningOrder(LABELS)
    order.observe(["cat", "dog"], positions=[0, 1], time=0.5)
    with pytest.raises(
        LopsError,
        match=text(
            "position 1 was observed twice in checkpoint 1, while 2 samples", "dropped last batches"
        ),
    ):
        order.observe(["dog"], positions=[1])
    with pytest.raises(LopsError, match=text("position 0 was observed twice")):
        order.observe(RIGHT)
    with pytest.raises(
        LopsError,
        match=text(
            "time is 1.0", "began with time 0.5", "finish it first: 2 samples are to be observed"
        ),
    ):
        order.observe(["cat", "dog"], positions=[2, 3], time=1.0)
    order.observe(["dog", "dog"], positions=[2, 3])
    assert order.times == [0.5]
    assert order.select().kept.tolist() == [0, 1, 3]


def test_too_many_checkpoints():
    order = LearningOrder(LABELS, max_checkpoints=1)
    order.observe(RIGHT)
    with pytest.raises(
        LopsError, match=text("checkpoint 2, max_checkpoints is 1; stop when `done` is true")
    ):
        order.observe(RIGHT)


def test_select_too_early():
    order = LearningOrder(LABELS)
    with pytest.raises(
        LopsError,
        match=text(
            "no checkpoint has closed: 4 of 4 samples are still to be observed; call observe()"
        ),
    ):
        order.select()
    order.observe(["cat"], positions=[0])
    with pytest.raises(LopsError, match=text("3 of 4 samples are still to be observed")):
        order.select()


def test_error_is_a_value_error():
    assert issubclass(LopsError, ValueError)
