"""Class names as sentences, then clusters of documents that start there.

Part of :mod:`benchmarks.pseudo_labels`. A frozen encoder reads documents and, per class, sentences
that name it; templates were written before gold labels were looked at. Ways:

- nearest name, also with documents and names centred each by their mean;
- k-means on the sphere, and the Gaussian mixture of X-Class, both started at the names;
- k-means with a random start, the mean of three;
- X-Class (MiniLM), its mixture on its own vectors beside those of the encoder, and per document
  the more confident one of X-Class and the mixture, centred.

Clusters are matched with classes one to one, by how many documents they share with the nearest
name. Gold labels only measure. X-Class reads what the encoder reads: the first 128 word pieces.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.real_tables import read_rows
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.xclass.alignment import align, nearest_class
from lops_adapters.xclass.classes import TEMPLATES, class_vectors, describe_classes, unit
from lops_adapters.xclass.documents import document_vectors
from lops_adapters.xclass.names import name_vectors
from lops_adapters.xclass.settings import XclassSettings
from lops_adapters.xclass.vectors import contextual_vectors, static_vectors
from lops_adapters.xclass.words import read_words

DOCUMENTS, SAMPLES, ROUNDS, PIECES = 2000, 3, 50, 128
GERMAN = ("{}", "In diesem Text geht es um {}.", "Ein Artikel über {}.", "Das Thema ist {}.")
INTENTS = ("{}", "The user asks about {}.", "A request about {}.", "This is about {}.")
ENCODERS = {"static": "static", "minilm": "minilm", "base": "all-mpnet-base-v2"}
CHOSEN_ON = ("agnews", "20news-coarse")
CORPORA = (*CHOSEN_ON, "20news-fine", "german-news-seeds", "intents-150-names")
TABLES = tuple(f"{name}-{encoder}" for encoder in ENCODERS for name in CORPORA)


class Named(NamedTuple):
    """Documents and the names of classes.

    Attributes:
        texts: n of them.
        gold: (n,) int codes.
        names: class to name.
        templates: of sentences.

    """

    texts: Sequence[str]
    gold: np.ndarray
    names: Mapping[str, str]
    templates: Sequence[str]


def load(table: str, data_dir: Path) -> Named:
    """Return the documents of a table, of all samples."""
    name = table.rpartition("-")[0]
    if name in ("agnews", "20news-coarse", "20news-fine"):
        headers = "strip" if name.startswith("20news") else "keep"
        data = load_dataset(name, data_dir=str(data_dir), quiet=True, headers=headers)
        assert data.gold is not None
        texts, gold, templates = data.corpus.texts, list(data.gold.labels), TEMPLATES
        names = {label: some[0] for label, some in data.corpus.names.items()}
    else:
        rows = read_rows(data_dir / "fresh-noise" / f"{name}.csv.gz")
        texts, gold = tuple(row["text"] for row in rows), [row["gold"] for row in rows]
        templates = GERMAN if name.startswith("german") else INTENTS
        names = {label: label for label in sorted(set(gold))}
    codes = {label: code for code, label in enumerate(names)}
    return Named(texts, np.array([codes[label] for label in gold]), names, templates)


def run(table: str, named: Named, data_dir: Path) -> dict[str, Any]:
    """Measure a table, on samples of it where it is large; X-Class on the first."""
    encoder = ENCODERS[table.rpartition("-")[2]]
    local = data_dir / encoder
    probe = EmbeddingProbe(str(local) if local.exists() else encoder)
    names = class_vectors(list(named.names.values()), probe.vectors, named.templates)
    runs = []
    whole = len(named.texts) <= 2 * DOCUMENTS + 500
    for sample in range(1 if whole or encoder == "minilm" else SAMPLES):
        rows = np.random.default_rng(sample).permutation(len(named.texts))
        rows = np.sort(rows if whole else rows[:DOCUMENTS])
        texts, gold = [named.texts[i] for i in rows.tolist()], named.gold[rows]
        vectors = probe.vectors(texts)
        found = dict(ways(vectors, names))
        if encoder == "minilm":
            try:
                found |= xclass(texts, list(named.names.values()), vectors, names)
            except LopsError as error:  # X-Class refuses names of the same words
                print(f"X-Class: {error}", flush=True)
        runs.append({way: measured(codes, gold) for way, codes in found.items()})
        print(runs[-1], flush=True)
    return {"classes": len(names), "n": len(gold), "samples": len(runs), "runs": runs}


def measured(codes: np.ndarray, gold: np.ndarray) -> dict[str, float]:
    """Return accuracy and macro-F1 of (n,) codes, or their mean over (m, n) codes."""
    from sklearn.metrics import f1_score

    several = np.atleast_2d(codes)
    return {
        "accuracy": float((several == gold).mean()),
        "macro_f1": float(np.mean([f1_score(gold, one, average="macro") for one in several])),
    }


def ways(vectors: np.ndarray, names: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what each way says, (n,) codes; (m, n) with m random starts."""
    nearest = nearest_class(vectors, names)
    inside, classes = vectors - vectors.mean(axis=0), names - names.mean(axis=0)
    centred = nearest_class(inside, classes)
    yield "nearest name", nearest
    yield "nearest name, centred", centred
    for name, start, documents, centres in (
        ("", nearest, vectors, names),
        (", centred", centred, inside, classes),
    ):
        yield f"k-means{name}", matched(k_means(documents, centres), start, len(names))
        codes = align(documents, centres).codes
        yield f"mixture{name}", matched(codes, start, len(names))
        yield f"mixture{name}, unmatched", codes
    drawn = [np.random.default_rng(seed).permutation(len(vectors)) for seed in range(3)]
    yield (
        "k-means, random start",
        np.array(
            [
                matched(k_means(inside, inside[rows[: len(names)]]), centred, len(names))
                for rows in drawn
            ]
        ),
    )


