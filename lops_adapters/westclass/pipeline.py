"""WeSTClass from top to bottom, with a selector at the point where the LOPS paper puts it: after
the pseudo documents are generated.

Source: Meng, Shen, Zhang and Han, "Weakly-Supervised Neural Text Classification", CIKM 2018;
docs/westclass.md lists what differs.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.datasets.corpus import listed
from lops_adapters.datasets.sources import user_cache
from lops_adapters.probes.han import WordVectors
from lops_adapters.probes.word_vectors import train_word_vectors, with_random_vectors
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import Lops, Selector, keep_all, trusted_positions
from lops_adapters.storage import pack_strings, unpack_strings
from lops_adapters.westclass.classifier import Network, build_network, build_probe, probe_updates
from lops_adapters.westclass.model import WestclassClassifier, as_read
from lops_adapters.westclass.pseudo_documents import PseudoDocuments, generate
from lops_adapters.westclass.seeds import Pieces, seed_pieces, seed_vectors, words_of_documents
from lops_adapters.westclass.self_training import SelfTrained, self_train
from lops_adapters.westclass.settings import WestclassSettings, filled
from lops_adapters.westclass.tokens import Document, flat, is_word, shape, tokenize, word_counts
from lops_adapters.westclass.topics import Topic, find_topics

log = logging.getLogger(__name__)
_COPIES = {
    "cnn": 10,
    "han": 1,
}  # of each labelled document among the pseudo documents, as in the original


@dataclass(frozen=True)
class Labelled:
    """Documents whose class the user gave: (m,) int64 positions in the corpus and class codes;
    usually none.
    """

    positions: np.ndarray
    codes: np.ndarray


@dataclass(frozen=True)
class Prepared:
    """What both arms share: documents, word vectors, topics, pseudo documents and their
    pseudo-labels, the seconds each took.
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


@dataclass(frozen=True)
class ArmResult:
    """One arm: selection among the pseudo documents; (n, k) predictions on real documents after
    pre-training; self-training; seconds.
    """

    selection: Selection
    pretrained: np.ndarray
    self_trained: SelfTrained
    seconds: dict[str, float]


def prepare(
    corpus: Corpus, settings: WestclassSettings, run: RunFolder, *, seed: int, quiet: bool
) -> Prepared:
    """Train word vectors, fit the topics and generate pseudo documents; what cannot work is refused
    before the long work.
    """
    labelled = find_labelled(corpus, settings)
    tokens = tokenize(corpus.texts, faithful=settings.faithful, quiet=quiet)
    counts = word_counts(tokens)
    if not any(map(is_word, counts)):
        raise LopsError(
            f"found no word in {len(corpus)} documents (only blanks, marks or nothing); wanted text"
        )
    settings = settings.for_length(counts.total() / len(corpus))
    documents = as_read(tokens, settings)
    frequent = {word for word, n in word_counts(documents).items() if n >= settings.min_count}
    pieces = find_seeds(corpus, documents, labelled, settings, frequent)
    n_samples = len(corpus.classes) * settings.per_class
    settings.check_checkpoints(probe_updates(settings, n_samples), f"{n_samples} pseudo documents")
    arrays, vector_seconds = run.stage(
        "word_vectors", partial(_vector_arrays, documents, counts, settings, seed)
    )
    vectors = WordVectors(tuple(unpack_strings(arrays["words"])), arrays["vectors"])
    unit = WordVectors(vectors.words, _unit(vectors.vectors))
    topics = find_topics(unit.vectors, seed_vectors(pieces, unit))
    drawn, draw_seconds = run.stage(
        "pseudo_documents", partial(_draw, topics, unit, counts, tokens, settings, seed, quiet)
    )
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


def run_arm(
    arm: str, prepared: Prepared, run: RunFolder, *, seed: int, device: str, quiet: bool
) -> ArmResult:
    """Run one arm; the arms differ in the selector and in nothing else."""
    settings, samples = prepared.settings, prepared.pseudo_documents
    labels = np.array(prepared.corpus.classes, dtype=object)[prepared.codes]
    selector = _selector(arm, prepared, seed=seed, device=device, quiet=quiet)
    # The insertion point of the LOPS paper (appendix, compared methods): pseudo documents are
    # there, the network is not trained yet.
    selection, select_seconds = run.select(f"{arm}-selection", lambda: selector(samples, labels))
    network = build_network(prepared.vectors, settings, device, quiet=quiet)
    trusted = trusted_positions(selection, labels)
    pretrain = partial(_pretrain, network, prepared, trusted, seed)
    pretrained, pretrain_seconds = run.stage(f"{arm}-pretraining", pretrain)
    improve = partial(_self_train, network, prepared, pretrained, run, arm, seed, quiet)
    final, self_seconds = run.stage(f"{arm}-self-training", improve)
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


