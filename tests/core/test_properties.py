"""LearningOrder against the brute-force oracle, and what must not matter: row order, batches,
skipped samples, late checkpoints.
"""

import inspect
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lops_adapters.core import RULES, LearningOrder, LopsWarning, Selection

from .oracle import Checkpoint, expected, from_scores, splitmix64

NAMES = {"str": ["b", "a", "d", "c"], "int": [7, 3, -2, 11], "range": [0, 1, 2, 3]}
every_rule = pytest.mark.parametrize("rule", RULES)
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@dataclass
class Case:
    labels: list[Hashable]
    classes: list[Hashable]
    tau: str
    seed: int
    rows: list[list[list[float]] | list[Hashable]]  # one entry a checkpoint: scores or labels
    times: list[float]
    horizon: float
    seen: list[Checkpoint]

    def order(self, rule: str, **other: Any) -> LearningOrder:
        settings_ = {
            "max_checkpoints": 5,
            "classes": self.classes,
            "horizon": self.horizon,
            "seed": self.seed,
            **other,
        }
        return LearningOrder(self.labels, float(self.tau), rule, **settings_)


@st.composite
def cases(draw: st.DrawFn, scores: str = "mixed") -> Case:
    """Few samples and coarse scores make ties, empty classes and classes of one sample common;
    ``distinct`` scores rule ties out. Hypothesis draws sizes, and a seed for the many values.
    """
    names = NAMES[draw(st.sampled_from(sorted(NAMES)))][: draw(st.integers(1, 4))]
    n, k = draw(st.integers(1, 14)), len(names)
    rng = draw(generators)

    def some_names() -> list[Hashable]:
        return [names[code] for code in rng.integers(k, size=n)]

    labels = some_names()
    rows, seen, times = [], [], []
    for _ in range(draw(st.integers(1, 5))):
        times.append((times[-1] if times else 0.0) + draw(st.sampled_from([0.25, 1.0])))
        if scores == "distinct":
            values = rng.permutation(n * k).reshape(n, k) / (n * k)
        elif draw(st.booleans()):
            values = rng.integers(5, size=(n, k)) / 4
        else:
            rows.append(some_names())
            seen.append(Checkpoint(times[-1], rows[-1]))
            continue
        rows.append(values.tolist())
        seen.append(from_scores(times[-1], rows[-1], names, labels))
    tau = f"{draw(st.integers(1, 100)) / 100:.2f}"
    return Case(
        labels,
        names,
        tau,
        draw(st.integers(0, 3)),
        rows,
        times,
        times[-1] + draw(st.sampled_from([0.0, 1.5])),
        seen,
    )


def select(order: LearningOrder) -> Selection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsWarning)
        return order.select()


def watched(case: Case, order: LearningOrder) -> Selection:
    for row, time in zip(case.rows, case.times, strict=True):
        order.observe(row, time=time)
    return select(order)


