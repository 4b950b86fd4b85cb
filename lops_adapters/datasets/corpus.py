"""What a framework gets (``Corpus``) and what only the evaluation gets (``GoldLabels``)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_missing


@dataclass(frozen=True)
class Corpus:
    """Documents, the classes of the task, their seed words and names; never a gold label.

    Args:
        name: of the data set, in logs and run folders.
        ids: n strings; one unique id per document.
        texts: n strings; the documents, in the order of ``ids``. An empty document is allowed.
        classes: k strings; the classes, in any order. They are stored in alphabetical order (by
            code point).
        seeds: class to its seed words, in the order given. A class may have none. They are stored
            in the order of ``classes``, read-only.
        names: class to the words that name it in a text, at least one; where a framework starts
            from class names. A class without an entry is named by its label. Stored as ``seeds``.

    Raises:
        LopsError: no document, ids and texts of different lengths, duplicate ids or classes, a text
            that is missing, not a string or not valid Unicode, or seed words or names for an
            unknown class.

    >>> corpus = Corpus(
    ...     "two",
    ...     ids=["a", "b"],
    ...     texts=["A goal!", ""],
    ...     classes=["sports", "arts"],
    ...     seeds={"sports": ["goal"]},
    ... )
    >>> len(corpus), corpus.classes, corpus.seeds["sports"]
    (2, ('arts', 'sports'), ('goal',))
    >>> corpus.names["arts"]
    ('arts',)
    """

    name: str
    ids: tuple[str, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    classes: tuple[str, ...]
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("ids", "texts", "classes"):
            object.__setattr__(self, name, _strings(getattr(self, name), f"{self.name}: {name}"))
        if len(self.ids) != len(self.texts):
            raise LopsError(
                f"{self.name}: {len(self.ids)} ids for {len(self.texts)} texts; "
                "wanted one id per document"
            )
        if not self.texts:
            raise LopsError(f"{self.name} holds no document; wanted at least one")
        way_out = "make the ids unique or leave the id column out"
        _refuse_repeats(self.ids, f"{self.name}: document ids", way_out)
        _refuse_repeats(self.classes, f"{self.name}: class names", "name every class once")
        object.__setattr__(self, "classes", tuple(sorted(self.classes)))
        seeds = _checked_words(self.name, self.seeds, self.classes, "seed word")
        object.__setattr__(self, "seeds", MappingProxyType(seeds))
        checked_names = _checked_words(self.name, self.names, self.classes, "name")
        unnamed = next((label for label, words in checked_names.items() if not words), None)
        if unnamed is not None:
            raise LopsError(f"{self.name}: no name for {unnamed}; give one, or leave the class out")
        names = {label: checked_names.get(label, (label,)) for label in self.classes}
        object.__setattr__(self, "names", MappingProxyType(names))

    def __len__(self) -> int:
        return len(self.texts)

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be pickled, but worker processes receive the corpus by pickle.
        words = dict(self.seeds), dict(self.names)
        return Corpus, (self.name, self.ids, self.texts, self.classes, *words)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 (hex) of name, ids, texts, classes and seed words, in order; not of names."""
        digest = hashlib.sha256()
        seeds = [word for label, words in self.seeds.items() for word in ("seeds", label, *words)]
        for part in ([self.name], self.ids, self.texts, self.classes, seeds):
            digest.update(len(part).to_bytes(8, "little"))
            for item in part:
                encoded = item.encode("utf-8")
                digest.update(len(encoded).to_bytes(8, "little"))
                digest.update(encoded)
        return digest.hexdigest()


