"""X-Class as a framework: its name, its settings, and what its runs write."""

from __future__ import annotations

from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.files import (
    iteration_metrics,
    label_metrics,
    write_iteration,
    write_predictions,
    write_pseudo_labels,
)
from lops_adapters.runs.framework import Framework, Job
from lops_adapters.xclass import pipeline
from lops_adapters.xclass.pipeline import ArmResult, Prepared
from lops_adapters.xclass.settings import XclassSettings


class Xclass(Framework[XclassSettings]):
    """X-Class; ``lops-all`` selects among all documents instead of the most confident half."""

    name = "xclass"
    title = "X-Class"
    summary = "X-Class with LOPS: with and without selection, side by side, from class names alone."
    examples = (
        ("", "the embedded demo corpus"),
        ("--dataset agnews --max-docs 4000", "a sample of AG News"),
        ("--dataset my_folder --arms standard,lops,lops-all", "your data, both places to select"),
    )
    settings = XclassSettings
    modules = ("torch", "transformers")
    reads_beginning = True

    def class_words(self, corpus: Corpus, settings: XclassSettings) -> dict[str, list[str]]:
        """Return the names of each class: the method's only supervision."""
        return {label: list(corpus.names[label]) for label in corpus.classes}

    def prepare(self, corpus: Corpus, job: Job[XclassSettings]) -> Prepared:
        """Represent and align the documents."""
        return pipeline.prepare(corpus, job)

    def tables(self, prepared: Prepared, job: Job[XclassSettings]) -> None:
        """Write the pseudo-labels of the most confident half and the words of each class."""
        half, ids = prepared.half, prepared.corpus.ids
        own = [ids[i] for i in half.positions]
        path = job.folder.path
        write_pseudo_labels(path / "pseudo_labels.csv", own, half.labels, half.scores)
        storage.write_json(path / "class_words.json", prepared.class_words)

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        """Return pseudo-labels, names, words and the scores before training."""
        readable = prepared.readable
        codes = {"representation": prepared.represented, "alignment": prepared.alignment.codes}
        names = np.array(prepared.corpus.classes, dtype=object)
        return {
            "pseudo_labels": label_metrics(prepared.half, evaluator),
            "documents_without_words": len(prepared.corpus) - len(readable),
            "name_vectors": prepared.name_sources,
            "words_per_class": {name: len(own) for name, own in prepared.class_words.items()},
            "stages": {
                stage: evaluator.at(readable).scores(names[own]) for stage, own in codes.items()
            },
            "seconds": prepared.seconds,
        }

    def run_arm(self, arm: str, prepared: Prepared, job: Job[XclassSettings]) -> ArmResult:
        """Select and train."""
        return pipeline.run_arm(arm, prepared, job)

    def arm_tables(
        self, arm: str, result: ArmResult, prepared: Prepared, job: Job[XclassSettings]
    ) -> None:
        """Write pseudo-labels, selection and predictions."""
        folder, corpus = job.folder.arm(arm), prepared.corpus
        write_iteration(folder, 0, corpus.ids, result.pseudo_labels, result.selection)
        path = folder / "predictions.csv"
        write_predictions(path, corpus.ids, corpus.classes, result.probabilities)

    def rows(
        self, result: ArmResult, prepared: Prepared, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the one training as an iteration."""
        names = np.array(prepared.corpus.classes, dtype=object)
        seconds = result.seconds
        return [
            {
                **iteration_metrics(0, result.pseudo_labels, result.selection, evaluator),
                **evaluator.scores(names[result.probabilities.argmax(axis=1)]),
                "seconds": seconds["selection"] + seconds["classifier"],
                "seconds_selection": seconds["selection"],
            }
        ]


XCLASS = Xclass()
