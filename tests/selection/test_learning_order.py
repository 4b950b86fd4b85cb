"""``learning-order``: one method wherever it is asked for, and how it differs from ``ranked``."""

import numpy as np
import pytest

from lops_adapters.core import tie_hash
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.selection.canonical import content_order
from lops_adapters.texts.select import select

from ..noisy import noisy_texts
from .stand_in import Told, world

TEXTS, TEXT_LABELS, _ = noisy_texts()


def threshold(count, keep):
    return -(-count * round(100 * keep) // 100)


@pytest.mark.parametrize("keep", [0.1, 0.29, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_keeps_what_ranked_keeps_if_enough_is_learnt(keep, seed):
    """Both keep ceil(keep n) per class, earliest first, ties by probability and hash.

    They differ only in how they fill a class with never-learnt samples.
    """
    samples, labels, _, table = world(n=120, seed=seed, noise=0.4)
    one = build("learning-order", Told(table), keep=keep, seed=seed)(samples, labels)
    other = build("ranked", Told(table), keep=keep, seed=seed)(samples, labels)
    for label, report in one.per_class.items():
        here = np.array([name == label for name in labels])
        wanted = threshold(report.count, keep)
        assert report.kept == other.per_class[label].kept == wanted
        learnt = np.isfinite(one.learnt_at)
        if report.learnt >= wanted:
            np.testing.assert_array_equal(one.mask[here], other.mask[here])
        else:
            assert one.mask[here & learnt].all()
            assert other.mask[here & learnt].all()
    assert any(np.isinf(one.learnt_at))


def test_equal_probabilities_go_by_hash_in_both():
    samples = [f"text {i}" for i in range(40)]
    labels = ["a", "b"] * 20
    rows = [[0.6, 0.4], [0.4, 0.6]] * 20
    table = {sample: np.tile(row, (3, 1)) for sample, row in zip(samples, rows, strict=True)}
    for seed in (0, 7):
        kept = [
            build(name, Told(table), keep=0.3, seed=seed)(samples, labels).kept.tolist()
            for name in ("learning-order", "ranked")
        ]
        order = content_order(samples, np.arange(40) % 2, seed)
        places = np.flatnonzero(order % 2 == 0)
        expected = np.sort(order[places[np.argsort(tie_hash(places, seed))[:6]]])
        assert [i for i in kept[0] if i % 2 == 0] == expected.tolist()
        assert [i for i in kept[1] if i % 2 == 0] == expected.tolist()


def test_never_learnt_samples_fill_up_by_probability_or_by_hash():
    """Of ten samples labelled a two are learnt; the others are never predicted as a."""
    own = np.linspace(0.45, 0.05, 10)
    own[:2] = 0.9
    samples = [f"text {i}" for i in range(20)]
    labels = ["a"] * 10 + ["b"] * 10
    rows = [*np.column_stack([own, 1 - own]), *np.tile([0.1, 0.9], (10, 1))]
    table = {sample: np.tile(row, (2, 1)) for sample, row in zip(samples, rows, strict=True)}
    one = build("learning-order", Told(table))(samples, labels)
    other = build("ranked", Told(table))(samples, labels)
    assert one.kept[one.kept < 10].tolist() == [0, 1, 2, 3, 4]
    order = content_order(samples, np.repeat([0, 1], 10), seed=0)
    places = np.flatnonzero((order >= 2) & (order < 10))
    by_hash = order[places[np.argsort(tie_hash(places, 0))[:3]]]
    assert other.kept[other.kept < 10].tolist() == [0, 1, *np.sort(by_hash).tolist()]


@pytest.mark.parametrize("keep", [0.3, 0.5])
def test_select_means_the_row_of_the_table(keep):
    """What self-training builds by this name."""
    row = build("learning-order", LinearProbe(), keep=keep, seed=3)(TEXTS, TEXT_LABELS)
    found = select(TEXTS, TEXT_LABELS, "learning-order", probe="linear", keep=keep, seed=3)
    np.testing.assert_array_equal(found.kept, row.kept)
    np.testing.assert_array_equal(found.confidence, row.confidence)
    np.testing.assert_array_equal(found.learnt_at, row.learnt_at)
    assert (found.rule, found.per_class) == (row.rule, row.per_class)
    for label, report in row.per_class.items():
        assert report.kept == threshold(TEXT_LABELS.count(label), keep)