def k_means(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the clusters of k-means on the sphere, (n,) codes; an empty one keeps its centre."""
    vectors, centres = unit(vectors.astype(np.float64)), unit(centres.astype(np.float64))
    codes = np.full(len(vectors), -1)
    for _ in range(ROUNDS):
        before, codes = codes, nearest_class(vectors, centres)
        if (codes == before).all():
            break
        for code in np.unique(codes):
            centres[code] = vectors[codes == code].mean(axis=0)
    return codes


def matched(clusters: np.ndarray, said: np.ndarray, k: int) -> np.ndarray:
    """Return clusters as classes, one to one, by how many documents they share, (n,) codes."""
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((k, k))
    np.add.at(shared, (clusters, said), 1)
    of_cluster = linear_sum_assignment(-shared)[1]
    return np.asarray(of_cluster[clusters])


def xclass(
    texts: Sequence[str], names: Sequence[str], sentences: np.ndarray, sentence_names: np.ndarray
) -> dict[str, np.ndarray]:
    """Return what X-Class says with MiniLM, and with sentence vectors beside its own."""
    settings = XclassSettings.preset("quick")
    encoder = ContextEncoder("minilm", layers=1, max_pieces=settings.max_pieces)
    words = read_words([" ".join(text.split()[: PIECES * 3 // 4]) for text in texts])
    with tempfile.TemporaryDirectory() as folder:
        vectors = np.array(contextual_vectors(words, encoder, Path(folder)))
    word_id, document = words.word_id[words.positions], words.document
    static = static_vectors(word_id, vectors, len(words.vocabulary))
    of_words = {word: at for at, word in enumerate(words.vocabulary)}
    named = name_vectors(names, of_words, static, encoder)
    frequent = words.is_word & (words.counts >= settings.min_count)
    described = describe_classes(
        named.vectors, named.words, static, np.flatnonzero(frequent), most=settings.class_words
    )
    known = frequent[word_id]
    known |= ~np.isin(document, document[known])
    rows = np.flatnonzero(known)
    represented = document_vectors(
        word_id, document, vectors, static, described.vectors, len(texts), rows=rows
    )
    own = unit(represented), unit(described.vectors)
    both = [np.hstack(pair) for pair in zip(own, (sentences, sentence_names), strict=True)]
    centred = np.hstack([own[0] - own[0].mean(axis=0), sentences - sentences.mean(axis=0)])
    centres = [part - part.mean(axis=0) for part in (own[1], sentence_names)]
    start = nearest_class(centred, np.hstack(centres))
    by_words = align(*own)
    by_sentences = align(sentences - sentences.mean(axis=0), centres[1])
    return {
        "X-Class, nearest class": nearest_class(*own),
        "X-Class": by_words.codes,
        "X-Class with sentences": align(*both).codes,
        "X-Class with sentences, centred": matched(
            align(centred, np.hstack(centres)).codes, start, len(names)
        ),
        "X-Class or sentences": np.where(
            by_words.confidence > by_sentences.confidence, by_words.codes, by_sentences.codes
        ),
    }
