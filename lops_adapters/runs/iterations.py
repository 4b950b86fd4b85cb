"""Frameworks that repeat: pseudo-label documents, select among these, train and predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.evaluation import Evaluator
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.checked import TO_CHECK, write_to_check
from lops_adapters.runs.files import (
    iteration_metrics,
    label_metrics,
    write_iteration,
    write_pseudo_labels,
)
from lops_adapters.runs.framework import Framework, Job, Settings


@dataclass(frozen=True)
class Iteration:
    """One round of one arm.

    Attributes:
        number: from 0.
        pseudo_labels: by position in the corpus.
        selection: among them.
        probabilities: (n, k) float32, of all documents.
        seconds: of ``selection`` and ``classifier``.

    """

    number: int
    pseudo_labels: PseudoLabels
    selection: Selection
    probabilities: np.ndarray
    seconds: dict[str, float]


class IteratedFramework(Framework[Settings]):
    """A framework whose :meth:`run_arm` returns one or more :class:`Iteration`.

    ``prepared`` has a ``corpus``, ``pseudo_labels``, the first ones, which all arms share, and
    ``seconds`` per stage.
    """

    def tables(self, prepared: Any, job: Job[Settings]) -> None:
        """Write the first pseudo-labels, and some of them for a person to check."""
        path = job.folder.path / "pseudo_labels.csv"
        corpus, labels = prepared.corpus, prepared.pseudo_labels
        write_pseudo_labels(path, corpus.ids, labels)
        write_to_check(job.folder.path / TO_CHECK, corpus, labels, list(job.checked), job.seed)

    def about(self, prepared: Any, evaluator: Evaluator) -> dict[str, Any]:
        """Return the first pseudo-labels."""
        return {
            "pseudo_labels": label_metrics(prepared.pseudo_labels, evaluator),
            "seconds": prepared.seconds,
        }

    def arm_tables(self, arm: str, result: list[Any], prepared: Any, job: Job[Settings]) -> None:
        """Write each iteration's pseudo-labels and selection."""
        folder, ids = job.folder.arm(arm), prepared.corpus.ids
        for item in result:
            write_iteration(folder, item.number, ids, item.pseudo_labels, item.selection)

    def probabilities(self, result: list[Any]) -> np.ndarray:
        """Return the predictions of the last iteration."""
        last: np.ndarray = result[-1].probabilities
        return last

    def rows(self, result: list[Any], prepared: Any, evaluator: Evaluator) -> list[dict[str, Any]]:
        """Return the iterations."""
        names = np.array(prepared.corpus.classes, dtype=object)
        return [
            {
                **iteration_metrics(item.number, item.pseudo_labels, item.selection, evaluator),
                **evaluator.scores(names[item.probabilities.argmax(axis=1)]),
                "seconds": item.seconds["selection"] + item.seconds["classifier"],
                "seconds_selection": item.seconds["selection"],
                **self.details(item, prepared),
            }
            for item in result
        ]

    def details(self, item: Any, prepared: Any) -> dict[str, Any]:
        """Return what ``metrics.json`` says of an iteration besides what all frameworks say."""
        return {}
