"""WeSTClass's supervision: names, seed words, or labelled documents."""

import argparse
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.datasets.checked import read_given_labels
from lops_adapters.datasets.class_words import SEED_FILES, to_write
from lops_adapters.labels.labelled import codes_among
from lops_adapters.runs.stages import Given
from lops_adapters.westclass.seeds import Pieces, seed_pieces, words_of_documents
from lops_adapters.westclass.settings import WestclassSettings
from lops_adapters.westclass.tokens import Document


def supervised(
    settings: WestclassSettings, options: argparse.Namespace, dataset: Dataset, seed: int
) -> WestclassSettings:
    """Return the settings with the supervision of options and data; LopsError if these clash."""
    if options.labelled_file is not None and options.labelled_per_class is not None:
        raise LopsError("found --labelled and --labelled-per-class; wanted one of them")
    pairs: list[tuple[str, str]] = []
    if options.labelled_file is not None:
        labels = read_given_labels(options.labelled_file, dataset.corpus)
        pairs = [(dataset.corpus.ids[i], label) for i, label in labels.items()]
    elif options.labelled_per_class is not None:
        pairs = draw_labelled(dataset, options.labelled_per_class, seed)
    kind = options.supervision or (
        "documents" if pairs else "keywords" if any(dataset.corpus.seeds.values()) else "names"
    )
    if kind == "documents" and not pairs:
        raise LopsError(
            "--supervision documents needs labelled documents; give --labelled CSV or "
            "--labelled-per-class N"
        )
    if kind != "documents" and pairs:
        raise LopsError(
            f"found labelled documents and --supervision {kind}; wanted --supervision documents, "
            "or no labelled documents"
        )
    if kind == "keywords" and not any(dataset.corpus.seeds.values()):
        raise LopsError(
            f"{options.dataset} has no seed words; "
            f"{to_write(SEED_FILES[0], dataset.corpus.classes)}, or give --supervision names"
        )
    return replace(settings, supervision=kind, labelled=tuple(pairs))


def draw_labelled(dataset: Dataset, per_class: int, seed: int) -> list[tuple[str, str]]:
    """Draw documents with their gold labels, at most half per class; they are not measured.

    LopsError without gold labels, or with too few documents of a class.
    """
    if dataset.gold is None:
        raise LopsError(
            "--labelled-per-class needs gold labels, and this data set has none; give "
            "--labelled CSV"
        )
    labels = np.array(dataset.gold.labels, dtype=object)
    rng = np.random.default_rng(seed)
    pairs = []
    for label in dataset.corpus.classes:
        own = np.flatnonzero(labels == label)
        if not 1 <= per_class <= len(own) // 2:
            raise LopsError(
                f"--labelled-per-class is {per_class}; wanted 1 to {len(own) // 2}, half of the "
                f"documents of {label}"
            )
        pairs += [
            (dataset.corpus.ids[i], label)
            for i in np.sort(rng.choice(own, size=per_class, replace=False))
        ]
    return pairs


def find_labelled(corpus: Corpus, settings: WestclassSettings) -> Given:
    """Return the settings' labelled documents, often none."""
    position = {name: i for i, name in enumerate(corpus.ids)}
    codes = codes_among([label for _, label in settings.labelled], corpus.classes)
    places = np.array([position[name] for name, _ in settings.labelled], dtype=np.int64)
    order = np.lexsort((codes, places))
    return Given(places[order], codes[order])


def find_seeds(
    corpus: Corpus,
    documents: Sequence[Document],
    labelled: Given,
    settings: WestclassSettings,
    known: Collection[str],
) -> dict[str, list[Pieces]]:
    """Return the seeds of each class that the supervision gives, as words of the vocabulary."""
    if settings.supervision == "names":
        return seed_pieces(corpus.names, known)
    if settings.supervision == "keywords":
        return seed_pieces({label: corpus.seeds.get(label, ()) for label in corpus.classes}, known)
    given = [documents[i] for i in labelled.positions]
    labels = [corpus.classes[i] for i in labelled.codes]
    return seed_pieces(words_of_documents(given, labels, corpus.classes, known), known)
