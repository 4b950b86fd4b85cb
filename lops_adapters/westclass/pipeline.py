"""WeSTClass from top to bottom; :func:`run_arm` selects pseudo documents, as in the LOPS paper.

Source: Meng, Shen, Zhang and Han, "Weakly-Supervised Neural Text Classification", CIKM 2018;
docs/westclass.md lists what differs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.datasets.sources import user_cache
from lops_adapters.probes.han import WordVectors
from lops_adapters.probes.word_vectors import train_word_vectors, with_random_vectors
from lops_adapters.runs.framework import Job
from lops_adapters.selection import trusted_positions
from lops_adapters.storage import pack_strings, unpack_strings
from lops_adapters.westclass.classifier import Network, build_network, build_probe, probe_updates
from lops_adapters.westclass.model import WestclassClassifier, as_read
from lops_adapters.westclass.pseudo_documents import PseudoDocuments, generate
from lops_adapters.westclass.seeds import seed_vectors
from lops_adapters.westclass.self_training import SelfTrained, self_train
from lops_adapters.westclass.settings import WestclassSettings, filled
from lops_adapters.westclass.supervision import Labelled, find_labelled, find_seeds
from lops_adapters.westclass.tokens import Document, flat, is_word, shape, tokenize, word_counts
from lops_adapters.westclass.topics import Topic, find_topics

# Copies of each labelled document among the pseudo documents, as in the original.
_COPIES = {"cnn": 10, "han": 1}


@dataclass(frozen=True)
class Prepared:
    """What all arms share.

    Attributes:
        corpus: of the run.
        settings: with the sizes for the length of the documents.
        documents: as the network reads them.
        labelled: documents whose class the user gave.
        vectors: Word2Vec on the corpus.
        topics: one per class.
        pseudo_documents: drawn from the topics.
        codes: (m,) int64, their pseudo-labels.
        seconds: per stage.

    """

    corpus: Corpus
    settings: WestclassSettings
    documents: list[Document]
    labelled: Labelled
    vectors: WordVectors
    topics: list[Topic]
    pseudo_documents: list[Document]
    codes: np.ndarray
    seconds: dict[str, float]

    @property
    def measured(self) -> np.ndarray:
        """(m,) int64 positions of the documents that came without a label."""
        return np.setdiff1d(np.arange(len(self.corpus)), self.labelled.positions)


@dataclass(frozen=True)
class ArmResult:
    """One arm.

    Attributes:
        selection: among the pseudo documents.
        pretrained: (n, k) float32, predictions on real documents after pre-training.
        self_trained: what self-training ended with.
        seconds: per stage.

    """

    selection: Selection
    pretrained: np.ndarray
    self_trained: SelfTrained
    seconds: dict[str, float]


def prepare(corpus: Corpus, job: Job[WestclassSettings]) -> Prepared:
    """Train word vectors, fit the topics and generate pseudo documents.

    Raises:
        LopsError: texts, supervision or settings cannot work; raised before the long work.

    """
    settings, folder, seed = job.settings, job.folder, job.seed
    labelled = find_labelled(corpus, settings)
    tokens = tokenize(corpus.texts, faithful=settings.faithful, quiet=job.quiet)
    counts = word_counts(tokens)
    if not any(map(is_word, counts)):
        raise LopsError(
            f"found no word in {len(corpus)} documents (only blanks, punctuation or nothing); "
            "wanted text"
        )
    settings = settings.for_length(counts.total() / len(corpus))
    documents = as_read(tokens, settings)
    frequent = {word for word, n in word_counts(documents).items() if n >= settings.min_count}
    pieces = find_seeds(corpus, documents, labelled, settings, frequent)
    n_samples = len(corpus.classes) * settings.per_class
    updates = probe_updates(settings, n_samples)
    settings.check_checkpoints(updates, f"{n_samples} pseudo documents")
    arrays, vector_seconds = folder.stage(
        "word_vectors", partial(_vector_arrays, documents, counts, settings, seed)
    )
    vectors = WordVectors(tuple(unpack_strings(arrays["words"])), arrays["vectors"])
    unit = WordVectors(vectors.words, _unit(vectors.vectors))
    topics = find_topics(unit.vectors, seed_vectors(pieces, unit))
    draw = partial(_draw, topics, unit, counts, tokens, settings, seed, job.quiet)
    drawn, draw_seconds = folder.stage("pseudo_documents", draw)
    pseudo = PseudoDocuments.from_arrays(drawn)
    return Prepared(
        corpus,
        settings,
        documents,
        labelled,
        vectors,
        topics,
        as_read(pseudo.documents(vectors.words), settings),
        pseudo.codes,
        {"word_vectors": vector_seconds, "pseudo_documents": draw_seconds},
    )


def run_arm(arm: str, prepared: Prepared, job: Job[WestclassSettings]) -> ArmResult:
    """Run one arm; arms differ only in the selector."""
    settings, samples, folder = prepared.settings, prepared.pseudo_documents, job.folder
    labels = np.array(prepared.corpus.classes, dtype=object)[prepared.codes]
    selector = job.selector(
        arm,
        partial(build_probe, prepared.vectors, settings, job.device, quiet=job.quiet),
        control_of="lops-selection",
    )
    # The paper's insertion point (appendix, compared methods): generated, not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-selection", partial(selector, samples, labels)
    )
    network = build_network(prepared.vectors, settings, job.device, quiet=job.quiet)
    trusted = trusted_positions(selection, labels)
    pretrained, pretrain_seconds = folder.stage(
        f"{arm}-pretraining", partial(_pretrain, network, prepared, trusted, job.seed)
    )
    final, self_seconds = folder.stage(
        f"{arm}-self-training", partial(_self_train, network, prepared, pretrained, arm, job)
    )
    self_trained = SelfTrained(
        final["probabilities"],
        int(final["iterations"]),
        tuple(final["changed"].tolist()),
        bool(final["converged"]),
    )
    seconds = {
        "selection": select_seconds,
        "pretraining": pretrain_seconds,
        "self_training": self_seconds,
    }
    return ArmResult(selection, pretrained["probabilities"], self_trained, seconds)


def _pretrain(
    network: Network, prepared: Prepared, trusted: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Train on the trusted pseudo documents and on all labelled documents."""
    labelled, copies = prepared.labelled, _COPIES[prepared.settings.network]
    given = np.repeat(np.arange(len(labelled.positions)), copies)
    samples = [prepared.pseudo_documents[i] for i in trusted]
    samples += [prepared.documents[labelled.positions[i]] for i in given]
    codes = np.concatenate([prepared.codes[trusted], labelled.codes[given]])
    network.fit(samples, codes, len(prepared.corpus.classes), seed=seed)
    return {"probabilities": network.predict_proba(prepared.documents), **_weight_arrays(network)}


