"""Vectors of class names: of one word or several, in the corpus or not."""

import logging
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.words import cut

log = logging.getLogger(__name__)
_TEMPLATE = "This document is about {} ."
# Words that describe a class: fewer are few, where this many per class are frequent.
_FEW, _MANY = 10, 50


@dataclass(frozen=True)
class Names:
    """The names of k classes.

    Attributes:
        vectors: (k, width) float32.
        words: per class the indices of its name's words that occur in the corpus.
        source: per class where its vector comes from: ``corpus`` (one word), ``parts`` (the mean of
            several) or ``template`` (the corpus has no word of it, or not enough to tell it from
            another name).
    """

    vectors: np.ndarray
    words: tuple[tuple[int, ...], ...]
    source: tuple[str, ...]


def name_parts(name: str) -> list[str]:
    """Return the words of a class name.

    >>> name_parts("law_enforcement"), name_parts("talk.politics.guns")
    (['law', 'enforcement'], ['talk', 'politics', 'guns'])
    """
    return [word for word in cut(name) if any(map(str.isalnum, word))]


def check_names(names: Sequence[str]) -> None:
    """Refuse fewer than two classes, a name without a word, and names of the same words."""
    if len(names) < 2:
        raise LopsError(f"found {len(names)} class; wanted at least two to tell apart")
    # Sets: in any order the words have the same mean.
    parts = {name: frozenset(name_parts(name)) for name in names}
    empty = [name for name, words in parts.items() if not words]
    if empty:
        raise LopsError(
            f"class names without a word: {', '.join(map(repr, empty))}; wanted names that say "
            "something (--names): X-Class starts from them"
        )
    for name in names:
        same = [other for other in names if parts[other] == parts[name]]
        if len(same) > 1:
            raise LopsError(
                f"the class names {', '.join(map(repr, same))} are the same words; wanted names "
                "that differ (--names)"
            )


def unheard(names: Sequence[str], vocabulary: Container[str]) -> Iterator[str]:
    """Yield which names have no word in the vocabulary of the texts, in words."""
    lacking = [name for name in names if not any(part in vocabulary for part in name_parts(name))]
    if lacking:
        yield (
            f"no text holds the class name {', '.join(lacking)}; name each class by a common word "
            "of its texts (--names)"
        )


def doubts(
    names: Sequence[str], sources: Sequence[str], words: Sequence[Sequence[str]], frequent: int
) -> Iterator[str]:
    """Yield what is doubtful about k class names, in words.

    Args:
        words: that describe each class.
        frequent: how many words could describe a class.
    """
    kinds = {
        "no text holds the class name": [source == "template" for source in sources],
        "few words go together with the class name": [
            source != "template" and len(found) < _FEW and frequent >= _MANY * len(names)
            for source, found in zip(sources, words, strict=True)
        ],
    }
    for about, found in kinds.items():
        listed = [
            f"{name} ({', '.join(own[:4]) or 'no words'})"
            for name, own, doubtful in zip(names, words, found, strict=True)
            if doubtful
        ]
        if listed:
            yield (
                f"{about} {', '.join(listed)}; if the words in brackets do not describe the class, "
                "name it by a common word of its texts (--names)"
            )


def name_vectors(
    names: Sequence[str], vocabulary: Mapping[str, int], static: np.ndarray, encoder: ContextEncoder
) -> Names:
    """Return the vectors of k class names that :func:`check_names` accepts.

    ``static`` are (V, width) float32 vectors of the vocabulary, zeros for words without one. The
    encoder encodes the names that the corpus lacks, in a short sentence.
    """
    named = [tuple(dict.fromkeys(name_parts(name))) for name in names]
    places = [[vocabulary[part] for part in parts if part in vocabulary] for parts in named]
    known = [tuple(i for i in name_places if static[i].any()) for name_places in places]
    times = Counter(map(frozenset, known))
    vectors, words, source = [], [], []
    for name, parts, usable in zip(names, named, known, strict=True):
        # Without the words the corpus lacks, two names can come down to the same words.
        telling = usable and (len(usable) == len(parts) or times[frozenset(usable)] == 1)
        if telling:
            words.append(usable)
            vectors.append(static[list(usable)].mean(axis=0))
            source.append("corpus" if len(parts) == 1 else "parts")
        else:
            words.append(())
            vectors.append(_from_template(name_parts(name), encoder))
            source.append("template")
        if source[-1] != "corpus":
            how = "its parts" if telling else "a template (the corpus lacks some of its words)"
            log.info("class name %r: vector from %s", name, how)
    return Names(np.stack(vectors).astype(np.float32), tuple(words), tuple(source))


def _from_template(parts: Sequence[str], encoder: ContextEncoder) -> np.ndarray:
    words_before, words_after = (cut(side) for side in _TEMPLATE.split("{}"))
    pieces = encoder.pieces((*words_before, *parts, *words_after))
    lengths = [len(ids) for ids in pieces]
    begin = sum(lengths[: len(words_before)])
    end = begin + sum(lengths[len(words_before) : len(words_before) + len(parts)])
    sentence = [piece for ids in pieces for piece in ids]
    return np.asarray(encoder.encode([sentence], [[(begin, end)]])[0][0])
