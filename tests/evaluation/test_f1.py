"""F1 and the confusion matrix, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score
from sklearn.metrics import confusion_matrix as sklearn_confusion_matrix

from lops_adapters.core import LopsError
from lops_adapters.evaluation import confusion_matrix, f1_scores

CLASSES = ["d", "a", "c", "b", "e"]
pairs = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), min_size=1, max_size=25
)


@given(pairs)
def test_scores_agree_with_scikit_learn(rows):
    gold, predicted = (list(column) for column in zip(*rows, strict=True))
    scores = f1_scores(gold, predicted, CLASSES)
    assert scores.micro == pytest.approx(f1_score(gold, predicted, average="micro"))
    assert scores.micro == pytest.approx(accuracy_score(gold, predicted))
    assert scores.macro == pytest.approx(
        f1_score(gold, predicted, average="macro", zero_division=0)
    )
    present = [name for name in CLASSES if name in gold or name in predicted]
    assert list(scores.per_class) == present
    np.testing.assert_allclose(
        list(scores.per_class.values()),
        f1_score(gold, predicted, labels=present, average=None, zero_division=0),
    )


@given(pairs)
def test_confusion_matrix_agrees_with_scikit_learn(rows):
    gold, predicted = (list(column) for column in zip(*rows, strict=True))
    matrix = confusion_matrix(gold, predicted, CLASSES)
    assert matrix.dtype == np.int64
    np.testing.assert_array_equal(matrix, sklearn_confusion_matrix(gold, predicted, labels=CLASSES))


@given(pairs, st.randoms())
def test_row_order_class_order_and_kind_of_label_do_not_matter(rows, random):
    gold, predicted = (list(column) for column in zip(*rows, strict=True))
    scores = f1_scores(gold, predicted, CLASSES)
    shuffled = random.sample(rows, len(rows))
    numbers = [
        np.array([CLASSES.index(name) for name in column]) for column in zip(*shuffled, strict=True)
    ]
    other = f1_scores(*numbers, random.sample(range(5), 5))
    assert other.micro == scores.micro
    assert other.macro == pytest.approx(scores.macro)
    assert {CLASSES[i]: value for i, value in other.per_class.items()} == scores.per_class


def test_a_class_without_true_positives_counts_as_zero_and_an_absent_one_is_left_out():
    scores = f1_scores(["a", "b"], ["a", "a"], ["a", "b", "absent"])
    assert scores.per_class == {"a": pytest.approx(2 / 3), "b": 0.0}
    assert scores.macro == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("gold", "predicted", "classes", "message"),
    [
        (["a"], ["a", "b"], ["a", "b"], r"gold has 1, predicted has 2"),
        (
            ["x"],
            ["a"],
            ["a", "b"],
            r"gold holds \['x'\], not among the classes \['a', 'b'\]; add them to classes",
        ),
        (["a"], ["x"], ["a", "b"], r"predicted holds \['x'\]"),
        ([0], [-1], [0, 1], r"predicted holds \[-1\]"),
        ([0], [0], ["a"], r"gold holds integers, predicted holds integers, classes holds strings"),
        (["a"], ["a"], ["a", "a"], r"name every class once"),
        ([], [], ["a"], r"there is no sample"),
        (["a"], ["a"], "a", r"classes is the string 'a'"),
    ],
)
def test_bad_input(gold, predicted, classes, message):
    with pytest.raises(LopsError, match=message):
        f1_scores(gold, predicted, classes)


def test_confusion_matrix_of_nothing_is_zero():
    np.testing.assert_array_equal(confusion_matrix([], [], ["a", "b"]), np.zeros((2, 2)))
