"""Self-training as a framework: its name, its settings, and what its runs write."""

import argparse
from collections.abc import Sequence
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.datasets.class_words import SEED_FILES
from lops_adapters.runs.files import write_pseudo_labels, write_selection
from lops_adapters.runs.iterations import IteratedFramework
from lops_adapters.runs.job import Job
from lops_adapters.runs.settings import LOPS
from lops_adapters.self_training.pipeline import Iteration, Prepared
from lops_adapters.self_training.settings import SelfTrainingSettings, is_told


class SelfTraining(IteratedFramework[SelfTrainingSettings]):
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
    words = SEED_FILES[0]

    def settle(
        self,
        settings: SelfTrainingSettings,
        options: argparse.Namespace,
        dataset: Dataset,
        seed: int,
    ) -> SelfTrainingSettings:
        return settings.settled(self.arms(options, settings))

    def check(self, arms: Sequence[str], settings: SelfTrainingSettings, dataset: Dataset) -> None:
        told = [arm for arm in arms if is_told(arm)]
        if told and settings.n_from == LOPS and LOPS not in arms:
            raise LopsError(
                f"{told[0]} keeps as many as lops, which is not among the methods; add lops, or "
                "set n_from to 'keep'"
            )

    def arm_tables(
        self, arm: str, result: list[Iteration], prepared: Prepared, job: Job[SelfTrainingSettings]
    ) -> None:
        folder, corpus = job.folder.arm(arm), prepared.corpus
        for item in result:
            labels = item.pseudo_labels
            labelled = [corpus.ids[i] for i in labels.positions]
            path = folder / f"selection-{item.number}.csv"
            write_selection(path, labelled, labels.labels, item.selection)
            path = folder / f"bootstrapped-{item.number}.csv"
            write_pseudo_labels(path, corpus.ids, item.bootstrapped)

    def details(self, item: Iteration, prepared: Prepared) -> dict[str, Any]:
        return {
            "initial": item.n_initial,
            "n": item.n,
            "trained_on": item.n_trained,
            "rejected": item.n_rejected,
            "bootstrapped": len(item.bootstrapped),
        }


SELF_TRAINING = SelfTraining()
