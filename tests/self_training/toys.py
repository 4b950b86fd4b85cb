"""A corpus small enough for seconds of self-training, whose seed words are sometimes wrong and
often missing.
"""

import numpy as np

from lops_adapters.self_training.settings import SelfTrainingSettings

from ..framework_tools import ARTS, COMMON, LAW, SPORT

TOPICS = {"arts": ARTS, "law": LAW, "sport": SPORT}
CLASSES = tuple(TOPICS)
SEEDS = {label: words[:2] for label, words in TOPICS.items()}
SMALL = {
    "classifier": "linear",
    "epochs": 4,
    "batch_size": 6,
    "learning_rate": 0.3,
    "iterations": 3,
    "delta": 0.6,  # selects in every iteration
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes a moment."""
    return SelfTrainingSettings(**{**SMALL, **overrides})


def documents(n=90, seed=0, classes=CLASSES):
    """n short documents and their gold labels: half with seed words of their class, one in ten with
    those of another.
    """
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        label = classes[number % len(classes)]
        words = [*rng.choice(COMMON, 6), *rng.choice(TOPICS[label][2:], 4, replace=False)]
        chance = rng.random()
        if chance < 0.6:
            named = classes[(number + 1) % len(classes)] if chance < 0.1 else label
            words += list(rng.choice(SEEDS[named], 2))
        texts.append(" ".join(rng.permutation(words)))
        labels.append(label)
    return texts, labels
