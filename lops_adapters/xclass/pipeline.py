"""X-Class from top to bottom; :func:`run_arm` selects after alignment, as in the LOPS paper.

Source: Wang, Mekala and Shang, "X-Class: Text Classification with Extremely Weak Supervision",
NAACL 2021; docs/differences.md lists what differs.
"""

import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.encoders.text_vectors import TextEncoder
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs import stages
from lops_adapters.runs.classifiers import ProbeClassifier, build_classifier
from lops_adapters.runs.files import label_table
from lops_adapters.runs.job import Job
from lops_adapters.runs.stages import Samples, Stage, iteration, trusted
from lops_adapters.storage import pack_strings, unpack_strings, user_cache
from lops_adapters.xclass.alignment import Alignment, align, most_confident, nearest_class
from lops_adapters.xclass.classes import class_vectors, describe_classes
from lops_adapters.xclass.documents import document_vectors
from lops_adapters.xclass.names import check_names, doubts, name_vectors, unheard
from lops_adapters.xclass.settings import ALL, SENTENCES, XclassSettings
from lops_adapters.xclass.vectors import cached_vectors, static_vectors
from lops_adapters.xclass.words import WordCorpus, cleaned, read_words

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Prepared(stages.Prepared):
    """What all arms share.

    Attributes:
        readable: (m,) int64 positions of the documents with a word; the others are not aligned.
        alignment: of the readable documents.
        pseudo_labels: of the most confident documents of each class.
    """

    readable: np.ndarray
    alignment: Alignment
    pseudo_labels: PseudoLabels


def prepare(corpus: Corpus, job: Job[XclassSettings]) -> Prepared:
    """Represent and align the documents; LopsError: names, texts or settings cannot work."""
    check_names(first_names(corpus))
    settings, folder = job.settings, job.folder
    words = read_words(corpus.texts, faithful=settings.faithful, quiet=job.quiet)
    readable = np.unique(words.document)
    _check(readable, corpus, job)
    if settings.alignment == SENTENCES:  # which has no words of classes that would show it
        for message in unheard(first_names(corpus), set(words.vocabulary)):
            warnings.warn(message, LopsWarning, stacklevel=2)
    represent = (
        partial(_represent_sentences, readable)
        if settings.alignment == SENTENCES
        else partial(_represent, words)
    )
    arrays, encode_seconds = folder.stage("representation", partial(represent, corpus, job))
    for vectors in ("vectors.npy", "vectors.json"):  # the largest files, no longer needed
        (folder.work / vectors).unlink(missing_ok=True)
    aligned, align_seconds = folder.stage(
        "alignment", partial(_align, arrays, readable, settings, job.seed)
    )
    alignment = Alignment(aligned["codes"], aligned["confidence"])
    empty = [label for code, label in enumerate(corpus.classes) if code not in alignment.codes]
    if empty:
        message = f"no document is aligned with {', '.join(empty)}: the classifier cannot learn "
        warnings.warn(f"{message}{'it' if len(empty) == 1 else 'them'}", LopsWarning, stacklevel=2)
    described = _described(words, corpus, arrays, settings) if "words" in arrays else {}
    labels = pseudo_label(corpus, readable, alignment, settings.confident, job.seed)
    about: dict[str, Any] = {"documents_without_words": len(corpus) - len(readable)}
    if described:
        sources = unpack_strings(arrays["name_sources"])
        about["name_vectors"] = dict(zip(corpus.classes, sources, strict=True))
        about["words_per_class"] = {name: len(found) for name, found in described.items()}
    return Prepared(
        corpus=corpus,
        samples=Samples.documents(labels, corpus),
        seconds={"representation": encode_seconds, "alignment": align_seconds},
        about=about,
        tables={"class_words.json": described} if described else {},
        predicted={
            "representation": (readable, aligned["represented"]),
            "alignment": (readable, alignment.codes),
        },
        readable=readable,
        alignment=alignment,
        pseudo_labels=labels,
    )


