"""What a seed matcher returns, and how occurrences of seed words become it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lops_adapters.pseudo_labels._inputs import Seeds


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """Pseudo-labels of the documents that received one.

    Attributes:
        positions: (n_labelled,) int64; rows of the corpus that received a pseudo-label, ascending.
        codes: (n_labelled,) int64; places of the labels in `classes`, aligned with `positions`.
        scores: (n_labelled,) float64; how often the seed words of the winning class occur in the
            document, aligned with `positions`; at least 1.
        n_documents: documents read, labelled or not.
        classes: all classes, in the caller's order.
        unmatched_seeds: class to its seed words that match no document, in the caller's order.
            Classes whose seed words all match are left out.

    >>> from lops_adapters.pseudo_labels import string_match
    >>> seeds = {"sports": ["goal", "cup"], "politics": ["vote"]}
    >>> result = string_match(["a goal", "nothing", "The vote"], seeds)
    >>> result.positions.tolist(), result.labels.tolist(), result.scores.tolist()
    ([0, 2], ['sports', 'politics'], [1.0, 1.0])
    >>> round(result.coverage, 3), dict(result.unmatched_seeds), result.empty_classes
    (0.667, {'sports': ('cup',)}, ())
    """

    positions: NDArray[np.int64]
    codes: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_documents: int
    classes: tuple[str, ...]
    unmatched_seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def labels(self) -> NDArray[Any]:
        """Class names, (n_labelled,) object, aligned with `positions`."""
        return np.array(self.classes, dtype=object)[self.codes]

    @property
    def coverage(self) -> float:
        """Share of the documents that received a pseudo-label, in [0, 1]."""
        return len(self.positions) / self.n_documents

    def per_document(self) -> list[str | None]:
        """Return one label per document, in their order; None for unlabelled documents.

        >>> from lops_adapters.pseudo_labels import string_match
        >>> seeds = {"sports": ["goal"], "politics": ["vote"]}
        >>> string_match(["a goal", "nothing", "The vote"], seeds).per_document()
        ['sports', None, 'politics']
        """
        labels: list[str | None] = [None] * self.n_documents
        for position, label in zip(self.positions.tolist(), self.labels.tolist(), strict=True):
            labels[position] = label
        return labels

    @property
    def counts(self) -> dict[str, int]:
        """Number of pseudo-labels per class, in the order of `classes`."""
        counts = np.bincount(self.codes, minlength=len(self.classes)).tolist()
        return dict(zip(self.classes, counts, strict=True))

    @property
    def empty_classes(self) -> tuple[str, ...]:
        """Classes without a single pseudo-label, in the order of `classes`."""
        return tuple(name for name, count in self.counts.items() if count == 0)


@dataclass
class Occurrences:
    """Where seed words occur: 16 bytes per occurrence, as tokens would not fit in memory.

    Attributes:
        pairs: (class, seed word as the caller wrote it).
        documents, pair_ids: int64, per occurrence: the document, ascending, and a place in `pairs`.
    """

    pairs: list[tuple[str, str]]
    documents: array[int] = field(default_factory=lambda: array("q"))
    pair_ids: array[int] = field(default_factory=lambda: array("q"))

    def add(self, document: int, pair_id: int, times: int = 1) -> None:
        """Note that a pair occurs `times` times in a document."""
        for _ in range(times):
            self.documents.append(document)
            self.pair_ids.append(pair_id)

    def arrays(self, dropped: set[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return `documents` and `pair_ids` as int64 arrays, without the dropped pairs."""
        if not self.documents:  # frombuffer refuses an empty array
            return np.empty(0, np.int64), np.empty(0, np.int64)
        documents = np.frombuffer(self.documents, dtype=np.int64)
        pair_ids = np.frombuffer(self.pair_ids, dtype=np.int64)
        keep = ~np.isin(pair_ids, sorted(dropped))
        return documents[keep], pair_ids[keep]


def label_documents(
    occurrences: Occurrences, seeds: Seeds, n_documents: int, *, dropped: set[int], exclusive: bool
) -> PseudoLabels:
    """Give every document the class whose seed words occur most, of ties the first by alphabet.

    With `exclusive`, documents with seed words of more than one class get no label.
    """
    documents, pair_ids = occurrences.arrays(dropped)
    classes = tuple(seeds)
    places = sorted(range(len(classes)), key=classes.__getitem__)
    ranks = dict(zip(sorted(classes), range(len(classes)), strict=True))
    class_of_pair = np.array([ranks[name] for name, _ in occurrences.pairs], dtype=np.int64)
    # Sorted keys put the classes of a document next to each other, in alphabetical order.
    keys, totals = np.unique(documents * len(classes) + class_of_pair[pair_ids], return_counts=True)
    rows, columns = np.divmod(keys, len(classes))
    order = np.lexsort((columns, -totals, rows))
    positions, first, n_classes = np.unique(rows[order], return_index=True, return_counts=True)
    winners = order[first]
    if exclusive:
        alone = n_classes == 1
        positions, winners = positions[alone], winners[alone]
    matched = {occurrences.pairs[pair_id] for pair_id in np.unique(pair_ids).tolist()}
    unmatched = {
        name: tuple(word for word in words if (name, word) not in matched)
        for name, words in seeds.items()
    }
    return PseudoLabels(
        positions=positions.astype(np.int64),
        codes=np.array(places, dtype=np.int64)[columns[winners]],
        scores=totals[winners].astype(np.float64),
        n_documents=n_documents,
        classes=classes,
        unmatched_seeds={name: words for name, words in unmatched.items() if words},
    )
