"""Memory stays within a few numbers a sample, whatever the number of classes."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from lops_adapters.core import LearningOrder

pytestmark = pytest.mark.slow

MB = 2**20


def peak_mb(work: Callable[[], object]) -> float:
    """Largest amount of memory held at any moment of ``work``, beyond what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("rule", ["released", "ranked"])
def test_a_million_samples(rule):
    n, k, checkpoints = 1_000_000, 100, 20
    rng = np.random.default_rng(0)
    labels = rng.integers(0, k, n)
    predictions, difficulty = labels.copy(), rng.random(n) * checkpoints

    def watch() -> None:
        order = LearningOrder(labels, tau=0.99, rule=rule, max_checkpoints=checkpoints)
        for number in range(checkpoints):
            wrong = np.greater(difficulty, number)
            np.add(labels, wrong, out=predictions)
            np.remainder(predictions, k, out=predictions)
            order.observe(predictions)
        kept.append(len(order.select().kept))

    kept: list[int] = []
    assert peak_mb(watch) < 200
    assert 0.9 * n < kept[0] <= n


def test_scores_are_read_block_by_block():
    """One truth value a score would already be a quarter of the input. Each block must meet its own
    samples.
    """
    n, k = 50_000, 400
    scores = np.random.default_rng(0).random((n, k), dtype=np.float32)
    labels, score = scores.argmax(axis=1), scores.max(axis=1)
    order = LearningOrder(labels, rule="ranked", classes=range(k))
    assert peak_mb(lambda: order.observe(scores)) < scores.nbytes / MB / 5
    selection = order.select()
    assert selection.learnt_at.tolist() == [1.0] * n
    for c in range(k):
        own = np.sort(score[labels == c])[::-1]
        np.testing.assert_array_equal(
            np.sort(score[(labels == c) & selection.mask])[::-1], own[: (len(own) + 1) // 2]
        )
