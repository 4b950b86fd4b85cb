"""WeSTClass from top to bottom; :func:`run_arm` selects pseudo documents or real documents.

The LOPS paper selects among the pseudo documents. Wrong labels are among the network's predictions
on real documents, which the final classifier is trained on.

Source: Meng, Shen, Zhang and Han, "Weakly-Supervised Neural Text Classification", CIKM 2018;
docs/differences.md lists what differs.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.word_vectors import train_word_vectors, with_random_vectors
from lops_adapters.encoders.words import WordVectors
from lops_adapters.runs.final import NetworkResult, is_at_documents
from lops_adapters.runs.job import Job
from lops_adapters.runs.rounds import Given
from lops_adapters.runs.settings import STANDARD
from lops_adapters.scripts import words_to_cut
from lops_adapters.selection import trusted_positions
from lops_adapters.storage import pack_strings, unpack_strings, user_cache
from lops_adapters.westclass.classifier import Network, build_network, build_probe
from lops_adapters.westclass.model import WestclassClassifier, as_read
from lops_adapters.westclass.pseudo_documents import PseudoDocuments, generate
from lops_adapters.westclass.seeds import seed_vectors
from lops_adapters.westclass.self_training import SelfTrained, self_train
from lops_adapters.westclass.settings import WestclassSettings, filled
from lops_adapters.westclass.supervision import find_labelled, find_seeds
from lops_adapters.westclass.tokens import Document, flat, is_word, shape, tokenize, word_counts
from lops_adapters.westclass.topics import Topic, find_topics

# Copies of each labelled document among the pseudo documents, as in the original.
_COPIES = {"cnn": 10, "han": 1}
# Added to the run's seed, for the probe: beyond the seeds of all runs.
_PROBE_SEED = 2**31


@dataclass(frozen=True)
class Prepared:
    """What all arms share.

    Attributes:
        corpus: of the run.
        settings: with the sizes for the length of the documents.
        words: of scripts without spaces, at which documents are cut.
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
    words: list[str]
    documents: list[Document]
    labelled: Given
    vectors: WordVectors
    topics: list[Topic]
    pseudo_documents: list[Document]
    codes: np.ndarray
    seconds: dict[str, float]

    @property
    def labels(self) -> np.ndarray:
        """(m,) object, the pseudo-label of each pseudo document."""
        return np.array(self.corpus.classes, dtype=object)[self.codes]

    @property
    def sample_ids(self) -> list[str]:
        """An id per pseudo document: its class and its number within the class, from 1."""
        numbers: Counter[str] = Counter()
        ids = []
        for label in self.labels:
            numbers[label] += 1
            ids.append(f"{label}-{numbers[label]}")
        return ids


@dataclass(frozen=True)
class Pretrained(NetworkResult):
    """One arm, with the ``updates`` of pre-training; its selection is among pseudo documents."""

    updates: int


def prepare(corpus: Corpus, job: Job[WestclassSettings]) -> Prepared:
    """Train word vectors, fit the topics and generate pseudo documents.

    Raises:
        LopsError: texts, supervision or settings cannot work; raised before the long work.
    """
    settings, folder, seed = job.settings, job.folder, job.seed
    labelled = find_labelled(corpus, settings)
    given = chain(*corpus.seeds.values(), *corpus.names.values())
    words = words_to_cut(corpus.texts, given)
    tokens = tokenize(corpus.texts, words, faithful=settings.faithful, quiet=job.quiet)
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
    probe = build_probe(None, settings, job.device)  # refuses bad encoders
    settings.check_probe(probe, n_samples, f"{n_samples} pseudo documents")
    arrays, vector_seconds = folder.stage(
        "word_vectors", partial(_vector_arrays, documents, counts, settings, seed)
    )
    vectors = WordVectors(tuple(unpack_strings(arrays["words"])), arrays["vectors"])
    unit = WordVectors(vectors.words, _unit(vectors.vectors))
    topics = find_topics(unit.vectors, seed_vectors(pieces, unit))
    draw = partial(_draw, topics, unit, counts, tokens, settings, seed, job.quiet)
    drawn, draw_seconds = folder.stage("pseudo_documents", draw)
    pseudo = PseudoDocuments(**drawn)
    return Prepared(
        corpus,
        settings,
        words,
        documents,
        labelled,
        vectors,
        topics,
        as_read(pseudo.documents(vectors.words), settings),
        pseudo.codes,
        {"word_vectors": vector_seconds, "pseudo_documents": draw_seconds},
    )


