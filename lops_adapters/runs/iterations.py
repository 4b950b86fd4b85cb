"""Frameworks that repeat: pseudo-label documents, select among these, train and predict."""

from typing import Any

import numpy as np

from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.files import (
    TO_CHECK,
    iteration_metrics,
    noise_metrics,
    write_pseudo_labels,
    write_selection,
    write_to_check,
)
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.job import Job, Settings


class IteratedFramework(Framework[Settings]):
    """A framework whose :meth:`run_arm` returns one or more iterations.

    ``prepared`` has a ``corpus``, ``pseudo_labels``, the first ones, which all arms share, and
    ``seconds`` per stage.
    """

    def tables(self, prepared: Any, job: Job[Settings]) -> None:
        path = job.folder.path / "pseudo_labels.csv"
        corpus, labels = prepared.corpus, prepared.pseudo_labels
        write_pseudo_labels(path, corpus.ids, labels)
        write_to_check(job.folder.path / TO_CHECK, corpus, labels, list(job.checked), job.seed)

    def about(self, prepared: Any, evaluator: Evaluator) -> dict[str, Any]:
        labels = prepared.pseudo_labels
        noise = noise_metrics(evaluator, labels.positions, labels.labels)
        return {
            "pseudo_labels": {"count": len(labels), **noise, "coverage": labels.coverage},
            "seconds": prepared.seconds,
        }

    def arm_tables(self, arm: str, result: list[Any], prepared: Any, job: Job[Settings]) -> None:
        folder, ids = job.folder.arm(arm), prepared.corpus.ids
        for item in result:
            labels = item.pseudo_labels
            write_pseudo_labels(folder / f"pseudo_labels-{item.number}.csv", ids, labels)
            labelled = [ids[i] for i in labels.positions]
            path = folder / f"selection-{item.number}.csv"
            write_selection(path, labelled, labels.labels, item.selection)

    def probabilities(self, result: list[Any]) -> np.ndarray:
        last: np.ndarray = result[-1].probabilities
        return last

    def rows(self, result: list[Any], prepared: Any, evaluator: Evaluator) -> list[dict[str, Any]]:
        names = np.array(prepared.corpus.classes, dtype=object)
        rows = []
        for item in result:
            labels, predicted = item.pseudo_labels, names[item.probabilities.argmax(axis=1)]
            row = {
                **iteration_metrics(item, labels.positions, predicted, evaluator),
                "coverage": labels.coverage,
                "classes_without_pseudo_labels": list(labels.empty_classes),
                **self.details(item, prepared),
            }
            rows.append(row)
        return rows

    def details(self, item: Any, prepared: Any) -> dict[str, Any]:
        """Return what ``metrics.json`` says of an iteration besides what all frameworks say."""
        return {}
