"""Seeds: pseudo-labels by counting them, and their update from what the classifier predicts (the
authors' released code).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.conwea.contextual import SEPARATOR, ContextualCorpus
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.pseudo_labels import PseudoLabels

Seeds = dict[str, list[str]]  # class -> contextualised words, in the alphabetical order of classes


def initial_seeds(corpus: ContextualCorpus, seeds: Mapping[str, Sequence[str]]) -> Seeds:
    """Return the user's seed words with every sense of each; those that the corpus lacks are left
    out.
    """
    found = {
        label: [form for seed in seeds[label] for form in corpus.expand(seed)]
        for label in sorted(seeds)
    }
    return {label: list(dict.fromkeys(words)) for label, words in found.items()}


def check_seeds(corpus: ContextualCorpus, seeds: Mapping[str, Sequence[str]]) -> PseudoLabels:
    """Return the first pseudo-labels, which are the same before and after senses are told apart;
    complain about hopeless seeds.

    Raises:
        LopsError: no seed word occurs, none occurs twice, or fewer than two classes get a
            pseudo-label.

    A LopsWarning names the seed words that the corpus lacks and the classes left without one.

    """
    found = initial_seeds(corpus, seeds)
    absent = [
        f"{label}: {seed}"
        for label in sorted(seeds)
        for seed in seeds[label]
        if not corpus.expand(seed)
    ]
    places = [corpus.places[word] for words in found.values() for word in words]
    if not places:
        raise LopsError(
            f"none of the seed words occurs in the corpus ({', '.join(absent)}); give seed words that its documents use"
        )
    if np.asarray(corpus.counts.sum(axis=0)).ravel()[places].max() < 2:
        raise LopsError(
            "no seed word occurs twice in the corpus, so there is nothing to measure similarity on; give seed words it uses"
        )
    empty = [label for label, words in found.items() if not words]
    if absent or empty:
        lacking = (
            f"seed words that the corpus lacks: {', '.join(absent)}"
            if absent
            else "classes without seed words"
        )
        tail = f"; no pseudo-label can be made for {', '.join(empty)}" if empty else ""
        warnings.warn(lacking + tail, LopsWarning, stacklevel=2)
    return pseudo_label(corpus, found)


def pseudo_label(corpus: ContextualCorpus, seeds: Seeds) -> PseudoLabels:
    """Label each document with the class whose seeds it holds most often; ties go to the
    alphabetically first class.

    Documents without a seed get no pseudo-label.

    Raises:
        LopsError: fewer than two classes got a pseudo-label.

    """
    classes = sorted(seeds)
    place = corpus.places
    member = np.zeros((len(place), len(classes)), dtype=np.int32)
    for column, label in enumerate(classes):
        member[[place[word] for word in seeds[label] if word in place], column] = 1
    totals = np.asarray(corpus.counts @ member)
    best = totals.argmax(axis=1)
    score = totals[np.arange(len(best)), best].astype(np.float64)
    positions = np.flatnonzero(score > 0).astype(np.int64)
    names = np.array(classes, dtype=object)
    unmatched = {
        label: tuple(word for word in seeds[label] if word not in place) for label in classes
    }
    result = PseudoLabels(
        positions=positions,
        labels=names[best[positions]],
        scores=score[positions],
        n_documents=len(corpus),
        classes=tuple(classes),
        unmatched_seeds={label: words for label, words in unmatched.items() if words},
    )
    labelled = [label for label in classes if label not in result.empty_classes]
    if len(labelled) < 2:
        raise LopsError(
            f"{len(result)} of {len(corpus)} documents got a pseudo-label, all for {labelled or 'no class'}; wanted at least two classes. "
            f"Give seed words that occur for {', '.join(result.empty_classes)}"
        )
    return result


def scores(corpus: ContextualCorpus, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Indicativeness of every word for every class, E(l, w), (classes, vocabulary) float64.

    E = df_l(w) / df(w) * ln(N / df(w)) * tanh(count of w in D_l / |D_l|) where df_l(w) >= 5, else
    0; D_l are the documents predicted as l (the authors' released code; the paper combines the
    factors by a geometric mean, which ranks the same).
    """
    counts = corpus.counts
    present = counts.sign()
    df = np.asarray(present.sum(axis=0), dtype=np.float64).ravel()
    idf = np.log(len(corpus) / np.maximum(df, 1.0))
    result = np.zeros((n_classes, len(df)))
    for label in range(n_classes):
        members = np.flatnonzero(predicted == label)
        if not len(members):
            continue
        df_label = np.asarray(present[members].sum(axis=0), dtype=np.float64).ravel()
        frequency = np.asarray(counts[members].sum(axis=0), dtype=np.float64).ravel() / len(members)
        result[label] = np.where(
            df_label >= 5, df_label / np.maximum(df, 1.0) * idf * np.tanh(frequency), 0.0
        )
    return result


def disambiguate(
    corpus: ContextualCorpus, seeds: Seeds, indicative: np.ndarray, *, faithful: bool = False
) -> Seeds:
    """Keep of each ambiguous seed the sense that indicates its class most (ties: the lower sense);
    used after the first iteration.

    A seed of which no sense scores keeps all its senses; under ``faithful`` it is lost, as in the
    original.
    """
    place = corpus.places
    result: Seeds = {}
    for row, label in enumerate(sorted(seeds)):
        groups: dict[str, list[str]] = {}
        for word in seeds[label]:
            groups.setdefault(word.partition(SEPARATOR)[0], []).append(word)
        kept: list[str] = []
        for forms in groups.values():
            best = max(
                forms, key=lambda form: indicative[row, place[form]]
            )  # max keeps the first of equals
            if SEPARATOR not in forms[0] or indicative[row, place[best]] > 0:
                kept.append(best)
            elif not faithful:
                kept += forms
        result[label] = kept
    return result


def seed_count(iteration: int, n_documents: int) -> int:
    """Return how many seed words a class gets: 5 an iteration, at most log to the base 1.5 of its
    predicted documents.

    >>> [seed_count(it, 1000) for it in range(1, 6)]
    [5, 10, 15, 17, 17]
    """
    return (
        min(5 * iteration, math.floor(math.log(n_documents) / math.log(1.5))) if n_documents else 0
    )


def expand(
    corpus: ContextualCorpus,
    seeds: Seeds,
    indicative: np.ndarray,
    predicted: np.ndarray,
    iteration: int,
    *,
    faithful: bool = False,
) -> Seeds:
    """Replace each class's seeds by its most indicative words (ties: alphabetically); a word two
    classes claim goes to the larger score.

    Words that score 0 are no seeds, and a class that would be left without any keeps those it had;
    under ``faithful`` neither holds.
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