@dataclass(frozen=True)
class GoldLabels:
    """The true class of every document, for evaluation only.

    Args:
        labels: n strings; class names, in the order of the corpus.

    Raises:
        LopsError: a label is missing or not a string.
    """

    labels: tuple[str, ...] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _strings(self.labels, "gold labels"))

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Dataset:
    """A corpus and, kept apart from it, its gold labels.

    Args:
        corpus: what the frameworks see.
        gold: what only the evaluation sees; None if the true classes are unknown.
        headers: ``strip`` if message headers were removed from the texts, else ``keep``.

    Raises:
        LopsError: the number of labels is not the number of documents, or a gold label is not a
            class of the corpus.

    >>> corpus = Corpus("three", ["a", "b", "c"], ["x", "y", "z"], ["arts", "sports"])
    >>> dataset = Dataset(corpus, GoldLabels(["arts", "sports", "arts"]))
    >>> len(dataset), dataset.gold.labels
    (3, ('arts', 'sports', 'arts'))
    """

    corpus: Corpus
    gold: GoldLabels | None = None
    headers: str = "keep"

    def __post_init__(self) -> None:
        if self.gold is None:
            return
        if len(self.gold) != len(self.corpus):
            raise LopsError(
                f"{self.corpus.name}: {len(self.gold)} gold labels for {len(self.corpus)} "
                "documents; wanted one per document"
            )
        unknown = sorted(set(self.gold.labels) - set(self.corpus.classes))
        if unknown:
            raise LopsError(
                f"{self.corpus.name}: the gold labels {listed(unknown)} are not among the classes "
                f"({listed(self.corpus.classes)}); "
                "add them to the classes, with seed words, or drop those documents"
            )

    def __len__(self) -> int:
        return len(self.corpus)

    def sample(self, max_docs: int, seed: int) -> Dataset:
        """Return a simple random sample of at least one document, in the original order.

        ``max_docs`` of n or more keep all; the same seed draws the same documents.
        """
        if max_docs < 1:
            raise LopsError(f"max_docs is {max_docs}; wanted at least 1")
        if max_docs >= len(self):
            return self
        drawn = np.random.default_rng(seed).choice(len(self), size=max_docs, replace=False)
        kept = np.sort(drawn).tolist()
        corpus = self.corpus
        ids, texts = (tuple(column[i] for i in kept) for column in (corpus.ids, corpus.texts))
        smaller = replace(corpus, ids=ids, texts=texts)
        gold = self.gold and GoldLabels(tuple(self.gold.labels[i] for i in kept))
        return Dataset(smaller, gold, self.headers)


def _strings(values: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(values, (str, bytes)):
        raise LopsError(f"{what}: found one {type(values).__name__}; wanted a sequence of strings")
    strings = tuple(values)
    for position, value in enumerate(strings):
        if not isinstance(value, str):
            missing = f"is missing ({value})"
            fault = missing if is_missing(value) else f"is {value!r}, a {type(value).__name__}"
            raise LopsError(
                f"{what}: number {position} (from 0) {fault}; wanted a string. "
                "Drop the row, or write an empty string for an empty document"
            )
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError as error:
                raise LopsError(
                    f"{what}: number {position} (from 0) is not valid Unicode "
                    f"({error.reason} at character {error.start}); save the data as UTF-8"
                ) from None
    return strings


def _refuse_repeats(values: tuple[str, ...], what: str, way_out: str) -> None:
    if len(set(values)) < len(values):
        repeated = [value for value, count in Counter(values).items() if count > 1]
        raise LopsError(
            f"{what} must differ; these appear more than once: {listed(repeated, 5)}; {way_out}"
        )


def _checked_words(
    name: str, words: Mapping[str, Sequence[str]], classes: tuple[str, ...], what: str
) -> dict[str, tuple[str, ...]]:
    unknown = sorted(set(words) - set(classes))
    if unknown:
        raise LopsError(
            f"{name}: {what}s for {listed(unknown)}, which the classes do not contain "
            f"({listed(classes)}); spell the classes like the labels"
        )
    checked = {
        label: _strings(words[label], f"{name}: {what}s of {label}")
        for label in classes
        if label in words
    }
    for label, strings in checked.items():
        if not all(word.strip() for word in strings):
            raise LopsError(f"{name}: an empty {what} for {label}; remove it")
    return checked
