"""ConWea as a framework: its name, its settings, and what its runs write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.conwea import pipeline
from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.pipeline import Iteration, Prepared
from lops_adapters.conwea.seeds import Seeds, pseudo_label
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.files import (
    iteration_metrics,
    label_metrics,
    write_iteration,
    write_predictions,
    write_pseudo_labels,
)
from lops_adapters.runs.framework import Framework, Job


class Conwea(Framework[ConweaSettings]):
    """ConWea; the selector runs before each training of the classifier."""

    name = "conwea"
    title = "ConWea"
    summary = "ConWea with LOPS: with and without selection, side by side, from seed words."
    examples = (
        ("", "the embedded demo corpus"),
        ("--dataset 20news --max-docs 4000", "20 Newsgroups, five classes"),
        ("--dataset my_folder --arms lops --keep 0.9", "your data, one arm"),
    )
    settings = ConweaSettings
    modules = ("nltk", "torch", "transformers")
    model = "lops_adapters.conwea.model:ConweaClassifier"

    def needs(self, settings: ConweaSettings) -> tuple[str, ...]:
        """Return the libraries of the chosen classifier; only a HAN reads word vectors."""
        return (*self.modules, "gensim") if settings.classifier == "han" else self.modules

    def check(self, arms: Sequence[str], settings: ConweaSettings, dataset: Dataset) -> None:
        """Refuse data without seed words."""
        if not any(dataset.corpus.seeds.values()):
            raise LopsError(
                f"{dataset.corpus.name} has no seed words, which ConWea needs; put a seeds.json "
                "beside the data"
            )

    def prepare(self, corpus: Corpus, job: Job[ConweaSettings]) -> Prepared:
        """Contextualise the corpus and, for a HAN, train word vectors."""
        return pipeline.prepare(corpus, job)

    def tables(self, prepared: Prepared, job: Job[ConweaSettings]) -> None:
        """Write the first pseudo-labels, which all arms share."""
        labels, ids = _first(prepared), prepared.corpus.ids
        own = [ids[i] for i in labels.positions]
        path = job.folder.path / "pseudo_labels.csv"
        write_pseudo_labels(path, own, labels.labels, labels.scores)

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        """Return the first pseudo-labels and the senses."""
        words = {word.partition("$")[0] for word in prepared.documents.vocabulary}
        return {
            "pseudo_labels": label_metrics(_first(prepared), evaluator),
            "seconds": prepared.seconds,
            "senses": {
                "threshold": prepared.senses.threshold,
                "words": len(words),
                "ambiguous_words": len(prepared.senses.centres),
            },
        }

    def run_arm(self, arm: str, prepared: Prepared, job: Job[ConweaSettings]) -> list[Iteration]:
        """Select, train and update the seeds, several times."""
        return pipeline.run_arm(arm, prepared, job)

    def arm_tables(
        self, arm: str, result: list[Iteration], prepared: Prepared, job: Job[ConweaSettings]
    ) -> None:
        """Write each iteration's tables, the last predictions, and the seed words."""
        folder, corpus = job.folder.arm(arm), prepared.corpus
        for item in result:
            write_iteration(folder, item.number, corpus.ids, item.pseudo_labels, item.selection)
        path, last = folder / "predictions.csv", result[-1]
        write_predictions(path, corpus.ids, corpus.classes, last.probabilities)
        storage.write_json(folder / "seeds.json", [item.seeds for item in result])

    def rows(
        self, result: list[Iteration], prepared: Prepared, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the iterations with their seed words."""
        names = np.array(prepared.corpus.classes, dtype=object)
        return [
            {
                **iteration_metrics(item.number, item.pseudo_labels, item.selection, evaluator),
                **evaluator.scores(names[item.probabilities.argmax(axis=1)]),
                "seconds": item.seconds["selection"] + item.seconds["classifier"],
                "seconds_selection": item.seconds["selection"],
                "seed_words": counted(prepared.documents, item.seeds),
            }
            for item in result
        ]


def _first(prepared: Prepared) -> Any:
    return pseudo_label(prepared.documents, prepared.seeds)


def counted(documents: ContextualCorpus, seeds: Seeds) -> dict[str, list[list[Any]]]:
    """Return the seed words of each class with the number of documents they occur in."""
    return {
        label: [[word, documents.document_frequency(word)] for word in words]
        for label, words in seeds.items()
    }


CONWEA = Conwea()
