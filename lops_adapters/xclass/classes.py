"""Class vectors: a ranked list of words grows around each class name (X-Class, section 3.2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.core import LopsError

# Of sentences that an encoder reads; {} is the name of a class.
TEMPLATES = ("{}", "This text is about {}.", "A document about {}.", "The topic is {}.")


@dataclass(frozen=True)
class ClassVectors:
    """Vectors and words of the classes.

    Attributes:
        vectors: (k, width) float32.
        words: per class the indices of its words, in the order they were added, without the name.
    """

    vectors: np.ndarray
    words: tuple[tuple[int, ...], ...]


def describe_classes(
    names: np.ndarray,
    name_words: Sequence[Sequence[int]],
    static: np.ndarray,
    candidates: np.ndarray,
    *,
    most: int = 100,
    faithful: bool = False,
) -> ClassVectors:
    """Grow a word list per class, one word per round, until the list becomes inconsistent.

    The vector of a class is the mean of the vectors of its name and its words, weighted by 1, 1/2,
    1/3, ... In each round a class adds its nearest candidate: a word that is nearest to this class
    and was never in a list (ties: the lower index). A list is inconsistent when

    - a word of another class is nearest to this class,
    - a word of its own is nearest to another class, or
    - a candidate is nearer than one of its own words.

    An inconsistent class gives its last word back and stops. A class without a candidate stops, and
    keeps its words if they are consistent. A name of one word counts as a word of its class. The
    parts of a longer name belong to no class, even if one of them is the name of another class.

    Names are (k, width) vectors, ``name_words`` the indices of each name's words, ``static`` the
    (V, width) vectors of the words, ``candidates`` the ascending indices of words that may describe
    a class, ``most`` the words per class, the name included. ``faithful``: after a class stops, the
    classes behind it wait for the next round, as in the original. LopsError if the vector of a name
    is zero, or two names have the same vector.
    """
    _check(names)
    growth = _Growth(names, name_words, static, candidates)
    for _ in range(most - 1):
        if growth.finished.all():
            break
        similarity = growth.similarity()
        nearest, best = similarity.argmax(axis=1), similarity.max(axis=1)
        for code in np.flatnonzero(~growth.finished).tolist():
            candidate = growth.candidate(code, nearest, best)
            inconsistent = growth.inconsistent(code, candidate, nearest, best)
            if inconsistent or candidate is None:
                growth.stop(code, give_back=inconsistent)
                if faithful:
                    break
            else:
                growth.add(code, candidate)
    lists = tuple(tuple(growth.index[row].tolist()) for row in growth.lists)
    return ClassVectors(growth.vectors, lists)


class _Growth:
    """The growing lists; words are numbered among the candidates and the names of one word."""

    def __init__(
        self,
        names: np.ndarray,
        name_words: Sequence[Sequence[int]],
        static: np.ndarray,
        candidates: np.ndarray,
    ) -> None:
        single = [words[0] if len(words) == 1 else -1 for words in name_words]
        parts = [word for words in name_words if len(words) > 1 for word in words]
        known = np.union1d(candidates, [word for word in single if word >= 0])
        self.index = np.setdiff1d(known, parts).astype(np.int64)
        index_of = {word: number for number, word in enumerate(self.index.tolist())}
        self.names = names.astype(np.float64)
        self.words = static[self.index].astype(np.float64)
        self.unit = unit(self.words)
        self.own_name = [index_of.get(word) for word in single]
        self.lists: list[list[int]] = [[] for _ in names]
        self.finished = np.zeros(len(names), dtype=bool)
        self.claimed = np.zeros(len(self.index), dtype=bool)
        self.claimed[[number for number in self.own_name if number is not None]] = True
        self.vectors = names.astype(np.float32)

    def similarity(self) -> np.ndarray:
        """Return the (candidates, k) cosines, rounded: the order of additions must not decide."""
        return np.asarray(np.round(self.unit @ unit(self.vectors.astype(np.float64)).T, 6))

    def candidate(self, code: int, nearest: np.ndarray, best: np.ndarray) -> int | None:
        free = np.flatnonzero((nearest == code) & ~self.claimed)
        return int(free[best[free].argmax()]) if len(free) else None

    def inconsistent(
        self, code: int, candidate: int | None, nearest: np.ndarray, best: np.ndarray
    ) -> bool:
        is_own = np.zeros(len(self.claimed), dtype=bool)
        is_own[self.lists[code]] = True
        if self.own_name[code] is not None:
            is_own[self.own_name[code]] = True
        foreign = bool((self.claimed & ~is_own & (nearest == code)).any())
        lost = bool((nearest[is_own] != code).any())
        overtaken = candidate is not None and best[is_own].min(initial=1.0) < best[candidate]
        return foreign or lost or bool(overtaken)

    def add(self, code: int, candidate: int) -> None:
        self.lists[code].append(candidate)
        self.claimed[candidate] = True
        self._renew(code)

    def stop(self, code: int, *, give_back: bool) -> None:
        self.finished[code] = True
        if give_back and self.lists[code]:
            self.lists[code].pop()  # stays claimed, as in the original: no other class may add it
            self._renew(code)

    def _renew(self, code: int) -> None:
        rows = np.vstack([self.names[code][None], self.words[self.lists[code]]])
        weights = 1.0 / np.arange(1, len(rows) + 1)
        self.vectors[code] = weights @ rows / weights.sum()


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return rows scaled to length 1; rows of zeros stay zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def _check(names: np.ndarray) -> None:
    lengths = np.linalg.norm(names, axis=1)
    if not (lengths > 0).all():
        raise LopsError(
            f"the name of class {int(lengths.argmin())} has a vector of zeros; wanted one from the "
            "corpus or a template"
        )
    same = np.round(unit(names) @ unit(names).T, 6) >= 1
    pairs = np.argwhere(np.triu(same, 1))
    if len(pairs):
        raise LopsError(
            f"the names of classes {pairs[0][0]} and {pairs[0][1]} have the same vector; wanted "
            "names that differ in a word"
        )


def class_vectors(
    names: Sequence[str],
    read: Callable[[Sequence[str]], np.ndarray],
    templates: Sequence[str] = TEMPLATES,
) -> np.ndarray:
    """Return the mean vector of the sentences that name each class, (k, width), of length 1.

    Args:
        read: returns the vectors of m sentences, (m, width).
        templates: of sentences; ``{}`` is the name.
    """
    spoken = [name.replace("_", " ") for name in names]
    vectors = read([template.format(name) for name in spoken for template in templates])
    return unit(vectors.reshape(len(names), len(templates), -1).mean(axis=1))