def run_arm(arm: str, prepared: Prepared, job: Job[XclassSettings]) -> Iterator[Stage]:
    """Yield the one stage of an arm: ``lops`` selects among the most confident half, as the paper.

    ``lops-all`` and ``committee`` select among all aligned documents, and so does ``random`` as the
    control of ``committee``. The Standard arm trains on the most confident half.
    """
    corpus, settings, folder = prepared.corpus, job.settings, job.folder
    labels = prepared.pseudo_labels
    controlled = job.controlled("{}-selection", arm) if settings.row(arm).control else arm
    corrects = controlled is not None and settings.row(controlled).corrects
    if settings.split(arm)[1] == ALL or corrects:
        aligned = prepared.readable, prepared.alignment
        labels = pseudo_label(corpus, *aligned, 1.0, job.seed)
    texts = [cleaned(text) for text in corpus.texts] if settings.faithful else corpus.texts
    samples = [texts[i] for i in labels.positions]
    log.info("%s: %d of %d documents have a pseudo-label", arm, len(labels), len(corpus))
    selector = job.selector(
        arm,
        partial(build_classifier, settings, job.device, probing=True, quiet=job.quiet),
        positions=labels.positions,
        control_of="{}-selection",
        correct=True,
    )
    # The paper's insertion point (appendix, compared methods): aligned, not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-selection", partial(selector, samples, labels.labels)
    )
    kept, codes = trusted(selection, labels)
    train = partial(_train, [samples[i] for i in kept], codes, corpus, job, arm)
    arrays, train_seconds = folder.stage(f"{arm}-classifier", train)
    tables = {"pseudo_labels-0.csv": label_table(Samples.documents(labels, corpus))}
    seconds, probabilities = (select_seconds, train_seconds), arrays["probabilities"]
    yield iteration(0, labels, corpus, selection, probabilities, seconds, tables=tables)


def pseudo_label(
    corpus: Corpus, readable: np.ndarray, alignment: Alignment, fraction: float, seed: int
) -> PseudoLabels:
    """Return the aligned classes of the most confident fraction per class as pseudo-labels.

    Their score is the confidence of the alignment. LopsError if all of them are of one class.
    """
    kept = most_confident(alignment, fraction, seed)
    codes = alignment.codes[kept]
    if len(np.unique(codes)) < 2:
        raise LopsError(
            f"all {len(kept)} pseudo-labels are {corpus.classes[codes[0]]!r}; wanted at least two "
            "classes: give more telling class names"
        )
    scores = alignment.confidence[kept].astype(np.float64)
    return PseudoLabels(readable[kept], codes, scores, len(corpus), corpus.classes)


def first_names(corpus: Corpus) -> list[str]:
    """Return the name of each class that X-Class starts from: the first, as it takes one."""
    return [names[0] for names in corpus.names.values()]


def _check(readable: np.ndarray, corpus: Corpus, job: Job[XclassSettings]) -> None:
    settings = job.settings
    if len(readable) < len(corpus.classes):
        raise LopsError(
            f"found {len(readable)} documents with a word among {len(corpus)}, for "
            f"{len(corpus.classes)} classes; wanted at least as many"
        )
    expected = int(settings.confident * len(readable))
    build_classifier(settings, job.device)  # a missing encoder is refused here
    probe = build_classifier(settings, job.device, probing=True)
    settings.check_probe(probe, expected, f"about {expected} pseudo-labelled documents")


