"""Seed words: pseudo-labels by counting them, and the published update from predictions.

The update follows the authors' released code; :mod:`lops_adapters.conwea.update` has the default.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.conwea.contextual import SEPARATOR, ContextualCorpus
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.pseudo_labels import PseudoLabels

Seeds = dict[str, list[str]]  # class -> contextualised words; classes in alphabetical order
MIN_DOCUMENTS = 5  # predicted as a class that a word must occur in to indicate it


def initial_seeds(corpus: ContextualCorpus, seeds: Mapping[str, Sequence[str]]) -> Seeds:
    """Return the user's seed words in all their senses, without those that the corpus lacks."""
    forms = {
        label: [form for seed in seeds[label] for form in corpus.expand(seed)]
        for label in sorted(seeds)
    }
    return {label: list(dict.fromkeys(words)) for label, words in forms.items()}


def check_seeds(corpus: ContextualCorpus, seeds: Mapping[str, Sequence[str]]) -> PseudoLabels:
    """Check the seed words and return the first pseudo-labels.

    These are the same before and after senses are split. A LopsWarning names the seed words that
    the corpus lacks and the classes without a seed word. LopsError if no seed word occurs twice, or
    fewer than two classes get a pseudo-label.
    """
    initial = initial_seeds(corpus, seeds)
    absent = [
        f"{label}: {seed}"
        for label in sorted(seeds)
        for seed in seeds[label]
        if not corpus.expand(seed)
    ]
    places = [corpus.places[word] for words in initial.values() for word in words]
    if not places:
        raise LopsError(
            f"none of the seed words occurs in the corpus ({', '.join(absent)}); give seed words "
            "that its documents use"
        )
    if np.asarray(corpus.counts.sum(axis=0)).ravel()[places].max() < 2:
        raise LopsError(
            "no seed word occurs twice in the corpus; wanted at least one, to measure similarity: "
            "give seed words that its documents use"
        )
    empty = [label for label, words in initial.items() if not words]
    if absent or empty:
        lacking = "classes without seed words"
        if absent:
            lacking = f"seed words that the corpus lacks: {', '.join(absent)}"
        tail = f"; no pseudo-label can be made for {', '.join(empty)}" if empty else ""
        warnings.warn(lacking + tail, LopsWarning, stacklevel=2)
    return pseudo_label(corpus, initial)


def pseudo_label(corpus: ContextualCorpus, seeds: Seeds) -> PseudoLabels:
    """Label each document with the class whose seed words it holds most often.

    Ties go to the alphabetically first class. Documents without a seed word get no pseudo-label.
    LopsError if fewer than two classes get one.
    """
    classes = tuple(seeds)
    alphabetical = sorted(range(len(classes)), key=classes.__getitem__)
    index_of = corpus.places
    member = np.zeros((len(index_of), len(classes)), dtype=np.int32)
    for column, label in enumerate(sorted(classes)):
        member[[index_of[word] for word in seeds[label] if word in index_of], column] = 1
    totals = np.asarray(corpus.counts @ member)
    best = totals.argmax(axis=1)
    score = totals[np.arange(len(best)), best].astype(np.float64)
    positions = np.flatnonzero(score > 0).astype(np.int64)
    unmatched = {
        label: tuple(word for word in seeds[label] if word not in index_of) for label in classes
    }
    result = PseudoLabels(
        positions=positions,
        codes=np.array(alphabetical, dtype=np.int64)[best[positions]],
        scores=score[positions],
        n_documents=len(corpus),
        classes=classes,
        unmatched_seeds={label: words for label, words in unmatched.items() if words},
    )
    labelled = [label for label in classes if label not in result.empty_classes]
    if len(labelled) < 2:
        raise LopsError(
            f"{len(result)} of {len(corpus)} documents got a pseudo-label, all for "
            f"{labelled or 'no class'}; wanted at least two classes. Give seed words that occur "
            f"for {', '.join(result.empty_classes)}"
        )
    return result


