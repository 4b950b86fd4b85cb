"""A corpus small enough to run LOTClass on in seconds, and tiny masked language models whose embeddings know the topics."""

from unittest import mock

import numpy as np

from lops_adapters.lotclass.settings import LotclassSettings

from ..framework_tools import ARTS, COMMON, LAW, SPORT, letter_pieces, save_bert

TOPICS = {"arts": ARTS, "law": LAW, "sport": SPORT}
CLASSES = tuple(TOPICS)
SMALL = {
    "max_tokens": 40,
    "top": 6,
    "vocabulary_size": 14,
    "match_threshold": 1,
    "min_rows": 5,
    "epochs": 2,
    "batch_size": 8,
    "micro_batch": 4,
    "learning_rate": 0.003,
    "probe_epochs": 3,
    "every": 2,
    "self_learning_rate": 0.001,
    "update_interval": 4,
    "head_epochs": 15,
    "head_learning_rate": 0.01,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes a few seconds."""
    return LotclassSettings(**{**SMALL, **overrides})


def small_presets():
    """The preset of the command is small, for as long as this context lasts."""
    return mock.patch.dict(LotclassSettings.PRESETS, quick=SMALL)


def _sentence(rng, label):
    size = int(rng.integers(5, 9))
    sentence = [str(word) for word in rng.choice(COMMON, size)]
    for place in rng.choice(size, 3, replace=False):
        sentence[place] = str(rng.choice([label, *TOPICS[label]], p=[0.2, *[0.08] * 10]))
    return f"The {' '.join(sentence)}."


def documents(n=90, seed=0):
    """n short documents and their gold labels; one in ten is about another class, which makes wrong pseudo-labels."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        label = CLASSES[number % 3]
        other = CLASSES[(number + 1) % 3]
        sentences = [_sentence(rng, other if rng.random() < 0.2 or number % 10 == 0 else label) for _ in range(int(rng.integers(2, 5)))]
        texts.append(" ".join(sentences))
        labels.append(label)
    return texts, labels


def save_encoder(folder, **shape):
    """Write a tiny BERT without a masked-language-model head, made the same way every time."""
    import torch

    topics = {word: number for number, (name, words) in enumerate(TOPICS.items()) for word in (name, *words)}

    def teach(model, tokenizer):
        directions = torch.randn(len(TOPICS), 16)
        with torch.no_grad():
            for word, number in topics.items():
                model.get_input_embeddings().weight[tokenizer.convert_tokens_to_ids(word)] += 0.5 * directions[number]

    words = [*letter_pieces(), *COMMON, *topics, "the", "."]
    return save_bert(folder, words, teach, max_position_embeddings=64, initializer_range=0.2, **shape)
