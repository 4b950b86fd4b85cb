"""WeSTClass from top to bottom; :func:`run_arm` selects pseudo documents or real documents.

The LOPS paper selects among the pseudo documents. Wrong labels are among the network's predictions
on real documents, which the final classifier is trained on.

Source: Meng, Shen, Zhang and Han, "Weakly-Supervised Neural Text Classification", CIKM 2018;
docs/differences.md lists what differs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.word_vectors import train_word_vectors, with_random_vectors
from lops_adapters.encoders.words import WordVectors
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs import stages
from lops_adapters.runs.arms import STANDARD
from lops_adapters.runs.job import Job
from lops_adapters.runs.rounds import is_at_documents
from lops_adapters.runs.stages import Samples, Stage
from lops_adapters.scripts import words_to_cut
from lops_adapters.selection import trusted_positions
from lops_adapters.storage import pack_strings, unpack_strings, user_cache
from lops_adapters.westclass.classifier import Network, build_network, build_probe
from lops_adapters.westclass.model import WestclassClassifier, as_read
from lops_adapters.westclass.pseudo_documents import PseudoDocuments, generate, shapes
from lops_adapters.westclass.seeds import seed_vectors
from lops_adapters.westclass.self_training import SelfTrained, self_train
from lops_adapters.westclass.settings import WestclassSettings, filled
from lops_adapters.westclass.supervision import find_labelled, find_seeds
from lops_adapters.westclass.tables import about, samples_of, tables_of
from lops_adapters.westclass.tokens import Document, flat, is_word, tokenize, word_counts
from lops_adapters.westclass.topics import Topic, find_topics

# Copies of each labelled document among the pseudo documents, as in the original.
_COPIES = {"cnn": 10, "han": 1}
# Added to the run's seed, for the probe: beyond the seeds of all runs.
_PROBE_SEED = 2**31


@dataclass(frozen=True, kw_only=True)
class Prepared(stages.Prepared):
    """What all arms share; the samples are pseudo documents.

    Attributes:
        settings: with the sizes for the length of the documents.
        cut_at: words of scripts without spaces, at which documents are cut.
        documents: as the network reads them.
        vectors: Word2Vec on the corpus.
        topics: one per class.
        pseudo_documents: drawn from the topics.
        codes: (m,) int64, their pseudo-labels.
    """

    settings: WestclassSettings
    cut_at: list[str]
    documents: list[Document]
    vectors: WordVectors
    topics: list[Topic]
    pseudo_documents: list[Document]
    codes: np.ndarray


def prepare(corpus: Corpus, job: Job[WestclassSettings]) -> Prepared:
    """Train word vectors, fit topics, make pseudo documents; LopsError: supervision cannot work."""
    settings, folder, seed = job.settings, job.folder, job.seed
    labelled = find_labelled(corpus, settings)
    given = chain(*corpus.seeds.values(), *corpus.names.values())
    cut_at = words_to_cut(corpus.texts, given)
    tokens = tokenize(corpus.texts, cut_at, faithful=settings.faithful, quiet=job.quiet)
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
    pseudo_documents = as_read(pseudo.documents(vectors.words), settings)
    samples = samples_of(pseudo.codes, corpus, settings)
    return Prepared(
        corpus=corpus,
        samples=samples,
        seconds={"word_vectors": vector_seconds, "pseudo_documents": draw_seconds},
        about=about(settings, labelled, vectors, topics),
        tables=tables_of(samples, pseudo_documents, vectors, topics, corpus),
        given=labelled,
        settings=settings,
        cut_at=cut_at,
        documents=documents,
        vectors=vectors,
        topics=topics,
        pseudo_documents=pseudo_documents,
        codes=pseudo.codes,
    )


def run_arm(arm: str, prepared: Prepared, job: Job[WestclassSettings]) -> Iterator[Stage]:
    """Yield pre-training and self-training of one arm; arms differ in the selector and its place.

    ``lops`` selects among the pseudo documents, ``lops-documents`` among the real ones in the last
    stage.
    """
    settings, folder, labels = prepared.settings, job.folder, prepared.samples.labels
    selector = job.selector(
        STANDARD if is_at_documents(arm) else arm,
        partial(build_probe, prepared.vectors, settings, job.device, quiet=job.quiet),
        seed=job.seed + _PROBE_SEED,
        control_of="{}-selection",
    )
    # The paper's insertion point (appendix, compared methods): generated, not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-selection", partial(selector, prepared.pseudo_documents, labels)
    )
    network = build_network(prepared.vectors, settings, job.device, quiet=job.quiet)
    trusted = trusted_positions(selection, labels)
    # Arms that select later share the Standard arm's network.
    owner = STANDARD if is_at_documents(arm) else arm
    pretrained, pretrain_seconds = folder.stage(
        f"{owner}-pretraining", partial(_pretrain, network, prepared, trusted, job.seed)
    )
    improve = partial(_self_train, network, prepared, pretrained, arm, job)
    first = pretrained["probabilities"]
    yield Stage(
        samples=prepared.samples,
        selection=selection,
        probabilities=first,
        seconds={"selection": select_seconds, "training": pretrain_seconds},
        name="pre-training",
        extra={"updates": int(pretrained["updates"])},
    )
    stored, self_seconds = folder.stage(f"{owner}-self-training", improve)
    yield _improved(first, SelfTrained(**stored), self_seconds, prepared)  # type: ignore[arg-type]


def _improved(first: np.ndarray, trained: SelfTrained, seconds: float, prepared: Prepared) -> Stage:
    """Return the stage of self-training: its pseudo-labels are predictions on real documents.

    Pseudo documents have no gold label: their noise, as the network sees it, is the share of real
    documents that it gets wrong after pre-training.
    """
    corpus = prepared.corpus
    measured = prepared.given.others(len(corpus))
    predicted, scores = first[measured].argmax(axis=1), first[measured].max(axis=1)
    labels = PseudoLabels(measured, predicted, scores, len(corpus), corpus.classes)
    limit = f"the limit of {trained.iterations} updates"
    return Stage(
        samples=Samples.documents(labels, corpus),
        selection=None,
        probabilities=trained.probabilities,
        seconds={"self_training": seconds},
        name="self-training",
        extra={
            "updates": trained.iterations,
            "changed": list(trained.changed),
            "stopped": "few documents change their class" if trained.converged else limit,
        },
        table=None,
    )


def _pretrain(
    network: Network, prepared: Prepared, trusted: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Train on the trusted pseudo documents and on all labelled documents.

    All arms make the same number of updates, except under ``faithful``: the same number of epochs.
    """
    labelled, settings = prepared.given, prepared.settings
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
        (prepared.given.positions, prepared.given.codes),
        seed=job.seed,
        quiet=job.quiet,
    )
    if prepared.settings.ends_with_network:
        model = WestclassClassifier(
            prepared.corpus.classes, network, prepared.settings, prepared.cut_at
        )
        job.save_model(arm, model)
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


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
