"""Texts to test with."""

from collections.abc import Hashable

import numpy as np


def noisy_texts(
    n: int = 120, k: int = 2, seed: int = 0, noise: float = 0.15
) -> tuple[list[str], list[str], list[str]]:
    """Return n texts of k topics of equal size, noisy labels and gold labels.

    A text has six words of its topic and five common ones; ``noise`` is the probability that a
    label is the next class.
    """
    rng = np.random.default_rng(seed)
    gold = np.arange(n) % k
    wrong = rng.uniform(size=n) < noise
    weak = np.where(wrong, (gold + 1) % k, gold)
    texts = [
        " ".join(
            [
                *(f"topic{g}word{i}" for i in rng.integers(0, 12, 6)),
                *(f"common{i}" for i in rng.integers(0, 30, 5)),
            ]
        )
        for g in gold
    ]
    return texts, [f"class {code}" for code in weak], [f"class {code}" for code in gold]


def topic_words(k: int) -> dict[Hashable, list[str]]:
    """Return four words of every class of :func:`noisy_texts`.

    >>> topic_words(2)["class 1"][:2]
    ['topic1word0', 'topic1word1']
    """
    return {f"class {g}": [f"topic{g}word{i}" for i in range(4)] for g in range(k)}
