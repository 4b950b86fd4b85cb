"""Groups of texts that are nearly the same."""

import time

import numpy as np
import pytest

from lops_adapters.texts import near_duplicates as module
from lops_adapters.texts.near_duplicates import near_duplicates

WORDS = [f"{a}{b}" for a in "abcdefghijklmnop" for b in ("ra", "lo", "min", "ket")]


def text(seed, n=40):
    return " ".join(np.random.default_rng(seed).choice(WORDS, n))


def groups(texts):
    return [group.tolist() for group in near_duplicates(texts)]


def test_equal_but_for_case_punctuation_and_numbers():
    assert groups(["Call 555-01, now!", "other", "call 71 (0) now", "  "]) == [[0, 2]]
    assert groups(["a", "A", "b"]) == [[0, 1]]
    assert groups(["part a12", "part a13"]) == []
    assert groups(["", "  ", "!?"]) == []
    assert groups([]) == []


def test_small_changes():
    base = text(0, 60)
    words = base.split()
    inserted = " ".join([*words[:30], "new", *words[30:]])
    cut = " ".join(words[2:])
    half = " ".join([*words[:30], *text(9, 30).split()])
    assert groups([base, text(1), inserted, half, cut]) == [[0, 2, 4]]


def test_groups_that_share_a_text_are_joined():
    """Each is like the next; the first and the last are not alike."""
    words = text(0, 80).split()
    chain = [" ".join(words[i : i + 70]) for i in (0, 4, 8)]
    assert groups([*chain, text(5)]) == [[0, 1, 2]]


def test_scripts_without_spaces():
    rng = np.random.default_rng(0)
    base = "".join(map(chr, rng.integers(0x4E00, 0x9FFF, 80)))
    other = "".join(map(chr, rng.integers(0x4E00, 0x9FFF, 80)))
    assert groups([base, other, base[:-3] + "。"]) == [[0, 2]]


def test_against_all_pairs():
    rng = np.random.default_rng(3)
    texts = []
    for i in range(40):
        words = text(i, 50).split()
        texts.append(" ".join(words))
        for _ in range(2):
            at = rng.choice(50, rng.integers(1, 5), replace=False)
            texts.append(" ".join("x" if k in at else word for k, word in enumerate(words)))
    words = [one.split() for one in texts]
    sets = [set(zip(each, each[1:], each[2:], strict=False)) for each in words]
    alike = {
        (i, j)
        for i in range(len(texts))
        for j in range(i)
        if len(sets[i] & sets[j]) >= 0.8 * len(sets[i] | sets[j])
    }
    assert len(alike) > 20  # of 120 texts
    place = {i: number for number, group in enumerate(groups(texts)) for i in group}
    found = sum(i in place and place[i] == place.get(j) for i, j in alike)
    assert found >= 0.95 * len(alike)
    for group in groups(texts):  # each of a group is like another of it
        for i in group:
            assert any((max(i, j), min(i, j)) in alike for j in group if j != i)


def test_many_texts(monkeypatch):
    texts = [text(i, 30) for i in range(3000)]
    start = time.process_time()
    assert groups([*texts, texts[7], texts[9] + " more"]) == [[7, 3000], [9, 3001]]
    assert time.process_time() - start < 10
    monkeypatch.setattr(module, "MOST", 100)  # equal ones are found at any size
    assert groups([*texts, texts[7], texts[9] + " more"]) == [[7, 3000]]


@pytest.mark.parametrize("odd", ["lone \ud800 surrogate", "\x00", "🏳️‍🌈", "é" * 1000])
def test_odd_texts(odd):
    assert groups([odd, "plain words here", odd]) in ([[0, 2]], [])


def test_four_shingles_of_five_are_enough():
    assert groups(["one two three four five six seven", "one two three four five six"]) == [[0, 1]]


def test_each_is_compared_with_the_first_of_its_bucket_and_the_one_before():
    same = np.arange(5, dtype=np.uint32)
    assert set(module._candidates([same] * 4)) == {(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)}
