"""A corpus small enough to run ConWea on in a second, with an ambiguous seed word, and a tiny
random BERT that reads it.
"""

import numpy as np

from lops_adapters.conwea.settings import ConweaSettings

from ..framework_tools import ARTS, COMMON, LAW, SPORT, letter_pieces, save_bert

TOPICS = {"arts": ARTS, "law": LAW, "sport": SPORT}
SEEDS = {
    "arts": ["gallery", "oil painting", "curator"],
    "law": ["judge", "court", "verdict"],
    "sport": ["match", "court", "coach"],
}
CLASSES = tuple(SEEDS)
SMALL = {
    "classifier": "han",
    "layers": 2,
    "max_pieces": 64,
    "min_occurrences": 8,
    "max_occurrences": 200,
    "restarts": 2,
    "vector_size": 16,
    "vector_words": 200_000,
    "epochs": 5,
    "batch_size": 12,
    "max_sentences": 6,
    "max_words": 20,
    "probe_epochs": 5,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes about a second."""
    return ConweaSettings(**{**SMALL, "iterations": 2, **overrides})


def _sentence(rng, label, words):
    size = int(rng.integers(5, 9))
    sentence = [str(word) for word in rng.choice(COMMON, size)]
    for place in rng.choice(size, 3, replace=False):
        sentence[place] = str(rng.choice(TOPICS[label]))
    for word in words:
        sentence.insert(int(rng.integers(1, size)), word)
    return f"The {' '.join(sentence)}."


def documents(n=72, seed=0):
    """n short documents and their gold labels; one in eight speaks of another class once, which
    makes wrong pseudo-labels.
    """
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        label = CLASSES[number % 3]
        special = ["oil painting"] if label == "arts" else ["court"]
        sentences = [
            _sentence(rng, label, special if rng.random() < 0.5 else [])
            for _ in range(int(rng.integers(2, 5)))
        ]
        if number % 8 == 0:
            other = CLASSES[(number + 1) % 3]
            sentences.append(f"Later the {SEEDS[other][0]} and the {SEEDS[other][0]} went.")
        texts.append(" ".join(sentences))
        labels.append(label)
    return texts, labels


def save_word_piece_bert(folder):
    """Write a random BERT of four narrow layers with a WordPiece vocabulary of the toy words, made
    the same way every time.
    """
    words = [
        *COMMON,
        *(word for topic in TOPICS.values() for word in topic),
        "court",
        "oil",
        "the",
        ".",
        "$",
        "'",
    ]
    return save_bert(folder, [*letter_pieces(), "##ing", *words], num_hidden_layers=4)
