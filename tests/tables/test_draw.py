"""The sample of a table: by content, of every class, however the rows come."""

import numpy as np
import pytest

from lops_adapters.selection.canonical import content_keys
from lops_adapters.tables import draw
from lops_adapters.tables.draw import Draw, floor_of, row_ids


def rows(n, k, seed=0, repeated=0.0):
    """Keys by content, keys of labels, positions."""
    rng = np.random.default_rng(seed)
    texts = [f"text {i}" for i in range(n)]
    again = np.flatnonzero(rng.uniform(size=n) < repeated)
    for i in again.tolist():
        texts[i] = "copied"
    codes = np.minimum(rng.geometric(0.5, n) - 1, k - 1)
    labels = content_keys([f"class {code}" for code in range(k)], 0)[codes]
    return content_keys(texts, seed), labels, np.arange(n)


def drawn(table, most, block=None, order=None):
    keys, labels, positions = table
    at = np.arange(len(keys)) if order is None else order
    found = Draw(most)
    for start in range(0, len(at), block or len(at)):
        part = at[start : start + (block or len(at))]
        found.add(keys[part], labels[part], positions[part], [int(i) for i in positions[part]])
    return found.result()


def by_brute_force(table, most):
    keys, labels, positions = table
    ids = row_ids(keys, labels)
    order = sorted(range(len(keys)), key=lambda i: (keys[i], ids[i], positions[i]))
    floor, chosen, seen = min(draw.FLOOR, most // len(set(labels.tolist()))), [], {}
    for i in order:
        seen[labels[i]] = seen.get(labels[i], 0) + 1
        if seen[labels[i]] <= floor:
            chosen.append(i)
    others = [i for i in order if i not in set(chosen)]
    return sorted(chosen + others[: most - len(chosen)])


@pytest.mark.parametrize("repeated", [0.0, 0.3])
@pytest.mark.parametrize("most", [30, 200, 2000])
def test_by_brute_force(monkeypatch, most, repeated):
    monkeypatch.setattr(draw, "FLOOR", 8)
    table = rows(1500, 5, repeated=repeated)
    found = drawn(table, most)
    assert found.positions.tolist() == by_brute_force(table, most)
    assert found.rows == found.positions.tolist()


@pytest.mark.parametrize("block", [1000, 7001])
def test_blocks_and_their_order_change_nothing(block):
    """So many rows that most are dropped on the way."""
    table = rows(60_000, 6, repeated=0.05)
    whole = drawn(table, 3000)
    assert len(whole.positions) == 3000
    cut = drawn(table, 3000, block)
    np.testing.assert_array_equal(cut.positions, whole.positions)
    assert cut.rows == whole.rows
    shuffled = drawn(table, 3000, block, np.random.default_rng(1).permutation(60_000))
    np.testing.assert_array_equal(shuffled.positions, whole.positions)


def test_rows_that_are_joined():
    keys, labels, positions = table = rows(40_000, 4)
    parts = [Draw(2000), Draw(2000), Draw(2000)]
    for part, own in zip(np.array_split(np.arange(40_000), 3), parts, strict=True):
        own.add(keys[part], labels[part], positions[part], positions[part].tolist())
    parts[2].join(parts[0])
    parts[2].join(parts[1])
    np.testing.assert_array_equal(parts[2].result().positions, drawn(table, 2000).positions)


def test_memory_is_bounded():
    bounded, largest = Draw(1000), 0
    for seed in range(40):
        keys, labels, positions = rows(5000, 3, seed)
        bounded.add(keys, labels, positions + 5000 * seed, [None] * 5000)
        largest = max(largest, len(bounded._rows))
    assert largest < 1000 * 2 + 10_000 + 5000


def test_every_class_and_a_small_table_as_a_whole():
    keys, labels, positions = rows(20_000, 3)
    labels[:7] = 99
    found = drawn((keys, labels, positions), 500)
    assert set(range(7)) <= set(found.positions.tolist())
    assert drawn(rows(50, 3), 500).positions.tolist() == list(range(50))
    assert Draw(5).result().rows == []


def test_of_equal_rows_the_first_are_drawn():
    keys = np.full(100, 7, dtype=np.uint64)
    labels = np.arange(100, dtype=np.uint64) % 2
    found = drawn((keys, labels, np.arange(100)), 10)
    assert floor_of(2, 10) == 5
    assert found.positions.tolist() == list(range(10))


@pytest.mark.parametrize(("n", "block"), [(30_000, 1700), (14_000, 1700), (12_000, 12_000)])
def test_rows_beyond_the_floor_stay_when_rows_are_dropped(monkeypatch, n, block):
    """Most of the sample is neither among the first of its class nor at its end."""
    monkeypatch.setattr(draw, "FLOOR", 8)
    table = rows(n, 3)
    assert drawn(table, 900, block=block).positions.tolist() == by_brute_force(table, 900)


def test_a_sample_that_holds_a_small_class_as_a_whole_is_enough(monkeypatch):
    """5 rows of one class and 2 of another, 3 of each at least, or all that there are."""
    monkeypatch.setattr(draw, "FLOOR", 3)
    labels = np.array([1, 1, 1, 1, 1, 2, 2], dtype=np.uint64)
    found = Draw(6)
    found.add(np.arange(7, dtype=np.uint64), labels, np.arange(7), list(range(7)))
    assert found.is_enough({1: 5, 2: 2})
    assert not found.is_enough({1: 5, 2: 3})  # the third one was not drawn


def test_rows_that_are_drawn_first_whatever_their_keys():
    """Such as checked rows."""
    keys = np.arange(1, 2001, dtype=np.uint64) << np.uint64(50)
    some, labels = Draw(10), np.zeros(2000, dtype=np.uint64)
    some.add(keys, labels, np.arange(2000), list(range(2000)), np.arange(2000) >= 1997)
    assert some.result().positions.tolist() == [*range(7), 1997, 1998, 1999]
