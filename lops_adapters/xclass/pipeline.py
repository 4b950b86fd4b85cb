"""X-Class from top to bottom, with a selector at the point where the LOPS paper puts it: after
documents are aligned with classes.

Source: Wang, Mekala and Shang, "X-Class: Text Classification with Extremely Weak Supervision",
NAACL 2021; docs/xclass.md lists what differs.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, LopsWarning, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.probes.context_encoder import ContextEncoder
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import Lops, Selector, keep_all, trusted_positions
from lops_adapters.storage import pack_strings, unpack_strings
from lops_adapters.xclass.alignment import Alignment, align, most_confident, nearest_class
from lops_adapters.xclass.classes import describe_classes
from lops_adapters.xclass.classifier import build_classifier, build_probe
from lops_adapters.xclass.documents import document_vectors
from lops_adapters.xclass.model import XclassClassifier
from lops_adapters.xclass.names import check_names, name_vectors
from lops_adapters.xclass.settings import XclassSettings
from lops_adapters.xclass.vectors import contextual_vectors, static_vectors
from lops_adapters.xclass.words import WordCorpus, cleaned, read_words

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """What all arms share.

    Attributes:
        corpus, settings: of the run.
        readable: (m,) int64 positions of the documents that have a word; the others are aligned
            with nothing.
        represented: (m,) int64 codes of the nearest class, before alignment.
        alignment: of the readable documents.
        class_words: the words each class was described by.
        name_sources: where each class name's vector is from.
        seconds: of each stage.

    """

    corpus: Corpus
    settings: XclassSettings
    readable: np.ndarray
    represented: np.ndarray
    alignment: Alignment
    class_words: dict[str, list[str]]
    name_sources: dict[str, str]
    seconds: dict[str, float]


@dataclass(frozen=True)
class ArmResult:
    """One arm: pseudo-labels by position in the corpus, selection among them, (n, k) probabilities,
    seconds.
    """

    pseudo_labels: PseudoLabels
    selection: Selection
    probabilities: np.ndarray
    seconds: dict[str, float]


def prepare(
    corpus: Corpus, settings: XclassSettings, run: RunFolder, *, seed: int, device: str, quiet: bool
) -> Prepared:
    """Represent and align the documents; what cannot work is refused before the long work."""
    check_names(corpus.classes)
    words = read_words(corpus.texts, faithful=settings.faithful, quiet=quiet)
    wanted = np.flatnonzero(words.is_word[words.word_id])
    document = np.repeat(np.arange(len(corpus)), np.diff(words.document_start))[wanted]
    readable = np.unique(document)
    if len(readable) < len(corpus.classes):
        raise LopsError(
            f"found {len(readable)} documents with a word among {len(corpus)}, for {len(corpus.classes)} classes; wanted at least as many"
        )
    expected = int(settings.confident * len(readable))
    build_classifier(settings, device)  # complains now rather than after the long work
    probe = build_probe(settings, device)
    batch_size = int(getattr(probe, "batch_size", settings.batch_size))
    settings.check_checkpoints(
        probe.max_epochs * -(-expected // batch_size), f"about {expected} pseudo-labelled documents"
    )
    encode = partial(_encode, words, wanted, document, settings, corpus, run, device, quiet)
    arrays, encode_seconds = run.stage("representation", encode)
    (run.work / "vectors.npy").unlink(
        missing_ok=True
    )  # by far the largest file of a run, and no longer needed
    (run.work / "vectors.json").unlink(missing_ok=True)
    aligned, align_seconds = run.stage(
        "alignment", partial(_align, arrays, readable, settings, seed)
    )
    sizes = np.split(arrays["words"], np.cumsum(arrays["word_counts"])[:-1])
    described = {
        label: [words.vocabulary[i] for i in found]
        for label, found in zip(corpus.classes, sizes, strict=True)
    }
    sources = dict(zip(corpus.classes, unpack_strings(arrays["name_sources"]), strict=True))
    alignment = Alignment(aligned["codes"], aligned["confidence"])
    lonely = [
        label for code, label in enumerate(corpus.classes) if not (alignment.codes == code).any()
    ]
    if lonely:
        warnings.warn(
            f"no document is aligned with {', '.join(lonely)}; no classifier can learn that",
            LopsWarning,
            stacklevel=2,
        )
    seconds = {"representation": encode_seconds, "alignment": align_seconds}
    return Prepared(
        corpus, settings, readable, aligned["represented"], alignment, described, sources, seconds
    )


def run_arm(
    arm: str, prepared: Prepared, run: RunFolder, *, seed: int, device: str, quiet: bool
) -> ArmResult:
    """Run one arm: Standard trains on the most confident half; ``lops`` selects from that half,
    ``lops-all`` from all documents.
    """
    corpus, settings = prepared.corpus, prepared.settings
    pseudo_labels = pseudo_label(prepared, 1.0 if arm == "lops-all" else settings.confident, seed)
    texts = [cleaned(text) for text in corpus.texts] if settings.faithful else corpus.texts
    labelled = [texts[i] for i in pseudo_labels.positions]
    log.info("%s: %d of %d documents have a pseudo-label", arm, len(pseudo_labels), len(corpus))
    selector = _selector(arm, prepared, seed=seed, device=device, quiet=quiet)
    # The insertion point of the LOPS paper (appendix, compared methods): documents are aligned, the
    # classifier is not trained yet.
    selection, select_seconds = run.select(
        f"{arm}-selection", lambda: selector(labelled, pseudo_labels.labels)
    )
    trusted = trusted_positions(selection, pseudo_labels.labels)
    train = partial(
        _train,
        [labelled[i] for i in trusted],
        pseudo_labels.labels[trusted],
        prepared,
        run,
        arm,
        seed,
        device,
        quiet,
    )
    arrays, train_seconds = run.stage(f"{arm}-classifier", train)
    return ArmResult(
        pseudo_labels,
        selection,
        arrays["probabilities"],
        {"selection": select_seconds, "classifier": train_seconds},
    )


def pseudo_label(prepared: Prepared, fraction: float, seed: int) -> PseudoLabels:
    """Return the aligned classes of the most confident fraction of each class as pseudo-labels,
    scored by confidence.
    """
    classes, alignment = np.array(prepared.corpus.classes, dtype=object), prepared.alignment
    kept = most_confident(alignment, fraction, seed)
    labels = classes[alignment.codes[kept]]
    if len(set(labels)) < 2:
        raise LopsError(
            f"all {len(kept)} pseudo-labels are for {labels[0]!r}; wanted at least two classes: give class names that say more"
        )
    scores = alignment.confidence[kept].astype(np.float64)
    return PseudoLabels(
        prepared.readable[kept], labels, scores, len(prepared.corpus), prepared.corpus.classes
    )


def _selector(arm: str, prepared: Prepared, *, seed: int, device: str, quiet: bool) -> Selector:
    if arm == "standard":
        return keep_all
    settings = prepared.settings
    probe = build_probe(settings, device, quiet=quiet)
    return Lops(
        probe,
        tau=settings.tau,
        rule=settings.rule,
        every=settings.updates_between_checkpoints,
        seed=seed,
    )


def _encode(
    words: WordCorpus,
    wanted: np.ndarray,
    document: np.ndarray,
    settings: XclassSettings,
    corpus: Corpus,
    run: RunFolder,
    device: str,
    quiet: bool,
) -> dict[str, np.ndarray]:
    """Vectors of words, class names, classes and documents, after one pass of the encoder."""
    encoder = ContextEncoder(
        settings.encoder, layers=1, max_pieces=settings.max_pieces, device=device
    )
    vectors = contextual_vectors(words, wanted, encoder, run.work, quiet=quiet)
    word_id = words.word_id[wanted]
    static = static_vectors(word_id, vectors, len(words.vocabulary))
    names = name_vectors(
        corpus.classes, {word: i for i, word in enumerate(words.vocabulary)}, static, encoder
    )
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
    known |= ~np.isin(
        document, document[known]
    )  # a document without a frequent word is represented by all it has
    rows = np.flatnonzero(known)
    found = document_vectors(
        word_id,
        document,
        vectors,
        static,
        described.vectors,
        len(corpus),
        rows=rows,
        attention=settings.attention,
        quiet=quiet,
    )
    return {
        "documents": found,
        "classes": described.vectors,
        "words": np.array([word for row in described.words for word in row], dtype=np.int64),
        "word_counts": np.array([len(row) for row in described.words], dtype=np.int64),
        "name_sources": pack_strings(names.source),
    }


def _align(
    arrays: dict[str, np.ndarray], readable: np.ndarray, settings: XclassSettings, seed: int
) -> dict[str, np.ndarray]:
    documents, classes = arrays["documents"][readable], arrays["classes"]
    found = align(
        documents, classes, method=settings.alignment, components=settings.components, seed=seed
    )
    return {
        "represented": nearest_class(documents, classes),
        "codes": found.codes,
        "confidence": found.confidence,
    }


def _train(
    texts: Sequence[str],
    labels: np.ndarray,
    prepared: Prepared,
    run: RunFolder,
    arm: str,
    seed: int,
    device: str,
    quiet: bool,
) -> dict[str, Any]:
    corpus = prepared.corpus
    classifier = build_classifier(prepared.settings, device, quiet=quiet)
    codes = np.array([corpus.classes.index(label) for label in labels])
    classifier.fit(texts, codes, len(corpus.classes), seed=seed)
    probabilities = classifier.predict_proba(corpus.texts)
    run.save_model(run.arm(arm) / "model", XclassClassifier(corpus.classes, classifier).save)
    return {"probabilities": probabilities}