def _selector(arm: str, prepared: Prepared, *, seed: int, device: str, quiet: bool) -> Selector:
    if arm == "standard":
        return keep_all
    settings = prepared.settings
    probe = build_probe(prepared.vectors, settings, device, quiet=quiet)
    return Lops(
        probe,
        tau=settings.tau,
        rule=settings.rule,
        every=settings.updates_between_checkpoints,
        seed=seed,
    )


def _pretrain(
    network: Network, prepared: Prepared, trusted: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Train on the trusted pseudo documents, and on the labelled documents, which no selector sees."""
    labelled, copies = prepared.labelled, _COPIES[prepared.settings.network]
    given = np.repeat(np.arange(len(labelled.positions)), copies)
    samples = [prepared.pseudo_documents[i] for i in trusted] + [
        prepared.documents[labelled.positions[i]] for i in given
    ]
    codes = np.concatenate([prepared.codes[trusted], labelled.codes[given]])
    network.fit(samples, codes, len(prepared.corpus.classes), seed=seed)
    return {"probabilities": network.predict_proba(prepared.documents), **_weight_arrays(network)}


def _self_train(
    network: Network,
    prepared: Prepared,
    pretrained: Mapping[str, np.ndarray],
    run: RunFolder,
    arm: str,
    seed: int,
    quiet: bool,
) -> dict[str, np.ndarray]:
    weights = [
        pretrained[f"weight{i}"]
        for i in range(sum(name.startswith("weight") for name in pretrained))
    ]
    network.restore(weights, len(prepared.corpus.classes), seed=seed)
    sizes = np.array([sum(map(len, document)) for document in prepared.documents])
    labelled = (prepared.labelled.positions, prepared.labelled.codes)
    done = self_train(
        network,
        network.prepare(prepared.documents),
        sizes,
        prepared.settings,
        labelled,
        seed=seed,
        quiet=quiet,
    )
    model = WestclassClassifier(prepared.corpus.classes, network, prepared.settings)
    run.save_model(run.arm(arm) / "model", model.save)
    return {
        "probabilities": done.probabilities,
        "iterations": np.array(done.iterations),
        "changed": np.array(done.changed),
        "converged": np.array(done.converged),
    }


def _weight_arrays(network: Network) -> dict[str, np.ndarray]:
    return {f"weight{i}": weight for i, weight in enumerate(network.trainable_weights())}


def find_labelled(corpus: Corpus, settings: WestclassSettings) -> Labelled:
    """Return positions and codes of the settings' labelled documents; ids and classes that the
    corpus lacks are refused.
    """
    position = {name: i for i, name in enumerate(corpus.ids)}
    code = {name: i for i, name in enumerate(corpus.classes)}
    for name, label in settings.labelled:
        if name not in position:
            raise LopsError(
                f"labelled document {name!r} is not in {corpus.name}; wanted ids of its documents, such as {corpus.ids[0]!r}"
            )
        if label not in code:
            raise LopsError(
                f"labelled document {name!r} has class {label!r}; wanted one of {', '.join(corpus.classes)}"
            )
    repeated = [
        name for name, times in Counter(name for name, _ in settings.labelled).items() if times > 1
    ]
    if repeated:
        raise LopsError(
            f"labelled documents given more than once: {listed(repeated, 5)}; wanted each id once"
        )
    pairs = sorted((position[name], code[label]) for name, label in settings.labelled)
    return Labelled(
        np.array([place for place, _ in pairs], dtype=np.int64),
        np.array([own for _, own in pairs], dtype=np.int64),
    )


def find_seeds(
    corpus: Corpus,
    documents: Sequence[Document],
    labelled: Labelled,
    settings: WestclassSettings,
    known: Collection[str],
) -> dict[str, list[Pieces]]:
    """Return what the supervision says of each class, as words of the vocabulary."""
    if settings.supervision == "names":
        return seed_pieces({label: [label] for label in corpus.classes}, known)
    if settings.supervision == "keywords":
        return seed_pieces({label: corpus.seeds.get(label, ()) for label in corpus.classes}, known)
    given = [documents[i] for i in labelled.positions]
    return seed_pieces(
        words_of_documents(
            given, [corpus.classes[i] for i in labelled.codes], corpus.classes, known
        ),
        known,
    )


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
    background = np.array(
        [counts[word] for word in vectors.words]
    )  # of whole documents, which hold no padding
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
    """Return the lengths that pseudo documents may have: those of the real ones, as the network
    reads them.

    Under ``faithful`` there is one: the mean over whole documents, rounded down, closing marks
    included, at most what the network reads.
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
    return [
        [min(longest, max(1, int(np.mean(sentences))))]
        * min(most, max(1, len(sentences) // len(found)))
    ]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12),
        dtype=np.float32,
    )