def same(one: Selection, two: Selection) -> None:
    for name in ("kept", "rejected", "learnt_at", "confidence"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.per_class == two.per_class


@every_rule
@settings(max_examples=120)
@given(case=cases())
def test_oracle(rule, case):
    order = case.order(rule)
    for number, (row, now) in enumerate(zip(case.rows, case.seen, strict=True), start=1):
        order.observe(row, time=now.time)
        answer = expected(rule, case.labels, case.tau, case.seen[:number], case.seed)
        assert order.done == (number == 5 or set(case.labels) == answer.closed_at.keys())
        relearnable = rule == "released"
        waiting = [
            i
            for i, c in enumerate(case.labels)
            if c not in answer.closed_at and (relearnable or i not in answer.learnt_at)
        ]
        assert order.undecided.tolist() == ([] if order.done else waiting)

        selection = select(order)
        n = len(case.labels)
        assert selection.kept.tolist() == sorted(answer.kept)
        assert selection.rejected.tolist() == sorted(set(range(n)) - answer.kept)
        assert selection.mask.tolist() == [i in answer.kept for i in range(n)]
        assert selection.learnt_at.tolist() == [answer.learnt_at.get(i, np.inf) for i in range(n)]
        kappa = [
            1 - answer.learnt_at[i] / case.horizon if i in answer.learnt_at else -1 / case.horizon
            for i in range(n)
        ]
        np.testing.assert_allclose(selection.confidence, kappa, rtol=0, atol=1e-12)
        assert list(selection.per_class) == case.classes
        for c, report in selection.per_class.items():
            own = {i for i in range(n) if case.labels[i] == c}
            counts = (
                len(own),
                answer.threshold.get(c, 0),
                len(own & answer.learnt_at.keys()),
                len(own & answer.kept),
            )
            assert report[:5] == (*counts, answer.closed_at.get(c))


@every_rule
@given(case=cases())
def test_warns_exactly_where_nothing_was_learnt(rule, case):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        order = case.order(rule)
        for row, time in zip(case.rows, case.times, strict=True):
            order.observe(row, time=time)
        order.select()
    learnt = expected(rule, case.labels, case.tau, case.seen, case.seed).learnt_at
    hopeless = {repr(c) for c in set(case.labels) - {case.labels[i] for i in learnt}}
    assert len(caught) == bool(hopeless)
    assert all(f"{c} (" in str(caught[0].message) for c in hopeless)


def permuted(case: Case, by: list[int]) -> Case:
    moved = [[row[i] for i in by] for row in case.rows]
    return replace(case, labels=[case.labels[i] for i in by], rows=moved)


@pytest.mark.parametrize(
    ("rule", "scores"),
    [
        ("released", "mixed"),
        ("stop-and-take-all", "mixed"),
        ("algorithm1", "distinct"),
        ("ranked", "distinct"),
    ],
)
@given(data=st.data())
def test_row_order_does_not_matter(rule, scores, data):
    case = data.draw(cases(scores))
    by = data.draw(generators).permutation(len(case.labels)).tolist()
    one, two = (
        watched(case, case.order(rule)),
        watched(permuted(case, by), permuted(case, by).order(rule)),
    )
    np.testing.assert_array_equal(one.learnt_at[by], two.learnt_at)
    assert one.per_class == two.per_class
    learnt = np.isfinite(
        two.learnt_at
    )  # never-learnt samples have no score: where ranked fills up with them, the hash decides
    np.testing.assert_array_equal((one.mask[by] & learnt), (two.mask & learnt))
    if rule != "ranked":
        np.testing.assert_array_equal(one.mask[by], two.mask)


@every_rule
@given(case=cases(), rng=generators)
def test_batches_in_any_order(rule, case, rng):
    order = case.order(rule)
    for row, time in zip(case.rows, case.times, strict=True):
        left = rng.permutation(len(case.labels)).tolist()
        first = True
        while left:
            size = rng.integers(1, len(left) + 1)
            batch, left = left[:size], left[size:]
            order.observe(
                [row[i] for i in batch], positions=batch, time=time if first else None
            )  # later batches know the time
            first = False
    same(select(order), watched(case, case.order(rule)))


@every_rule
@given(case=cases())
def test_skipping_what_is_decided(rule, case):
    order = case.order(rule)
    for row, time in zip(case.rows, case.times, strict=True):
        todo = order.undecided
        order.observe([row[i] for i in todo], time=time, positions=todo, close=True)
        if order.done:
            break
    same(select(order), watched(case, case.order(rule)))


@every_rule
@pytest.mark.parametrize("seed", range(5))
def test_open_checkpoint_is_left_out(rule, seed):
    order = LearningOrder(["a"] * 8 + ["b"], rule=rule, seed=seed)
    order.observe([*"abbbbbbb", "b"])
    before = order.select()
    order.observe(
        [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8], [0.8, 0.2]], positions=[0, 1, 2, 3, 4]
    )
    same(before, order.select())
    assert order.times == [1.0]


@pytest.mark.parametrize("rule", ["algorithm1", "ranked"])
def test_ties_follow_the_hash_and_not_the_file(rule):
    n, chosen = 40, np.zeros(40)
    for seed in range(200):
        order = LearningOrder(["a"] * n, rule=rule, seed=seed)
        order.observe(["a"] * n)
        kept = order.select().kept.tolist()
        assert kept == sorted(sorted(range(n), key=lambda i: splitmix64(seed, i))[: n // 2])
        chosen[kept] += 1
    assert chosen.min() > 60
    assert chosen.max() < 140


def test_gold_labels_do_not_exist():
    """What cannot be passed cannot leak."""
    parameters = {
        LearningOrder: [
            "pseudo_labels", "tau", "rule", "max_checkpoints", "classes", "horizon", "seed",
            "strict",
        ],
        LearningOrder.observe: ["self", "predictions", "time", "positions", "close"],
        LearningOrder.select: ["self"],
    }  # fmt: skip
    for function, names in parameters.items():
        assert list(inspect.signature(function).parameters) == names
