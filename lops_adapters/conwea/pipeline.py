"""ConWea from top to bottom; :func:`run_arm` selects before each training, as in the LOPS paper.

Source: Mekala and Shang, "Contextualized Weak Supervision for Text Classification", ACL 2020;
docs/differences.md lists what differs.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lops_adapters.conwea import seeds as seed_words
from lops_adapters.conwea import update
from lops_adapters.conwea.classifier import build_classifier, reads_texts, word_vectors
from lops_adapters.conwea.contextual import (
    ContextualCorpus,
    build_encoder,
    contextual_vectors,
    contextualise,
)
from lops_adapters.conwea.model import ConweaClassifier
from lops_adapters.conwea.senses import Senses, find_senses, tokens_to_encode
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import TokenizedCorpus, phrases_in, tokenize
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.encoders.words import WordVectors
from lops_adapters.probes.han import HanProbe
from lops_adapters.runs import stages
from lops_adapters.runs.classifiers import ProbeClassifier
from lops_adapters.runs.files import label_table
from lops_adapters.runs.job import Job
from lops_adapters.runs.stages import Samples, Stage, iteration, trusted
from lops_adapters.storage import pack_strings, unpack_strings

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Prepared(stages.Prepared):
    """What all arms share.

    Attributes:
        documents: contextualised; a word with several senses is one word per sense.
        senses: of the words.
        vectors: Word2Vec on ``documents``, if the classifier is a HAN.
        seeds: the first seed words, in all their senses.
    """

    documents: ContextualCorpus
    senses: Senses
    vectors: WordVectors | None
    seeds: seed_words.Seeds


def prepare(corpus: Corpus, job: Job[ConweaSettings]) -> Prepared:
    """Contextualise the corpus; for a HAN, train word vectors; LopsError: seeds cannot work."""
    settings, folder = job.settings, job.folder
    seeds = {label: corpus.seeds.get(label, ()) for label in corpus.classes}
    encoder = None if (folder.work / "senses.npz").exists() else build_encoder(settings, job.device)
    tokens = tokenize(corpus.texts, phrases_in(seeds, corpus.texts), quiet=job.quiet)
    _check(tokens, seeds, settings, job.device)
    senses, sense_seconds = _senses(tokens, seeds, encoder, job)
    documents = contextualise(tokens, senses)
    first = seed_words.initial_seeds(documents, seeds)
    vectors, seconds = None, {"contextualise": sense_seconds}
    if settings.classifier == "han":

        def train() -> dict[str, np.ndarray]:
            trained = word_vectors(documents, settings, job.seed)
            return {"words": pack_strings(trained.words), "vectors": trained.vectors}

        arrays, seconds["word_vectors"] = folder.stage("word_vectors", train)
        vectors = WordVectors(tuple(unpack_strings(arrays["words"])), arrays["vectors"])
    words = {word.partition("$")[0] for word in documents.vocabulary}
    about = {
        "threshold": senses.threshold,
        "words": len(words),
        "ambiguous_words": len(senses.centres),
    }
    return Prepared(
        corpus=corpus,
        samples=Samples.documents(seed_words.pseudo_label(documents, first), corpus),
        seconds=seconds,
        about={"senses": about},
        documents=documents,
        senses=senses,
        vectors=vectors,
        seeds=first,
    )


def _check(
    tokens: TokenizedCorpus,
    seeds: Mapping[str, Sequence[str]],
    settings: ConweaSettings,
    device: str,
) -> None:
    if not tokens.words:
        raise LopsError(
            f"found no word in {tokens.n_documents} documents (only stop words, punctuation or "
            "nothing); wanted text"
        )
    whole = Senses(0.0, {}, np.full(len(tokens.word_id), -1, dtype=np.int32))
    n_labelled = len(seed_words.check_seeds(contextualise(tokens, whole), seeds))
    probe = build_classifier(None, settings, device, probing=True)  # untrained
    settings.check_probe(probe, n_labelled, f"{n_labelled} pseudo-labelled documents")


def run_arm(arm: str, prepared: Prepared, job: Job[ConweaSettings]) -> Iterator[Stage]:
    """Yield the iterations of one arm; arms differ only in the selector."""
    settings, folder, documents = job.settings, job.folder, prepared.documents
    corpus, vectors = prepared.corpus, prepared.vectors
    probe = partial(build_classifier, vectors, settings, job.device, probing=True, quiet=job.quiet)
    as_texts = settings.row(arm).texts or reads_texts(settings.probe, settings)
    samples: Sequence[Any] = corpus.texts if as_texts else documents.documents
    seeds = base = prepared.seeds
    used: list[seed_words.Seeds] = []
    watch = update.SeedWatch(documents)
    for number in range(settings.iterations):
        labels = seed_words.pseudo_label(documents, seeds)
        log.info("%s, iteration %d: %d pseudo-labels", arm, number, len(labels))
        watch.look(f"{arm}, iteration {number}", seeds, labels)
        selector = job.selector(
            arm,
            probe,
            seed=job.seed + number,
            positions=labels.positions,
            control_of=f"{{}}-{number}-selection",
            correct=True,
        )
        labelled = [samples[i] for i in labels.positions]
        # The paper's insertion point (appendix, compared methods): pseudo-labelled, not trained.
        selection, select_seconds = folder.select(
            f"{arm}-{number}-selection", partial(selector, labelled, labels.labels)
        )
        kept, codes = trusted(selection, labels)
        train = partial(_train, arm, number, labels.positions[kept], codes, prepared, job)
        arrays, train_seconds = folder.stage(f"{arm}-{number}-classifier", train)
        probabilities = arrays["probabilities"]
        used.append(seeds)
        tables = {f"pseudo_labels-{number}.csv": label_table(Samples.documents(labels, corpus))}
        yield iteration(
            number,
            labels,
            corpus,
            selection,
            probabilities,
            (select_seconds, train_seconds),
            extra={"seed_words": _counted(documents, seeds)},
            tables={**tables, "seeds.json": used},
        )
        if number < settings.iterations - 1:
            seeds = _next_seeds(documents, seeds, base, probabilities, number, settings)
            base = seeds if number == 0 else base


def _counted(documents: ContextualCorpus, seeds: seed_words.Seeds) -> dict[str, list[list[Any]]]:
    frequency = documents.document_frequency
    return {label: [[word, frequency[word]] for word in words] for label, words in seeds.items()}


def _train(
    arm: str,
    number: int,
    positions: np.ndarray,
    codes: np.ndarray,
    prepared: Prepared,
    job: Job[ConweaSettings],
) -> dict[str, np.ndarray]:
    settings, corpus = job.settings, prepared.corpus
    classes = list(corpus.classes)
    read = reads_texts("same", settings)
    samples: Sequence[Any] = corpus.texts if read else prepared.documents.documents
    classifier = build_classifier(prepared.vectors, settings, job.device, quiet=job.quiet)
    train_on = [samples[i] for i in positions]
    classifier.fit(train_on, codes, len(classes), seed=job.seed + number)
    if number == settings.iterations - 1 and not settings.rounds:
        model: ConweaClassifier | ProbeClassifier = ProbeClassifier("conwea", classes, classifier)
        if isinstance(classifier, HanProbe):
            phrases, centres = phrases_in(corpus.seeds, corpus.texts), prepared.senses.centres
            model = ConweaClassifier(classes, phrases, centres, classifier, settings)
        job.save_model(arm, model)
    return {"probabilities": classifier.predict_proba(samples)}


def _next_seeds(
    documents: ContextualCorpus,
    seeds: seed_words.Seeds,
    base: seed_words.Seeds,
    probabilities: np.ndarray,
    number: int,
    settings: ConweaSettings,
) -> seed_words.Seeds:
    """Return the seed words of the next iteration; ``base`` are the user's, disambiguated."""
    predicted, faithful = probabilities.argmax(axis=1), settings.faithful
    if settings.seed_update == "published":
        indicative = seed_words.scores(documents, predicted, len(seeds))
        if number == 0:
            updated = seed_words.disambiguate(documents, seeds, indicative, faithful=faithful)
        else:
            updated = seed_words.expand(
                documents, seeds, indicative, predicted, number, faithful=faithful
            )
    elif number == 0:
        updated = update.settle(documents, seeds, predicted)
    else:
        updated = update.expand(documents, base, predicted, number, min_lift=settings.min_lift)
    try:
        seed_words.pseudo_label(documents, updated)
    except LopsError as error:
        warnings.warn(
            f"keeping the old seed words; with the new ones {error}", LopsWarning, stacklevel=2
        )
        return seeds
    return updated


