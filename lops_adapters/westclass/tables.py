"""What a run tells of pseudo documents, their topics, and the sizes in force."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.datasets import Corpus
from lops_adapters.encoders.words import WordVectors
from lops_adapters.runs.stages import Given, Samples
from lops_adapters.westclass.settings import PUBLISHED, WestclassSettings
from lops_adapters.westclass.tokens import PAD, Document, flat
from lops_adapters.westclass.topics import Topic


def samples_of(codes: np.ndarray, corpus: Corpus, settings: WestclassSettings) -> Samples:
    """Return pseudo documents as samples; the id has the class and a number within it, from 1.

    The score is the share of the class in the soft label trained on.
    """
    numbers: Counter[str] = Counter()
    ids = []
    for label in map(corpus.classes.__getitem__, codes.tolist()):
        numbers[label] += 1
        ids.append(f"{label}-{numbers[label]}")
    score = 1 - settings.alpha + settings.alpha / len(corpus.classes)
    scores = np.full(len(ids), score)
    return Samples(ids, codes, corpus.classes, scores, of="pseudo documents")


def about(
    settings: WestclassSettings, labelled: Given, vectors: WordVectors, topics: Sequence[Topic]
) -> dict[str, Any]:
    """Return what ``metrics.json`` says besides."""
    sizes = PUBLISHED[settings.network, settings.length]
    return {
        "labelled_documents": len(labelled.positions),
        "words_with_vector": len(vectors.words),
        "topic_size": [len(topic.words) for topic in topics],
        "kappa": [topic.kappa for topic in topics],
        "in_force": {
            "length": settings.length,
            **{name: getattr(settings, name) for name in sizes},
        },
    }


def tables_of(
    samples: Samples,
    documents: Sequence[Document],
    vectors: WordVectors,
    topics: Sequence[Topic],
    corpus: Corpus,
) -> dict[str, Any]:
    """Return the pseudo documents, and the words of each topic."""
    texts = [" ".join(word for word in flat(document) if word != PAD) for document in documents]
    rows = list(zip(samples.ids, samples.labels, texts, strict=True))
    words = {
        label: [vectors.words[i] for i in topic.words]
        for label, topic in zip(corpus.classes, topics, strict=True)
    }
    return {"pseudo_documents.csv": (["id", "pseudo_label", "text"], rows), "topics.json": words}
