"""The same answer whatever the labels and the predictions come in."""

import numpy as np
import pandas as pd
import pytest

from lops_adapters.core import LearningOrder, LopsError

WORDS = ["cat", "dog", "cat", "dog", "cow"]
CODES = [1, 2, 1, 2, 0]  # the same with cow, cat, dog = 0, 1, 2
SAID_WORDS = ["cat", "dog", "dog", "cow", "cow"]
SAID_CODES = [1, 2, 2, 0, 0]
KEPT = [0, 1, 4]
INDEX = [30, 10, 20, 10, 0]  # an index that is neither sorted nor distinct


def kept(labels: object, predictions: object, classes: object = None) -> list[int]:
    order = LearningOrder(labels, classes=classes)  # type: ignore[arg-type]
    order.observe(predictions)
    return order.select().kept.tolist()


def objects(values: list[object]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def pair(words: list[str]) -> list[tuple[str, str]]:
    return [("animal", word) for word in words]


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": objects,
    "list of numpy scalars": lambda values: list(np.array(values)),
    "series": lambda values: pd.Series(values, index=INDEX),
    "categorical series": lambda values: pd.Series(values, index=INDEX, dtype="category"),
    "categorical": pd.Categorical,
    "index": pd.Index,
}
STRINGS = CONTAINERS | {
    "string series": lambda values: pd.Series(values, index=INDEX, dtype="string")
}
INTEGERS = CONTAINERS | {
    "int8": lambda values: np.array(values, dtype=np.int8),
    "uint64": lambda values: np.array(values, dtype=np.uint64),
    "nullable": lambda values: pd.Series(values, index=INDEX, dtype="Int64"),
    "not contiguous": lambda values: np.repeat(np.array(values), 3)[::3],
}


@pytest.mark.parametrize("labels", STRINGS)
def test_strings(labels):
    for name, predictions in STRINGS.items():
        assert kept(STRINGS[labels](WORDS), predictions(SAID_WORDS)) == KEPT, name


@pytest.mark.parametrize("labels", INTEGERS)
def test_integers(labels):
    for name, predictions in INTEGERS.items():
        assert kept(INTEGERS[labels](CODES), predictions(SAID_CODES)) == KEPT, name


@pytest.mark.parametrize("labels", [list, objects])
@pytest.mark.parametrize("predictions", [list, objects])
def test_tuples_as_class_names(labels, predictions):
    assert kept(labels(pair(WORDS)), predictions(pair(SAID_WORDS))) == KEPT
    assert kept(labels(pair(WORDS)), np.eye(3)[SAID_CODES], pair(["cow", "cat", "dog"])) == KEPT
    assert (
        kept(
            labels(pair(WORDS)),
            tuple(map(tuple, np.eye(3)[SAID_CODES])),
            pair(["cow", "cat", "dog"]),
        )
        == KEPT
    )


SCORES = {
    "float32": lambda rows: rows.astype(np.float32),
    "float16": lambda rows: rows.astype(np.float16),
    "one-hot integers": lambda rows: rows.astype(int),
    "lists": lambda rows: rows.tolist(),
    "list of arrays": list,
    "data frame": lambda rows: pd.DataFrame(rows, columns=["cow", "cat", "dog"], index=INDEX),
    "fortran order": np.asfortranarray,
}


@pytest.mark.parametrize("scores", SCORES)
def test_scores(scores):
    assert kept(WORDS, SCORES[scores](np.eye(3)[SAID_CODES]), classes=["cow", "cat", "dog"]) == KEPT
    assert kept(CODES, SCORES[scores](np.eye(3)[SAID_CODES])) == KEPT


def test_columns_follow_classes_or_the_sorted_names():
    assert kept(WORDS, np.eye(3)[[0, 2, 2, 1, 1]]) == KEPT  # cat, cow, dog
    assert kept(WORDS, np.eye(3)[[2, 0, 0, 1, 1]], classes=np.array(["dog", "cow", "cat"])) == KEPT


@pytest.mark.parametrize("how", ["int64", "int32", "grad", "float16", "bfloat16"])
def test_tensors(how):
    torch = pytest.importorskip("torch")
    scores = torch.eye(3)[SAID_CODES]
    if how.startswith("int"):
        assert (
            kept(torch.tensor(CODES), torch.tensor(SAID_CODES, dtype=getattr(torch, how))) == KEPT
        )
    elif how == "grad":
        assert kept(CODES, scores.requires_grad_()) == KEPT
    elif how == "float16":
        assert kept(torch.tensor(CODES), scores.half()) == KEPT
    else:
        with pytest.raises(ValueError, match="scores cannot be read"):
            kept(CODES, scores.bfloat16())


def test_tensor_of_positions():
    torch = pytest.importorskip("torch")
    order = LearningOrder(WORDS)
    order.observe(SAID_WORDS[3:], positions=torch.tensor([3, 4]))
    order.observe(SAID_WORDS[:3], positions=pd.Series([0, 1, 2], index=[5, 6, 7]))
    assert order.select().kept.tolist() == KEPT


def test_class_without_a_sample():
    order = LearningOrder([0, 0, 2, 2], classes=range(4))
    order.observe(np.array([0, 1, 2, 3]))
    selection = order.select()
    assert order.done
    assert selection.kept.tolist() == [0, 2]
    assert list(selection.per_class) == [0, 1, 2, 3]
    assert selection.per_class[1] == selection.per_class[3] == (0, 0, 0, 0, None, "no samples")


def test_names_of_several_types():
    order = LearningOrder(["cat", 1, "dog", ("x", 2)])
    order.observe([("x", 2), 1, "dog", ("x", 2)])
    assert set(order.classes) == {"cat", 1, "dog", ("x", 2)}


def test_large_integer_names_stay_exact():
    big = [2**60, 2**60 + 1, -3]
    assert kept(np.array([*big, 2**60 + 1]), np.array([*big, 2**60])) == [0, 1, 2]


def test_the_callers_arrays_are_left_alone():
    labels, scores, positions = np.array(CODES), np.eye(3)[SAID_CODES], np.arange(5)[::-1].copy()
    for array in (labels, scores, positions):
        array.flags.writeable = False
    order = LearningOrder(labels)
    order.observe(scores[::-1], positions=positions)
    selection = order.select()
    assert selection.kept.tolist() == KEPT
    selection.learnt_at[:] = 0  # a copy: the next answer is not touched
    assert order.select().learnt_at.tolist() == [1, 1, np.inf, np.inf, 1]
    assert selection.kept.dtype == selection.rejected.dtype == order.undecided.dtype == np.int64
    assert selection.learnt_at.dtype == selection.confidence.dtype == np.float64


def test_a_frame_whose_columns_are_named_in_another_order_is_refused():
    order = LearningOrder(["a", "b"])
    with pytest.raises(
        LopsError,
        match=r"score columns are 'b', 'a'; wanted the order of the classes: 'a', 'b'\. "
        "Reorder them",
    ):
        order.observe(pd.DataFrame([[0.1, 0.9], [0.8, 0.2]], columns=["b", "a"]))
    order.observe(pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], columns=["a", "b"]))
    assert order.select().kept.tolist() == [0, 1]
