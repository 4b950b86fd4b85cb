"""What a seed matcher returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """Pseudo-labels of the documents that received one.

    Attributes:
        positions: (n_labelled,) int64; rows of the corpus that received a pseudo-label, ascending.
        labels: (n_labelled,) object; class names (str), aligned with `positions`.
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
    labels: NDArray[Any]
    scores: NDArray[np.float64]
    n_documents: int
    classes: tuple[str, ...]
    unmatched_seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.positions)

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
        counts = dict.fromkeys(self.classes, 0)
        for label in self.labels.tolist():
            counts[label] += 1
        return counts

    @property
    def empty_classes(self) -> tuple[str, ...]:
        """Classes without a single pseudo-label, in the order of `classes`."""
        return tuple(name for name, count in self.counts.items() if count == 0)
