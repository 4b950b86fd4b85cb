"""Short documents generated from a seed, in any number."""

from __future__ import annotations

import numpy as np

from lops_adapters.datasets import Corpus

WORDS, TOPIC_WORDS, COMMON = 200_000, 200, 500  # in all; per class; more frequent than any class's
_BLOCK = 10_000


def documents(
    n: int,
    *,
    classes: int = 20,
    words: int = 25,
    of_topic: int = 8,
    noise: float = 0.3,
    seed: int = 0,
) -> tuple[Corpus, list[str]]:
    """Return a corpus of n documents and their pseudo-labels.

    A share ``noise`` of the labels is drawn at random. A document has ``words`` words: ``of_topic``
    of the 200 of its class, the others by Zipf's law from 200,000.

    >>> corpus, labels = documents(3, classes=2)
    >>> len(corpus), len(corpus.texts[0].split()), len(labels)
    (3, 25, 3)
    """
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{number}" for number in range(WORDS)], dtype=object)
    law = np.cumsum(1 / np.arange(1, WORDS + 1) ** 1.05)
    gold = rng.integers(0, classes, n)
    texts: list[str] = []
    for start in range(0, n, _BLOCK):
        topics = gold[start : start + _BLOCK, None]
        drawn = np.searchsorted(law, rng.random((len(topics), words)) * law[-1])
        drawn[:, :of_topic] = (
            COMMON + topics * TOPIC_WORDS + rng.integers(0, TOPIC_WORDS, (len(topics), of_topic))
        )
        texts += [" ".join(row) for row in vocabulary[drawn]]
    codes = np.where(rng.random(n) < noise, rng.integers(0, classes, n), gold)
    names = tuple(f"class{code:02d}" for code in range(classes))
    return Corpus("generated", tuple(map(str, range(n))), tuple(texts), names), [
        names[code] for code in codes
    ]