def _senses(
    tokens: TokenizedCorpus,
    seeds: Mapping[str, Sequence[str]],
    encoder: ContextEncoder | None,
    job: Job[ConweaSettings],
) -> tuple[Senses, float]:
    """Return the senses of all words and the seconds they took."""
    folder = job.folder
    cluster = partial(_cluster, tokens, seeds, encoder, job)
    arrays, seconds = folder.stage("senses", cluster)
    for leftover in ("vectors.npy", "vectors.json"):  # the largest files, no longer needed
        (folder.work / leftover).unlink(missing_ok=True)
    words = unpack_strings(arrays["words"])
    ends = np.cumsum(arrays["counts"])[:-1]
    centres = dict(zip(words, np.split(arrays["centres"], ends), strict=True)) if words else {}
    senses = Senses(float(arrays["threshold"]), centres, arrays["sense_id"])
    return senses, seconds


def _cluster(
    tokens: TokenizedCorpus,
    seeds: Mapping[str, Sequence[str]],
    encoder: ContextEncoder | None,
    job: Job[ConweaSettings],
) -> dict[str, np.ndarray]:
    settings = job.settings
    assert encoder is not None  # only a finished stage needs none
    encoded = tokens_to_encode(tokens, seeds, settings.min_occurrences, settings.min_per_sense or 0)
    vectors = contextual_vectors(tokens, encoded, encoder, job.folder.work, quiet=job.quiet)
    senses = find_senses(
        tokens,
        encoded,
        vectors,
        seeds,
        min_occurrences=settings.min_occurrences,
        max_occurrences=settings.max_occurrences,
        min_per_sense=settings.min_per_sense or 0,
        restarts=settings.restarts,
        seed=job.seed,
        quiet=job.quiet,
    )
    centres = list(senses.centres.values())
    none = np.zeros((0, vectors.shape[1]), dtype=np.float32)
    return {
        "threshold": np.array(senses.threshold),
        "words": pack_strings(list(senses.centres)),
        "counts": np.array([len(rows) for rows in centres], dtype=np.int64),
        "centres": np.concatenate(centres) if centres else none,
        "sense_id": senses.sense_id,
    }