def _self_train(
    network: Network,
    prepared: Prepared,
    pretrained: Mapping[str, np.ndarray],
    arm: str,
    job: Job[WestclassSettings],
) -> dict[str, np.ndarray]:
    n_weights = sum(name.startswith("weight") for name in pretrained)
    weights = [pretrained[f"weight{i}"] for i in range(n_weights)]
    network.restore(weights, len(prepared.corpus.classes), seed=job.seed)
    done = self_train(
        network,
        network.prepare(prepared.documents),
        np.array([sum(map(len, document)) for document in prepared.documents]),
        prepared.settings,
        (prepared.labelled.positions, prepared.labelled.codes),
        seed=job.seed,
        quiet=job.quiet,
    )
    model = WestclassClassifier(prepared.corpus.classes, network, prepared.settings)
    job.folder.save_model(job.folder.arm(arm) / "model", model.save)
    return {
        "probabilities": done.probabilities,
        "iterations": np.array(done.iterations),
        "changed": np.array(done.changed),
        "converged": np.array(done.converged),
    }


def _weight_arrays(network: Network) -> dict[str, np.ndarray]:
    return {f"weight{i}": weight for i, weight in enumerate(network.trainable_weights())}


def _vector_arrays(
    documents: Sequence[Document], counts: Counter[str], settings: WestclassSettings, seed: int
) -> dict[str, np.ndarray]:
    vectors = train_word_vectors(
        [flat(document) for document in documents],
        size=settings.vector_size,
        min_count=settings.min_count,
        epochs=settings.vector_epochs,
        at_least=settings.vector_words,
        seed=seed,
        cache=user_cache() / "word_vectors",
    )
    if settings.faithful:
        vectors = with_random_vectors(vectors, sorted(counts), seed)
    return {"words": pack_strings(vectors.words), "vectors": vectors.vectors}


def _draw(
    topics: Sequence[Topic],
    vectors: WordVectors,
    counts: Counter[str],
    documents: Sequence[Document],
    settings: WestclassSettings,
    seed: int,
    quiet: bool,
) -> dict[str, np.ndarray]:
    # From whole documents, without padding.
    background = np.array([counts[word] for word in vectors.words])
    by_sentences = settings.network == "han"
    index = {word: i for i, word in enumerate(vectors.words)}
    drawn = generate(
        topics,
        vectors.vectors,
        background / background.sum(),
        shapes(documents, vectors, settings),
        per_class=settings.per_class,
        top=settings.top,
        alpha=settings.alpha,
        seed=seed,
        sentence_end=index.get(".") if by_sentences else None,
        quiet=quiet,
    )
    return drawn.arrays()


def shapes(
    documents: Sequence[Document], vectors: WordVectors, settings: WestclassSettings
) -> list[list[int]]:
    """Return the lengths that pseudo documents can have: those of the real ones, as read.

    Under ``faithful`` there is only one: the mean over whole documents, rounded down, with closing
    marks, and at most what the network reads.
    """
    words, longest = frozenset(vectors.words), filled(settings.max_words)
    if settings.network == "cnn":
        lengths = [sum(token in words for token in flat(document)) for document in documents]
        if settings.faithful:
            return [[min(longest, max(1, int(np.mean(lengths))))]]
        return [[min(longest, length)] for length in lengths]
    most = filled(settings.max_sentences)
    if not settings.faithful:
        return [shape(document, words, most, longest, ends=False) for document in documents]
    found = [shape(document, words, sys.maxsize, sys.maxsize, ends=True) for document in documents]
    sentences = [length for lengths in found for length in lengths]
    mean_length = min(longest, max(1, int(np.mean(sentences))))
    mean_count = min(most, max(1, len(sentences) // len(found)))
    return [[mean_length] * mean_count]


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