def counted(
    corpus: ContextualCorpus, predicted: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what scores of words are made of, for D_l, the documents predicted as class l.

    df(w) and ln(N / df(w)), both (vocabulary,); df_l(w) and the count of w in D_l / |D_l|, both
    (classes, vocabulary), 0 where D_l is empty. All are float64.
    """
    present = corpus.counts.sign()
    df = np.asarray(present.sum(axis=0), dtype=np.float64).ravel()
    idf = np.log(len(corpus) / np.maximum(df, 1.0))
    of_class, frequency = np.zeros((2, n_classes, len(df)))
    for label in range(n_classes):
        members = np.flatnonzero(predicted == label)
        if len(members):
            of_class[label] = np.asarray(present[members].sum(axis=0)).ravel()
            frequency[label] = np.asarray(corpus.counts[members].sum(axis=0)).ravel() / len(members)
    return df, idf, of_class, frequency


def scores(corpus: ContextualCorpus, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how much every word indicates every class, E(l, w), (classes, vocabulary) float64.

    E = df_l(w) / df(w) * ln(N / df(w)) * tanh(count of w in D_l / |D_l|) if df_l(w) >= 5, else 0,
    see :func:`counted`. This is the authors' released code; the paper takes the geometric mean of
    the factors, which ranks the same.
    """
    df, idf, of_class, frequency = counted(corpus, predicted, n_classes)
    score = of_class / np.maximum(df, 1.0) * idf * np.tanh(frequency)
    return np.where(of_class >= MIN_DOCUMENTS, score, 0.0)


def disambiguate(
    corpus: ContextualCorpus, seeds: Seeds, indicative: np.ndarray, *, faithful: bool = False
) -> Seeds:
    """Keep the most indicative sense of each ambiguous seed (ties: the lower sense).

    Used after the first iteration. If all senses of a seed score 0, it keeps them all; under
    ``faithful`` it is lost, as in the original.
    """
    index_of = corpus.places
    result: Seeds = {}
    for row, label in enumerate(sorted(seeds)):
        groups: dict[str, list[str]] = {}
        for word in seeds[label]:
            groups.setdefault(word.partition(SEPARATOR)[0], []).append(word)
        kept: list[str] = []
        for forms in groups.values():
            # max returns the first of equals.
            best = max(forms, key=lambda form: indicative[row, index_of[form]])
            if SEPARATOR not in forms[0] or indicative[row, index_of[best]] > 0:
                kept.append(best)
            elif not faithful:
                kept += forms
        result[label] = kept
    return result


def seed_count(iteration: int, n_documents: int) -> int:
    """Return the number of seed words of a class: 5 per iteration, up to a limit.

    The limit is the logarithm, to base 1.5, of the number of documents predicted as the class.

    >>> [seed_count(it, 1000) for it in range(1, 6)]
    [5, 10, 15, 17, 17]
    """
    if not n_documents:
        return 0
    return min(5 * iteration, math.floor(math.log(n_documents) / math.log(1.5)))


def expand(
    corpus: ContextualCorpus,
    seeds: Seeds,
    indicative: np.ndarray,
    predicted: np.ndarray,
    iteration: int,
    *,
    faithful: bool = False,
) -> Seeds:
    """Replace the seed words of each class by its most indicative words.

    Ties are alphabetical. A word claimed by two classes goes to the larger score. Words that score
    0 are left out, and a class without any word keeps its old ones; not so under ``faithful``.
    """
    classes = sorted(seeds)
    vocabulary: Any = corpus.vocabulary
    claims: dict[int, tuple[float, int]] = {}
    for row, _ in enumerate(classes):
        members = int((predicted == row).sum())
        ranked = np.argsort(-indicative[row], kind="stable")[: seed_count(iteration, members)]
        for word in ranked.tolist():
            score = float(indicative[row, word])
            if (score > 0 or faithful) and (word not in claims or score > claims[word][0]):
                claims[word] = (score, row)
    result: Seeds = {}
    for row, label in enumerate(classes):
        words = sorted(
            (word for word, (_, owner) in claims.items() if owner == row),
            key=lambda word: (-claims[word][0], word),
        )
        starved = not words and (not faithful or not (predicted == row).any())
        result[label] = list(seeds[label]) if starved else [vocabulary[word] for word in words]
    return result
