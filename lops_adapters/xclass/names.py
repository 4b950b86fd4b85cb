"""Vectors of class names, of one word or several, frequent or never seen."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.context_encoder import ContextEncoder
from lops_adapters.xclass.words import cut

log = logging.getLogger(__name__)
# What the original's users call classes whose labels are no single word (its released data).
RENAMED = {"real_estate": "estate", "united_states": "america"}
_TEMPLATE = "This document is about {} ."


@dataclass(frozen=True)
class Names:
    """The names of k classes.

    Attributes:
        vectors: (k, width) float32.
        words: for each class the indices of its name's words that the corpus holds.
        source: for each class where its vector is from: ``corpus`` (one word), ``parts`` (the mean
            of several) or ``template`` (the corpus holds none of them, or not those that tell it
            from another name).

    """

    vectors: np.ndarray
    words: tuple[tuple[int, ...], ...]
    source: tuple[str, ...]


def name_parts(name: str) -> list[str]:
    """Return the words of a class name.

    >>> name_parts("law_enforcement"), name_parts("talk.politics.guns"), name_parts("united_states")
    (['law', 'enforcement'], ['talk', 'politics', 'guns'], ['america'])
    """
    return [word for word in cut(RENAMED.get(name, name)) if any(map(str.isalnum, word))]


def check_names(classes: Sequence[str]) -> None:
    """Refuse names that X-Class cannot work from: fewer than two classes, a name without a word,
    two of the same words.
    """
    if len(classes) < 2:
        raise LopsError(f"found {len(classes)} class; wanted at least two to tell apart")
    parts = {
        name: frozenset(name_parts(name)) for name in classes
    }  # in any order they have the same mean
    empty = [name for name, words in parts.items() if not words]
    if empty:
        raise LopsError(
            f"class names without a word: {', '.join(map(repr, empty))}; X-Class starts from names that say something"
        )
    for name in classes:
        same = [other for other in classes if parts[other] == parts[name]]
        if len(same) > 1:
            raise LopsError(
                f"the class names {', '.join(map(repr, same))} are the same words; wanted names that differ"
            )


def name_vectors(
    classes: Sequence[str],
    vocabulary: Mapping[str, int],
    static: np.ndarray,
    encoder: ContextEncoder,
) -> Names:
    """Return the vectors of the class names.

    Args:
        classes: k names that :func:`check_names` accepts.
        vocabulary: index of every word of the corpus.
        static: (V, width) float32 vectors of the words; zeros where a word has none.
        encoder: encodes the names that the corpus does not hold, in a short sentence.

    """
    named = [tuple(dict.fromkeys(name_parts(name))) for name in classes]
    known = [
        tuple(
            vocabulary[part]
            for part in parts
            if part in vocabulary and static[vocabulary[part]].any()
        )
        for parts in named
    ]
    times = Counter(map(frozenset, known))
    vectors, words, source = [], [], []
    for name, parts, found in zip(classes, named, known, strict=True):
        # Without the words the corpus lacks, a name may be left with the same ones as another.
        telling = found and (len(found) == len(parts) or times[frozenset(found)] == 1)
        words.append(found if telling else ())
        source.append("template" if not telling else "corpus" if len(parts) == 1 else "parts")
        vectors.append(
            static[list(found)].mean(axis=0)
            if telling
            else _from_template(name_parts(name), encoder)
        )
        if source[-1] != "corpus":
            log.info(
                "class name %r: vector from %s",
                name,
                "its parts" if telling else "a template, since the corpus lacks it",
            )
    return Names(np.stack(vectors).astype(np.float32), tuple(words), tuple(source))


def _from_template(parts: Sequence[str], encoder: ContextEncoder) -> np.ndarray:
    before, after = (cut(side) for side in _TEMPLATE.split("{}"))
    pieces = encoder.pieces((*before, *parts, *after))
    lengths = [len(ids) for ids in pieces]
    begin = sum(lengths[: len(before)])
    end = begin + sum(lengths[len(before) : len(before) + len(parts)])
    return np.asarray(
        encoder.encode([[piece for ids in pieces for piece in ids]], [[(begin, end)]])[0][0]
    )
