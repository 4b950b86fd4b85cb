"""From occurrences of seed words to one label per document."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lops_adapters.pseudo_labels._inputs import Seeds
from lops_adapters.pseudo_labels.result import PseudoLabels


@dataclass
class Occurrences:
    """Where seed words occur: one (document, pair) entry per occurrence.

    A pair is one seed word of one class.

    Flat arrays of 16 bytes per entry hold a million documents whose tokens would not fit in memory.

    Attributes:
        pairs: (class, seed word as the caller wrote it); entries refer to it by position.
        documents, pair_ids: int64; aligned: the row of the document, ascending, and the position in
            `pairs`.
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
    """Give every document the class whose seed words occur most.

    Ties go to the alphabetically first class.

    With `exclusive`, documents with seed words of more than one class get no label.
    """
    documents, pair_ids = occurrences.arrays(dropped)
    alphabetical = sorted(seeds)
    class_codes = [alphabetical.index(name) for name, _ in occurrences.pairs]
    class_of_pair = np.array(class_codes, dtype=np.int64)
    # Sorted keys put the classes of a document next to each other, in alphabetical order.
    keys, totals = np.unique(
        documents * len(alphabetical) + class_of_pair[pair_ids], return_counts=True
    )
    rows, columns = np.divmod(keys, len(alphabetical))
    order = np.lexsort((columns, -totals, rows))
    positions, first, n_classes = np.unique(rows[order], return_index=True, return_counts=True)
    winners = order[first]
    if exclusive:
        alone = n_classes == 1
        positions, winners = positions[alone], winners[alone]
    matched_ids = set(np.unique(pair_ids).tolist())
    return PseudoLabels(
        positions=positions.astype(np.int64),
        labels=np.array(alphabetical, dtype=object)[columns[winners]],
        scores=totals[winners].astype(np.float64),
        n_documents=n_documents,
        classes=tuple(seeds),
        unmatched_seeds=_unmatched(occurrences.pairs, seeds, matched_ids),
    )


def _unmatched(
    pairs: list[tuple[str, str]], seeds: Seeds, matched_ids: set[int]
) -> dict[str, tuple[str, ...]]:
    seen_pairs = {pairs[pair_id] for pair_id in matched_ids}
    unmatched = {
        name: tuple(word for word in words if (name, word) not in seen_pairs)
        for name, words in seeds.items()
    }
    return {name: words for name, words in unmatched.items() if words}
