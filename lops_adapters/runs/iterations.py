"""Frameworks that repeat: pseudo-label documents, select among these, train and predict."""

from typing import Any

import numpy as np

from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.checked import TO_CHECK, noise_metrics, write_to_check
from lops_adapters.runs.files import (
    selection_metrics,
    trained_metrics,
    write_pseudo_labels,
    write_selection,
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
        """Return the iterations.

        Checked documents measure the first one only: they decide what later ones begin with.
        """
        names = np.array(prepared.corpus.classes, dtype=object)
        rows = []
        for item in result:
            labels, selection = item.pseudo_labels, item.selection
            noise = noise_metrics(evaluator, labels.positions, labels.labels)
            row = {
                "iteration": item.number,
                "pseudo_labels": len(labels),
                "coverage": labels.coverage,
                **(noise if item.number == 0 else {"noise": noise["noise"]}),
                **selection_metrics(selection),
                **trained_metrics(selection, labels.positions, labels.labels, evaluator),
                "classes_without_pseudo_labels": list(labels.empty_classes),
                **evaluator.scores(names[item.probabilities.argmax(axis=1)]),
                "seconds": item.seconds["selection"] + item.seconds["classifier"],
                "seconds_selection": item.seconds["selection"],
                **self.details(item, prepared),
            }
            rows.append(row)
        return rows

    def details(self, item: Any, prepared: Any) -> dict[str, Any]:
        """Return what ``metrics.json`` says of an iteration besides what all frameworks say."""
        return {}
