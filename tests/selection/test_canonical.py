"""A selection does not depend on the order of the rows: exactly, for every method."""

import importlib.util
import time
from collections import Counter, namedtuple

import numpy as np
import pytest

from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import METHODS, Choice, build, decide
from lops_adapters.selection.canonical import as_selector, content_keys, content_order
from lops_adapters.selection.methods.baselines import random_like

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts(n=150, k=3, noise=0.25)
# Some rows twice, one five times, some texts under two labels.
TWICE = [*range(150), *range(20), 3, 3, 3]
REPEATED = (
    [TEXTS[i] for i in TWICE] + TEXTS[30:40],
    [LABELS[i] for i in TWICE] + ["class 1"] * 10,
    [GOLD[i] for i in TWICE] + GOLD[30:40],
)
VARIANTS = {
    "confident-learning": [{}, {"n": 40}],
    "standard": [{}],
    "optimal": [{}],
    "automatic": [{}, {"per_class": True}],
    "committee": [{}],
    "released": [{}, {"keep": "auto"}, {"every": 2}],
    "ranked": [{}, {"every": 3, "keep": 0.3}],
    "random": [{}, {"per_class": False, "n": 31}],
}
CASES = [
    pytest.param(
        name,
        arguments,
        marks=pytest.mark.skipif(
            name == "confident-learning" and importlib.util.find_spec("cleanlab") is None,
            reason="cleanlab is not installed",
        ),
        id=f"{name}-{number}",
    )
    for name in METHODS
    for number, arguments in enumerate(VARIANTS.get(name, [{"keep": 0.4}, {"keep": "auto"}]))
]


class Dropping(LinearProbe):
    """A linear probe whose passes with dropout are weaker by a random amount per text and pass."""

    has_dropout = True

    def predict_with_dropout(self, samples, passes, *, seed=0):
        rng, rows = np.random.default_rng(seed), self.predict_proba(samples)
        amounts = rng.random((passes, len(rows), 1), dtype=np.float32)
        return rows + amounts * (1 / rows.shape[1] - rows)


PINNED = [
    8576930805009572129,
    14638946963314871922,
    9536559786678129888,
    8844137853477292034,
    14831486642525820213,
    18048182452312402088,
    4544394143738390617,
    3281678181627059775,
    741686814684540357,
    15286340398485017933,
    16313055056276994567,
    13436861768384515940,
]


def shuffled(columns, seed):
    order = np.random.default_rng(seed).permutation(len(columns[0]))
    return [[column[i] for i in order] for column in columns]


def rows_of(selection, texts, labels, *more):
    """How often each row is kept and rejected, with which scores."""
    parts = [texts, labels, selection.mask.tolist(), selection.learnt_at.tolist()]
    parts += [selection.confidence.tolist(), *(part.tolist() for part in more)]
    return Counter(zip(*(map(repr, part) for part in parts), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), CASES)
@pytest.mark.parametrize("columns", [(TEXTS, LABELS, GOLD), REPEATED], ids=["once", "repeated"])
def test_shuffled_rows_give_the_same_selection(name, arguments, columns):
    outcomes = []
    for texts, labels, gold in (columns, shuffled(columns, 1), shuffled(columns, 2)):
        probe = Dropping(epochs=2)
        if METHODS[name].needs_gold:
            selection = build(name, probe, seed=4, gold=gold, **arguments)(texts, labels)
            outcomes.append((rows_of(selection, texts, labels), selection.per_class))
            continue
        choice = Choice(name, **{"keep": None, **arguments}, probe=probe, seed=4)
        found = decide(Labelled.of(texts, labels), choice)
        parts = found.labels, found.suggested, found.probability
        outcomes.append((rows_of(found, texts, labels, *parts), found.reports))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    if name == "standard":
        return
    kept = {row[:2] for row in outcomes[0][0] if row[2] == "True"}
    assert kept
    assert len(outcomes[0][0]) > len(kept)


def test_another_seed_is_another_order():
    kept = {tuple(build("random", n=30, seed=seed)(TEXTS, LABELS).kept) for seed in range(5)}
    assert len(kept) == 5


def test_the_control_of_another_selection():
    other = build("released", "linear")(TEXTS, LABELS)
    control = as_selector(lambda labelled: random_like(other, "lops", labelled, 3), 3)
    here = control(TEXTS, LABELS)
    moved = shuffled((TEXTS, LABELS), 5)
    assert rows_of(here, TEXTS, LABELS) == rows_of(control(*moved), *moved)


def test_keys_are_the_same_on_every_machine():
    point = namedtuple("point", "ids places")(np.array([1, 2], dtype=np.int32), (0,))
    samples = ["text", "\ud800", "", ["a", "b"], [["a"], ["b"]], 1, 0.5, None, {"b": 1, "a": [2]},
               b"text", point, np.arange(3, dtype=np.float32)]  # fmt: skip
    assert content_keys(samples, seed=0).tolist() == PINNED
    assert content_keys(samples[::-1], seed=0).tolist() == PINNED[::-1]
    assert len(set(PINNED)) == len(PINNED)
    assert not set(content_keys(samples, seed=1).tolist()) & set(PINNED)
    assert content_keys([], seed=0).tolist() == []


def test_equal_content_has_equal_keys():
    def key(sample):
        return content_keys([sample], seed=0).tolist()

    assert key(["a", "b"]) == key(("a", "b")) == key(np.array(["a", "b"], dtype=object))
    assert key(["ab"]) != key(["a", "b"]) != key([["a", "b"]]) != key("a b")
    row = np.arange(4, dtype=np.float32)
    assert key(row) == key(row.astype(">f4")) == key(np.arange(8, dtype=np.float32)[:4])
    assert key(row) == content_keys(np.stack([row, row + 1]), seed=0)[:1].tolist()
    assert key(row) != key(row.reshape(2, 2))
    assert key(row) != key(row.astype(np.float64))
    assert key([1, 2]) == key([np.int64(1), np.int32(2)])


def test_other_samples_go_by_position():
    class Own:
        pass

    keys = content_keys([Own(), "text", Own(), {1, 2}], seed=0)
    assert len(set(keys.tolist())) == 4
    np.testing.assert_array_equal(keys, content_keys([Own(), "text", Own(), Own()], seed=0))
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert content_keys([deep], seed=0)[0] == keys[0]


def test_pseudo_labels_order_equal_samples():
    order = content_order(["a"] * 4, np.array([1, 0, 1, 0]), seed=0)
    assert order.tolist() == [1, 3, 0, 2]  # identical rows in the order of their occurrence


def test_a_hundred_thousand_rows_are_sorted_in_a_moment():
    texts = [f"number {i} of many short texts with a few words each" for i in range(10**5)]
    codes, start = np.arange(10**5) % 7, time.process_time()
    order = content_order(texts, codes, seed=0)
    assert time.process_time() - start < 1
    assert sorted(order.tolist()) == list(range(10**5))
