import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.evaluation import Evaluator

GOLD = ("a", "b", "b", "c")


@pytest.mark.parametrize(
    "labels", [["a", "b", "b"], np.array(["a", "b", "b"], dtype=object), np.array(["a", "b", "b"])]
)
@pytest.mark.parametrize("positions", [[0, 2, 3], np.array([0, 2, 3])])
def test_noise_is_measured_where_the_labels_are(positions, labels):
    assert Evaluator(GOLD).noise(positions, labels) == pytest.approx(1 / 3)


def test_noise_of_all_and_of_none():
    evaluator = Evaluator(list(GOLD))
    assert evaluator.noise(np.arange(4), GOLD) == 0.0
    assert evaluator.noise([3, 1], ["b", "c"]) == 1.0
    assert evaluator.noise([], []) is None
    assert evaluator.noise(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=object)) is None
    assert isinstance(evaluator.noise([0], ["a"]), float)


def test_f1_is_over_all_documents():
    predicted = np.array(["a", "b", "c", "c"], dtype=object)
    found = Evaluator(GOLD).scores(predicted)
    assert found == {"micro_f1": 0.75, "macro_f1": pytest.approx((1 + 2 / 3 + 2 / 3) / 3)}
    never = Evaluator(GOLD).scores(["a", "a", "a", "a"])  # a: 2/5; b and c: 0; others: left out
    assert never == {"micro_f1": 0.25, "macro_f1": pytest.approx(0.4 / 3)}


def test_numbers_of_labels_that_do_not_fit():
    with pytest.raises(LopsError):
        Evaluator(GOLD).noise([0, 1], ["a"])


def test_without_gold_labels_all_is_unknown():
    evaluator = Evaluator(None)
    assert evaluator.noise([0, 1], ["a", "b"]) is None
    assert evaluator.scores(["a", "b"]) == {"micro_f1": None, "macro_f1": None}