def run_arm(arm: str, prepared: Prepared, job: Job[WestclassSettings]) -> Pretrained:
    """Run one arm; arms differ only in the selector and its place.

    ``lops`` selects among the pseudo documents, ``lops-documents`` among the real ones in the last
    stage.
    """
    settings, samples, folder = prepared.settings, prepared.pseudo_documents, job.folder
    selector = job.selector(
        STANDARD if is_at_documents(arm) else arm,
        partial(build_probe, prepared.vectors, settings, job.device, quiet=job.quiet),
        seed=job.seed + _PROBE_SEED,
        control_of="{}-selection",
    )
    # The paper's insertion point (appendix, compared methods): generated, not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-selection", partial(selector, samples, prepared.labels)
    )
    network = build_network(prepared.vectors, settings, job.device, quiet=job.quiet)
    trusted = trusted_positions(selection, prepared.labels)
    # Arms that select later share the Standard arm's network.
    owner = STANDARD if is_at_documents(arm) else arm
    pretrained, pretrain_seconds = folder.stage(
        f"{owner}-pretraining", partial(_pretrain, network, prepared, trusted, job.seed)
    )
    improve = partial(_self_train, network, prepared, pretrained, arm, job)
    stored, self_seconds = folder.stage(f"{owner}-self-training", improve)
    self_trained = SelfTrained(**stored)  # type: ignore[arg-type]
    seconds = {
        "selection": select_seconds,
        "training": pretrain_seconds,
        "self_training": self_seconds,
    }
    trained = pretrained["probabilities"], self_trained, seconds
    return Pretrained(selection, *trained, int(pretrained["updates"]))


def predicted(prepared: Prepared, probabilities: np.ndarray) -> np.ndarray:
    """Return (m,) object, the predicted classes of the documents that came without a label."""
    names = np.array(prepared.corpus.classes, dtype=object)
    measured = prepared.labelled.others(len(prepared.corpus))
    return np.asarray(names[probabilities[measured].argmax(axis=1)])


def _pretrain(
    network: Network, prepared: Prepared, trusted: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Train on the trusted pseudo documents and on all labelled documents.

    All arms make the same number of updates, except under ``faithful``: the same number of epochs.
    """
    labelled, settings = prepared.labelled, prepared.settings
    given = np.repeat(np.arange(len(labelled.positions)), _COPIES[settings.network])
    samples = [prepared.pseudo_documents[i] for i in trusted]
    samples += [prepared.documents[labelled.positions[i]] for i in given]
    codes = np.concatenate([prepared.codes[trusted], labelled.codes[given]])
    n = len(samples) if settings.faithful else len(prepared.codes) + len(given)
    updates = filled(settings.pretrain_epochs) * -(-n // settings.batch_size)
    network.fit(samples, codes, len(prepared.corpus.classes), seed=seed, updates=updates)
    probabilities = network.predict_proba(prepared.documents)
    weights = {f"weight{i}": weight for i, weight in enumerate(network.trainable_weights())}
    return {"probabilities": probabilities, "updates": np.array(updates), **weights}


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
        len(prepared.corpus),
        prepared.settings,
        (prepared.labelled.positions, prepared.labelled.codes),
        seed=job.seed,
        quiet=job.quiet,
    )
    if prepared.settings.ends_with_network:
        model = WestclassClassifier(
            prepared.corpus.classes, network, prepared.settings, prepared.words
        )
        job.folder.save_model(job.folder.arm(arm) / "model", model.save)
    return {name: np.asarray(value) for name, value in vars(done).items()}


def _vector_arrays(
    documents: Sequence[Document], counts: Counter[str], settings: WestclassSettings, seed: int
) -> dict[str, np.ndarray]:
    vectors = train_word_vectors(
        [flat(document) for document in documents],
        size=settings.vector_size,
        min_count=settings.min_count,
        epochs=5,
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
    return dict(vars(drawn))


def shapes(
    documents: Sequence[Document], vectors: WordVectors, settings: WestclassSettings
) -> list[list[int]]:
    """Return the lengths that pseudo documents can have: the real documents', as read.

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
    whole = [shape(document, words, sys.maxsize, sys.maxsize, ends=True) for document in documents]
    sentences = [length for lengths in whole for length in lengths]
    mean_length = min(longest, max(1, int(np.mean(sentences))))
    mean_count = min(most, max(1, len(sentences) // len(whole)))
    return [[mean_length] * mean_count]


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
