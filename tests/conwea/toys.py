"""A corpus small enough to run ConWea on in a second, with an ambiguous seed word, and a tiny
random BERT that reads it.
"""

from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.settings import ConweaSettings

from ..framework_tools import (
    ARTS,
    COMMON,
    LAW,
    SPORT,
    letter_pieces,
    save_bert,
    sentence,
    toy_documents,
)

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


def corpus_of(*texts, **senses):
    """A contextualised corpus of texts already cut at white space, one sentence each."""
    return ContextualCorpus([[text.split()] if text else [] for text in texts], senses)


def _document(rng, number, label, other):
    special, found = ["oil painting"] if label == "arts" else ["court"], []
    for _ in range(int(rng.integers(2, 5))):
        more = special if rng.random() < 0.5 else []
        words = sentence(rng, TOPICS[label])
        size = len(words)
        for word in more:
            words.insert(int(rng.integers(1, size)), word)
        found.append(f"The {' '.join(words)}.")
    if number % 8 == 0:
        found.append(f"Later the {SEEDS[other][0]} and the {SEEDS[other][0]} went.")
    return found


def documents(n=72, seed=0):
    """n short documents and their gold labels; one in eight speaks of another class once, which
    makes wrong pseudo-labels.
    """
    return toy_documents(n, seed, CLASSES, _document)


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