def _represent(
    words: WordCorpus, corpus: Corpus, job: Job[XclassSettings]
) -> dict[str, np.ndarray]:
    """Return vectors of classes and documents, after one pass of the encoder."""
    settings = job.settings
    encoder = ContextEncoder(
        settings.encoder, layers=1, max_pieces=settings.max_pieces, device=job.device
    )
    cache = user_cache() / "vectors"
    vectors = cached_vectors(words, encoder, job.folder.work, cache, quiet=job.quiet)
    word_id, document = words.word_id[words.positions], words.document
    static = static_vectors(word_id, vectors, len(words.vocabulary))
    vocabulary = {word: i for i, word in enumerate(words.vocabulary)}
    names = name_vectors(first_names(corpus), vocabulary, static, encoder)
    frequent = words.is_word & (words.counts >= settings.min_count)
    described = describe_classes(
        names.vectors,
        names.words,
        static,
        np.flatnonzero(frequent),
        most=settings.class_words,
        faithful=settings.faithful,
    )
    known = frequent[word_id]
    # Documents without a frequent word use all their words.
    known |= ~np.isin(document, document[known])
    represented = document_vectors(
        word_id,
        document,
        vectors,
        static,
        described.vectors,
        len(corpus),
        rows=np.flatnonzero(known),
        quiet=job.quiet,
    )
    return {
        "documents": represented,
        "classes": described.vectors,
        "words": np.array([word for row in described.words for word in row], dtype=np.int64),
        "word_counts": np.array([len(row) for row in described.words], dtype=np.int64),
        "name_sources": pack_strings(names.source),
    }


def _represent_sentences(
    readable: np.ndarray, corpus: Corpus, job: Job[XclassSettings]
) -> dict[str, np.ndarray]:
    """Return vectors of classes and documents, each centred: names and texts differ in style.

    The classifiers ``hybrid`` and ``embedding`` read the same vectors, which are computed once.
    """
    encoder = TextEncoder(
        job.settings.encoder,
        job.settings.max_tokens,
        device=job.device,
        cache=user_cache() / "vectors",
    )
    classes = class_vectors(first_names(corpus), encoder.encode)
    documents = encoder.encode(corpus.texts, quiet=job.quiet)
    return {
        "documents": documents - documents[readable].mean(axis=0),
        "classes": classes - classes.mean(axis=0),
    }


def _described(
    words: WordCorpus, corpus: Corpus, arrays: dict[str, np.ndarray], settings: XclassSettings
) -> dict[str, list[str]]:
    """Return the words of each class; warn of names that may be wrong."""
    per_class = np.split(arrays["words"], np.cumsum(arrays["word_counts"])[:-1])
    described = {
        label: [words.vocabulary[i] for i in class_words]
        for label, class_words in zip(corpus.classes, per_class, strict=True)
    }
    for label, class_words in described.items():  # tells early whether the names are good
        log.info("class %s: %s", label, ", ".join(class_words[:10]) or "no words")
    sources = unpack_strings(arrays["name_sources"])
    frequent = int((words.is_word & (words.counts >= settings.min_count)).sum())
    for message in doubts(first_names(corpus), sources, list(described.values()), frequent):
        warnings.warn(message, LopsWarning, stacklevel=2)
    return described


def _align(
    arrays: dict[str, np.ndarray], readable: np.ndarray, settings: XclassSettings, seed: int
) -> dict[str, np.ndarray]:
    documents, classes = arrays["documents"][readable], arrays["classes"]
    alignment = align(
        documents,
        classes,
        components=settings.components,
        share_power=settings.share_power,
        seed=seed,
    )
    return {
        "represented": nearest_class(documents, classes),
        "codes": alignment.codes,
        "confidence": alignment.confidence,
    }


def _train(
    texts: Sequence[str], codes: np.ndarray, corpus: Corpus, job: Job[XclassSettings], arm: str
) -> dict[str, Any]:
    classifier = build_classifier(job.settings, job.device, quiet=job.quiet)
    classifier.fit(texts, codes, len(corpus.classes), seed=job.seed)
    if not job.settings.rounds:
        job.save_model(arm, ProbeClassifier("xclass", corpus.classes, classifier))
    return {"probabilities": classifier.predict_proba(corpus.texts)}
