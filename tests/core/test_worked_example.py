"""The example that tells the readings of the paper apart: a1..a4 and b1..b6, tau = 0.5, known from
four checkpoints.

Learnt after checkpoint 1: a1 a2 a3 b1 b2; after 2: a1-a4 b2 b3 b5; after 3: all but b4; after 4:
all.
"""

import numpy as np
import pytest

from lops_adapters.core import LearningOrder, Selection

NAMES = ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4", "b5", "b6"]
LABELS = [name[0] for name in NAMES]
CORRECT = [
    {"a1", "a2", "a3", "b1", "b2"},
    {"a1", "a2", "a3", "a4", "b2", "b3", "b5"},
    set(NAMES) - {"b4"},
    set(NAMES),
]
ONLY_B1_B2 = [{n for n in correct if n[0] == "a" or n in ("b1", "b2")} for correct in CORRECT]
OTHER = {"a": "b", "b": "a"}


def labels_at(correct: set[str]) -> list[str]:
    return [name[0] if name in correct else OTHER[name[0]] for name in NAMES]


def falling_scores(correct: set[str]) -> np.ndarray:
    """Scores of the pseudo-label fall with the position in the file, so that file order is the tie
    rule.
    """
    own = [0.9 - 0.01 * i if name in correct else 0.1 for i, name in enumerate(NAMES)]
    return np.array(
        [(s, 1 - s) if label == "a" else (1 - s, s) for s, label in zip(own, LABELS, strict=True)]
    )


def watch(order: LearningOrder, story: list[set[str]], say: object) -> tuple[int, Selection]:
    for correct in story:
        order.observe(say(correct))  # type: ignore[operator]
        if order.done:
            break
    return len(order.times), order.select()


def kept(selection: Selection) -> set[str]:
    return {NAMES[i] for i in selection.kept}


@pytest.mark.parametrize("say", [labels_at, falling_scores])
def test_released(say):
    stopped, selection = watch(LearningOrder(LABELS), CORRECT, say)
    assert stopped == 2
    # b1 is rejected although learnt first: nothing accumulates
    assert kept(selection) == {"a1", "a2", "a3", "b2", "b3", "b5"}
    assert selection.per_class["a"] == (4, 2, 3, 3, 1.0, "threshold reached")
    assert selection.per_class["b"] == (6, 3, 4, 3, 2.0, "threshold reached")
    # a4: learnt after its class had closed
    assert selection.learnt_at.tolist() == [1, 1, 1, np.inf, 1, 1, 2, np.inf, 2, np.inf]
    assert selection.confidence.tolist() == [
        0.75, 0.75, 0.75, -0.25, 0.75, 0.75, 0.5, -0.25, 0.5, -0.25,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("algorithm1", {"a1", "a2", "b1", "b2", "b3"}),  # a3 refused in epoch 1, b5 in epoch 2
        ("stop-and-take-all", {"a1", "a2", "a3", "a4", "b1", "b2", "b3", "b5"}),
        ("ranked", {"a1", "a2", "b1", "b2", "b3"}),
    ],
)
def test_other_rules_in_file_order(rule, expected):
    stopped, selection = watch(LearningOrder(LABELS, rule=rule), CORRECT, falling_scores)
    assert stopped == 2
    assert kept(selection) == expected


@pytest.mark.parametrize(
    ("rule", "b_kept"),
    [
        ("released", {"b1", "b2", "b3", "b4", "b5", "b6"}),
        ("algorithm1", {"b1", "b2"}),
        ("stop-and-take-all", {"b1", "b2"}),
    ],
)
def test_class_that_never_gets_there(rule, b_kept):
    stopped, selection = watch(LearningOrder(LABELS, rule=rule), ONLY_B1_B2, labels_at)
    assert stopped == 4
    assert {name for name in kept(selection) if name[0] == "b"} == b_kept
    assert selection.per_class["b"].closed_at is None


def test_report_says_why():
    selection = watch(LearningOrder(LABELS), ONLY_B1_B2, labels_at)[1]
    assert selection.per_class["b"].why == "threshold not reached, kept whole"
    assert (
        selection.stopped
        == "stopped after 4 checkpoints (max_checkpoints), 1 of 2 classes below threshold"
    )
    assert repr(selection).startswith("Selection(kept 9 of 10, rule='released'")
