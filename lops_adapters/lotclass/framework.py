"""LOTClass as a framework: its name, its settings, and what its runs write."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.datasets import Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.lotclass.pipeline import REFRESH, Prepared
from lops_adapters.lotclass.self_training import check_refreshes
from lops_adapters.lotclass.settings import LotclassSettings
from lops_adapters.runs.files import (
    noise_metrics,
    selection_metrics,
    write_sample_labels,
    write_selection,
)
from lops_adapters.runs.final import FinalFramework, NetworkResult
from lops_adapters.runs.job import Job


class Lotclass(FinalFramework[LotclassSettings]):
    """LOTClass; ``lops-refresh`` and arms such as ``lops-documents`` select among documents."""

    name = "lotclass"
    title = "LOTClass"
    summary = (
        "LOTClass with LOPS: with and without selection, side by side, from class names alone."
    )
    examples = (
        ("", "the embedded demo corpus"),
        ("--dataset agnews --arms standard,lops,lops-refresh", "where the paper and code select"),
        ("--dataset 20news-coarse --supervision keywords", "seed words as alternative names"),
    )
    settings = LotclassSettings
    modules = ("torch", "transformers")
    model = "lops_adapters.lotclass.model:LotclassClassifier"
    reads_beginning = True

    def check(self, arms: Sequence[str], settings: LotclassSettings, dataset: Dataset) -> None:
        super().check(arms, settings, dataset)
        if REFRESH in arms:
            check_refreshes(settings, len(dataset.corpus))

    def words_found(
        self, prepared: Prepared, job: Job[LotclassSettings]
    ) -> Mapping[str, Sequence[str]] | None:
        """Return the run's words of each class, with seed words where auto fell back on them."""
        asked, corpus = job.settings.supervision, prepared.corpus
        if job.words is None or asked != "auto" or prepared.supervision == "names":
            return job.words
        words = {label: [*job.words[label], *corpus.seeds[label]] for label in corpus.classes}
        return {label: list(dict.fromkeys(both)) for label, both in words.items()}

    def tables(self, prepared: Prepared, job: Job[LotclassSettings]) -> None:
        path, ids = job.folder.path, prepared.sample_ids
        scores = np.diff(prepared.indicative.starts)
        write_sample_labels(path / "pseudo_labels.csv", ids, prepared.labels, scores)
        storage.write_json(path / "category_vocabulary.json", prepared.vocabularies)

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        rows, labels = prepared.indicative.documents, prepared.labels
        return {
            "pseudo_labels": {
                "count": len(rows),
                **noise_metrics(evaluator, rows, labels),
                "coverage": len(np.unique(rows)) / len(prepared.corpus),
                "of": "rows (a document and one class that it indicates)",
            },
            "masked_accuracy": prepared.language_model.accuracy,
            "name_sources": prepared.name_sources,
            "words_per_class": {name: len(own) for name, own in prepared.vocabularies.items()},
            "supervision": prepared.supervision,
            "match_thresholds": prepared.match_thresholds,
            "seconds": prepared.seconds,
        }

    def arm_tables(
        self, arm: str, result: NetworkResult, prepared: Prepared, job: Job[LotclassSettings]
    ) -> None:
        super().arm_tables(arm, result, prepared, job)
        corpus = prepared.corpus
        refreshes = result.self_trained.refreshes if arm == REFRESH else []
        for number, refresh in enumerate(refreshes, start=1):
            ids = [corpus.ids[i] for i in refresh.documents]
            labels = [corpus.classes[code] for code in refresh.codes]
            path = job.folder.arm(arm) / f"selection-{number}.csv"
            write_selection(path, ids, labels, refresh.selection)

    def rows(
        self, result: NetworkResult, prepared: Prepared, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the rows of masked category prediction and self-training.

        The pseudo-labels of self-training are the targets of all refreshes; a document counts once
        per refresh.
        """
        names = np.array(prepared.corpus.classes, dtype=object)
        rows, labels = prepared.indicative.documents, prepared.labels
        selection, trained, seconds = result.selection, result.self_trained, result.seconds
        kept = selection.kept
        first = {
            "iteration": 0,
            "stage": "masked category prediction",
            "pseudo_labels": len(rows),
            **noise_metrics(evaluator, rows, labels),
            **selection_metrics(selection),
            "selected_noise": evaluator.noise(rows[kept], labels[kept]),
            **evaluator.scores(names[result.first.argmax(axis=1)]),
            "seconds": seconds["selection"] + seconds["training"],
            "seconds_selection": seconds["selection"],
        }
        none, refreshes = np.zeros(0, dtype=np.int64), trained.refreshes
        documents = np.concatenate([none, *(refresh.documents for refresh in refreshes)])
        given = names[np.concatenate([none, *(refresh.codes for refresh in refreshes)])]
        masks = [refresh.selection.mask for refresh in refreshes]
        mask = np.concatenate([none.astype(bool), *masks])
        second = {
            "iteration": 1,
            "stage": "self-training",
            "pseudo_labels": len(documents),
            **noise_metrics(evaluator, documents, given),
            "selected": int(mask.sum()),
            "selected_noise": evaluator.noise(documents[mask], given[mask]),
            **evaluator.scores(names[trained.probabilities.argmax(axis=1)]),
            "seconds": seconds["self_training"],
            "updates": trained.updates,
            "refreshes": [
                {"agreement": refresh.agreement, **selection_metrics(refresh.selection)}
                for refresh in refreshes
            ],
        }
        return [first, second]


LOTCLASS = Lotclass()
