"""One form of what a framework hands to a run: what its arms share, and the stages of an arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.datasets import Corpus
from lops_adapters.labels.labelled import codes_among
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.selection import Corrected, keep_all, trusted_positions

# Of a table: its file name -> (header, rows) of a CSV file, or the contents of a JSON file.
Tables = Mapping[str, Any]


@dataclass(frozen=True)
class Samples:
    """What an arm selects among: m pseudo-labelled samples.

    Attributes:
        ids: (m,) ids.
        codes: (m,) int64, of the pseudo-labels.
        classes: of the corpus.
        scores: (m,) float, of the pseudo-labels; None: no table shows them.
        positions: (m,) int64 positions of the documents they are from; None: from none.
        of: what they are, for ``metrics.json``; None: documents, each at most once.
    """

    ids: Sequence[str]
    codes: np.ndarray
    classes: Sequence[str]
    scores: np.ndarray | None = None
    positions: np.ndarray | None = None
    of: str | None = None

    @classmethod
    def documents(cls, labels: PseudoLabels, corpus: Corpus) -> Samples:
        """Return pseudo-labelled documents as samples."""
        ids = [corpus.ids[i] for i in labels.positions]
        return cls(ids, labels.codes, labels.classes, labels.scores, labels.positions)

    @property
    def labels(self) -> np.ndarray:
        """Class names, (m,) object."""
        return np.array(self.classes, dtype=object)[self.codes]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Given:
    """Documents that came with a label: positions and class codes, both (m,) int64."""

    positions: np.ndarray
    codes: np.ndarray

    @classmethod
    def none(cls) -> Given:
        """Return no documents."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def others(self, n: int) -> np.ndarray:
        """Return the positions of the other of n documents."""
        return np.setdiff1d(np.arange(n), self.positions)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What all arms share; a framework's own is a subclass.

    Attributes:
        corpus: of the run.
        samples: the first pseudo-labels.
        seconds: per step.
        about: what ``metrics.json`` says besides.
        tables: what the run folder holds besides ``pseudo_labels.csv``.
        given: documents that came with a label, which are not measured.
        predicted: classifications before the arms, measured as ``stages``: name -> positions of
            documents and their class codes.
        words: of each class, where others were found than the run began with.
    """

    corpus: Corpus
    samples: Samples
    seconds: Mapping[str, float]
    about: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    given: Given = field(default_factory=Given.none)
    predicted: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage of an arm: what it selected among, what it kept, what it predicts then.

    Attributes:
        samples: the pseudo-labels.
        selection: among them; None: nobody selects, all are kept. ``metrics.json`` only counts a
            selection without reports per class.
        probabilities: (n, k) float32, of all documents.
        seconds: per step; ``selection`` where the arm selects.
        name: in tables; None: the stage's number.
        extra: what ``metrics.json`` says besides.
        tables: in the arm's folder besides the selection.
        table: file of the selection, ``{}`` for the stage's number; None: none.
        is_new: whether nothing that was selected before made these pseudo-labels, so that checked
            documents measure them.
    """

    samples: Samples
    selection: Selection | None
    probabilities: np.ndarray
    seconds: Mapping[str, float]
    name: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    table: str | None = "selection-{}.csv"
    is_new: bool = True

    @property
    def kept(self) -> Selection:
        """The selection; without one, everything."""
        if self.selection is None:
            return keep_all(self.samples.ids, self.samples.labels)
        return self.selection


def trusted(selection: Selection, labels: PseudoLabels) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples to train on, (m,) int64 positions, and their codes after the selection."""
    rows = trusted_positions(selection, labels.labels)
    if not isinstance(selection, Corrected):
        return rows, labels.codes[rows]
    return rows, codes_among(selection.labels[rows], labels.classes)


def iteration(
    number: int,
    labels: PseudoLabels,
    corpus: Corpus,
    selection: Selection,
    probabilities: np.ndarray,
    seconds: Sequence[float],
    *,
    extra: Mapping[str, Any] | None = None,
    tables: Tables | None = None,
) -> Stage:
    """Return an iteration, from 0, that selects among pseudo-labelled documents and trains on them.

    The ``seconds`` are of the selection and of the classifier.
    """
    spread = {
        "coverage": labels.coverage,
        "classes_without_pseudo_labels": list(labels.empty_classes),
    }
    return Stage(
        samples=Samples.documents(labels, corpus),
        selection=selection,
        probabilities=probabilities,
        seconds=dict(zip(("selection", "classifier"), seconds, strict=True)),
        extra={**spread, **(extra or {})},
        tables=tables or {},
        is_new=number == 0,
    )
