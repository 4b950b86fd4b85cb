"""A corpus small enough to run WeSTClass on in a second, and a tiny random BERT that reads it."""

from lops_adapters.westclass.settings import WestclassSettings

from ..framework_tools import ARTS, COMMON, LAW, SPORT, save_bert, sentence, toy_documents

TOPICS = {"fine_arts": ARTS, "law": LAW, "sport": SPORT}
CLASSES = tuple(TOPICS)
SEEDS = {
    "fine_arts": ["gallery", "Fine-Arts"],
    "law": ["judge", "verdict", "trial"],
    "sport": ["match"],
}
SMALL = {
    "classifier": "network",
    "keep": 0.5,  # with the rule ranked: half, however abruptly so small a network learns
    "vector_size": 12,
    "vector_words": 40_000,
    "per_class": 12,
    "top": 8,
    "batch_size": 6,
    "pretrain_epochs": 8,
    "update_interval": 4,
    "max_iterations": 10,
    "learning_rate": 0.01,
    "stop_below": 0.0,
    "max_words": 20,
    "max_sentences": 4,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes about a second."""
    return WestclassSettings(**{**SMALL, **overrides})


def _sentence(rng, label):
    words = sentence(rng, TOPICS[label], least=4)
    if rng.random() < 0.3:
        words[int(rng.integers(len(words)))] = label.replace("_", " ")
    return f"The {' '.join(words)}."


def _document(rng, number, label, other):
    size = int(rng.integers(1, 4))
    about = [label] * size + [other] * (size + 1 if number % 8 == 0 else 0)
    return [_sentence(rng, of) for of in about]


def documents(n=72, seed=0):
    """n short documents and their gold labels; one in eight is mostly about another class, which
    makes wrong predictions.
    """
    return toy_documents(n, seed, CLASSES, _document)


def save_tiny_bert(folder):
    """Write a random BERT of two narrow layers whose vocabulary is the toy words, made the same way
    every time.
    """
    return save_bert(
        folder,
        [
            *COMMON,
            *(word for topic in TOPICS.values() for word in topic),
            "the",
            "fine",
            "arts",
            ".",
        ],
    )
