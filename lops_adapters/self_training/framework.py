"""Self-training as a framework: its name, its settings, and what it needs."""

import argparse
from collections.abc import Sequence

from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.datasets.class_words import SEED_FILES
from lops_adapters.runs.framework import Framework
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
    pipeline = "lops_adapters.self_training.pipeline"
    modules = ()
    words = SEED_FILES[0]

    def settle(
        self,
        settings: SelfTrainingSettings,
        options: argparse.Namespace,
        dataset: Dataset,
        seed: int,
    ) -> SelfTrainingSettings:
        return settings.settled(settings.arms(options.arms))

    def check(self, arms: Sequence[str], settings: SelfTrainingSettings, dataset: Dataset) -> None:
        told, alike = [arm for arm in arms if is_told(arm)], settings.n_from
        if told and alike not in ("keep", *arms):
            raise LopsError(
                f"{told[0]} keeps as many as {alike}, which is not among the methods; add {alike}, "
                "or set n_from to 'keep'"
            )


SELF_TRAINING = SelfTraining()
