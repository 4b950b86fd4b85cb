"""Self-training as a framework: its name, its settings, and what its runs write."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.files import (
    iteration_metrics,
    label_metrics,
    write_predictions,
    write_pseudo_labels,
    write_selection,
)
from lops_adapters.runs.framework import Framework, Job
from lops_adapters.self_training import pipeline
from lops_adapters.self_training.pipeline import Iteration, Prepared
from lops_adapters.self_training.settings import SelfTrainingSettings, is_told


class SelfTraining(Framework[SelfTrainingSettings]):
    """Self-training; every selection method is an arm."""

    name = "self_training"
    title = "Self-training"
    summary = "Self-training with LOPS and other selection methods side by side."
    examples = (
        ("--classifier linear", "the embedded demo corpus, in seconds"),
        ("--dataset 20news-fine --arms standard,lops,random", "three arms"),
        ("--dataset my_folder --pseudo-labels mine.csv", "your own pseudo-labels"),
    )
    settings = SelfTrainingSettings
    modules = ()

    def settle(
        self,
        settings: SelfTrainingSettings,
        options: argparse.Namespace,
        dataset: Dataset,
        seed: int,
    ) -> SelfTrainingSettings:
        """Return the settings with what follows from the methods and the pseudo-label file."""
        return settings.settled(self.arms(options, settings))

    def in_order(self, arms: Sequence[str]) -> list[str]:
        """Return the methods in order, those that must be told how many to keep last."""
        return sorted(arms, key=is_told)

    def check(self, arms: Sequence[str], settings: SelfTrainingSettings, dataset: Dataset) -> None:
        """Refuse methods without the arm or the gold labels that they need."""
        told = [arm for arm in arms if is_told(arm)]
        if told and settings.n_from == "lops" and "lops" not in arms:
            raise LopsError(
                f"{told[0]} keeps as many as lops, which is not among the methods; add lops, or "
                "set n_from to 'keep'"
            )

    def prepare(self, corpus: Corpus, job: Job[SelfTrainingSettings]) -> Prepared:
        """Make or read the initial pseudo-labels."""
        return pipeline.prepare(corpus, job)

    def tables(self, prepared: Prepared, job: Job[SelfTrainingSettings]) -> None:
        """Write the initial pseudo-labels."""
        labels, ids = prepared.pseudo_labels, prepared.corpus.ids
        own = [ids[i] for i in labels.positions]
        path = job.folder.path / "pseudo_labels.csv"
        write_pseudo_labels(path, own, labels.labels, labels.scores)

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        """Return the initial pseudo-labels."""
        return {
            "pseudo_labels": label_metrics(prepared.pseudo_labels, evaluator),
            "seconds": {"pseudo_labels": prepared.seconds},
        }

    def run_arm(
        self, arm: str, prepared: Prepared, job: Job[SelfTrainingSettings]
    ) -> list[Iteration]:
        """Select, train and bootstrap, several times."""
        return pipeline.run_arm(arm, prepared, job)

    def arm_tables(
        self, arm: str, result: list[Iteration], prepared: Prepared, job: Job[SelfTrainingSettings]
    ) -> None:
        """Write each iteration's selection and bootstrapped documents, and the last predictions."""
        folder, corpus = job.folder.arm(arm), prepared.corpus
        for item in result:
            labels, added = item.pseudo_labels, item.bootstrapped
            own = [corpus.ids[i] for i in labels.positions]
            path = folder / f"selection-{item.number}.csv"
            write_selection(path, own, labels.labels, item.selection)
            new = [corpus.ids[i] for i in added.positions]
            path = folder / f"bootstrapped-{item.number}.csv"
            write_pseudo_labels(path, new, added.labels, added.scores)
        path, last = folder / "predictions.csv", result[-1]
        write_predictions(path, corpus.ids, corpus.classes, last.probabilities)

    def rows(
        self, result: list[Iteration], prepared: Prepared, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the iterations."""
        names = np.array(prepared.corpus.classes, dtype=object)
        return [
            {
                **iteration_metrics(item.number, item.pseudo_labels, item.selection, evaluator),
                **evaluator.scores(names[item.probabilities.argmax(axis=1)]),
                "initial": item.n_initial,
                "n": item.n,
                "trained_on": item.n_trained,
                "rejected": item.n_rejected,
                "bootstrapped": len(item.bootstrapped),
                "seconds": item.seconds["selection"] + item.seconds["classifier"],
                "seconds_selection": item.seconds["selection"],
            }
            for item in result
        ]


SELF_TRAINING = SelfTraining()
