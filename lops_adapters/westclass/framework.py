"""WeSTClass as a framework: its name, its settings, and what its runs write."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.encoders.pretrained import libraries
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.checked import noise_metrics
from lops_adapters.runs.files import selection_metrics, write_sample_labels, write_selection
from lops_adapters.runs.final import FinalFramework, check_encoder, final_row
from lops_adapters.runs.framework import Job
from lops_adapters.westclass.pipeline import ArmResult, Prepared, place_of, predicted
from lops_adapters.westclass.settings import PUBLISHED, WestclassSettings
from lops_adapters.westclass.supervision import supervised
from lops_adapters.westclass.tokens import PAD, flat


class Westclass(FinalFramework[WestclassSettings]):
    """WeSTClass; arms such as ``lops-documents`` select among the real documents instead.

    Documents that came with a label are not measured.
    """

    name = "westclass"
    title = "WeSTClass"
    summary = "WeSTClass with LOPS: with and without selection, side by side."
    examples = (
        ("", "the embedded demo corpus"),
        ("--dataset agnews --supervision names", "AG News from class names"),
        ("--dataset my_folder --labelled some.csv", "a few labelled documents: id and label"),
    )
    settings = WestclassSettings
    modules = ("gensim", "keras", "torch")
    model = "lops_adapters.westclass.model:WestclassClassifier"

    def add_options(self, group: argparse._ArgumentGroup) -> None:
        """Add ``--labelled`` and ``--labelled-per-class``."""
        group.add_argument(
            "--labelled",
            dest="labelled_file",
            type=Path,
            metavar="CSV",
            help="labelled documents: columns id and label",
        )
        group.add_argument(
            "--labelled-per-class",
            type=int,
            metavar="N",
            help="draw N labelled documents per class from the gold labels",
        )

    def settle(
        self, settings: WestclassSettings, options: argparse.Namespace, dataset: Dataset, seed: int
    ) -> WestclassSettings:
        """Return the settings with the supervision that options and data give."""
        return supervised(settings, options, dataset, seed)

    def needs(self, settings: WestclassSettings) -> tuple[str, ...]:
        """Return the libraries of the chosen network and the final classifier."""
        more = ("safetensors",) if settings.network == "han" else ()
        frozen = settings.frozen_encoder
        return (*self.modules, *more, *(libraries(frozen) if frozen is not None else ()))

    def check(self, arms: Sequence[str], settings: WestclassSettings, dataset: Dataset) -> None:
        """Refuse an unusable encoder, a corpus of one class, and ``optimal`` pseudo documents."""
        check_encoder(settings)
        if "optimal" in arms:
            raise LopsError(
                "optimal needs gold labels, and pseudo documents have none; "
                "wanted optimal-documents"
            )
        corpus = dataset.corpus
        if len(corpus.classes) < 2:
            raise LopsError(f"{corpus.name} has {len(corpus.classes)} class; wanted at least two")

    def tables(self, prepared: Prepared, job: Job[WestclassSettings]) -> None:
        """Write the words of each topic, the pseudo documents and their pseudo-labels.

        The score of a pseudo-label is the share of its class in the soft label trained on.
        """
        ids, classes, path = sample_ids(prepared), prepared.corpus.classes, job.folder.path
        labels = [classes[code] for code in prepared.codes]
        alpha = prepared.settings.alpha
        scores = [1 - alpha + alpha / len(classes)] * len(ids)
        write_sample_labels(path / "pseudo_labels.csv", ids, labels, scores)
        texts = (
            " ".join(word for word in flat(document) if word != PAD)
            for document in prepared.pseudo_documents
        )
        rows = zip(ids, labels, texts, strict=True)
        storage.write_csv(path / "pseudo_documents.csv", ["id", "pseudo_label", "text"], rows)
        words = prepared.vectors.words
        topics = {
            label: [words[i] for i in topic.words]
            for label, topic in zip(classes, prepared.topics, strict=True)
        }
        storage.write_json(path / "topics.json", topics)

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        """Return pseudo documents, topics, and the sizes that the documents' length decided."""
        settings = prepared.settings
        sizes = PUBLISHED[settings.network, settings.length]
        return {
            "pseudo_labels": {
                "count": len(prepared.codes),
                "noise": None,
                "of": "pseudo documents",
            },
            "labelled_documents": len(prepared.labelled.positions),
            "words_with_vector": len(prepared.vectors.words),
            "topic_size": [len(topic.words) for topic in prepared.topics],
            "kappa": [topic.distribution.kappa for topic in prepared.topics],
            "in_force": {
                "length": settings.length,
                **{name: getattr(settings, name) for name in sizes},
            },
            "seconds": prepared.seconds,
        }

    def measured(self, prepared: Prepared) -> np.ndarray:
        """Return the documents that came without a label."""
        return prepared.measured

    def arm_tables(
        self, arm: str, result: ArmResult, prepared: Prepared, job: Job[WestclassSettings]
    ) -> None:
        """Write the selections."""
        folder, corpus = job.folder.arm(arm), prepared.corpus
        labels = [corpus.classes[code] for code in prepared.codes]
        path = folder / "selection-0.csv"
        write_selection(path, sample_ids(prepared), labels, result.selection)
        ids = [corpus.ids[i] for i in prepared.measured]
        path = folder / "selection-documents.csv"
        if result.final is not None:
            write_selection(path, ids, result.final.labels, result.final.selection)
        elif place_of(arm) == "documents":
            found = predicted(prepared, result.pretrained)
            write_selection(path, ids, found, result.documents)

    def rows(
        self, result: ArmResult, prepared: Prepared, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the rows of pre-training on pseudo documents, self-training, and the classifier.

        The pseudo-labels of self-training are predictions on real documents. Pseudo documents have
        no gold label: their noise, as the classifier sees it, is the share of real documents that
        the pre-trained classifier gets wrong.
        """
        pretrained, trained = predicted(prepared, result.pretrained), result.self_trained
        final = predicted(prepared, trained.probabilities)
        kept = result.documents.kept
        limit = f"the limit of {prepared.settings.max_iterations} updates"
        first = {
            "iteration": 0,
            "stage": "pre-training",
            **evaluator.scores(pretrained),
            "seconds": result.seconds["selection"] + result.seconds["pretraining"],
            "seconds_selection": result.seconds["selection"],
            "pseudo_labels": len(prepared.codes),
            "noise": None,
            "selected_noise": None,
            **selection_metrics(result.selection),
            "updates": result.updates,
        }
        second = {
            "iteration": 1,
            "stage": "self-training",
            **evaluator.scores(final),
            "seconds": result.seconds["documents"] + result.seconds["self_training"],
            "seconds_selection": result.seconds["documents"],
            "pseudo_labels": len(pretrained),
            **noise_metrics(evaluator, np.arange(len(pretrained)), pretrained),
            "selected": len(kept),
            "selected_noise": evaluator.noise(kept, pretrained[kept]),
            "updates": trained.iterations,
            "changed": list(trained.changed),
            "stopped": "few documents change their class" if trained.converged else limit,
        }
        if result.final is not None:
            classes, measured = prepared.corpus.classes, prepared.measured
            return [first, second, final_row(result.final, 2, classes, measured, evaluator)]
        if result.place == "documents":
            chosen = selection_metrics(result.documents)
            second |= {"rule": chosen["rule"], "per_class": chosen["per_class"]}
            second["selection_stopped"] = chosen["stopped"]
        return [first, second]

    def arm_summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return an arm's entry, with the noise of the pre-trained network's predictions."""
        return {**super().arm_summary(rows), "noise_after_pretraining": rows[1]["noise"]}


def sample_ids(prepared: Prepared) -> list[str]:
    """Return an id per pseudo document: its class and its number within the class, from 1."""
    classes, numbers = prepared.corpus.classes, [0] * len(prepared.corpus.classes)
    ids = []
    for code in prepared.codes.tolist():
        numbers[code] += 1
        ids.append(f"{classes[code]}-{numbers[code]}")
    return ids


WESTCLASS = Westclass()
