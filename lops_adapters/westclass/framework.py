"""WeSTClass as a framework: its name, its settings, and what its runs write."""

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
from lops_adapters.runs.budget import Cost
from lops_adapters.runs.files import noise_metrics, selection_metrics, write_sample_labels
from lops_adapters.runs.final import SUFFIX, FinalFramework
from lops_adapters.runs.job import Job
from lops_adapters.runs.rounds import Given
from lops_adapters.selection import METHODS
from lops_adapters.westclass.pipeline import Prepared, Pretrained, predicted
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
    cost = Cost(run=160, per_class=55, per_kilocharacter=5, longest=600)

    def add_options(self, group: argparse._ArgumentGroup) -> None:
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
        return supervised(settings, options, dataset, seed)

    def needs(self, settings: WestclassSettings) -> tuple[str, ...]:
        more = ("safetensors",) if settings.network == "han" else ()
        frozen = settings.frozen_encoder
        return (*self.modules, *more, *(libraries(frozen) if frozen is not None else ()))

    def check(self, arms: Sequence[str], settings: WestclassSettings, dataset: Dataset) -> None:
        super().check(arms, settings, dataset)
        by_gold = [arm for arm in arms if arm in METHODS and METHODS[arm].needs_gold]
        if by_gold:
            raise LopsError(
                f"{by_gold[0]} needs gold labels, and pseudo documents have none; "
                f"wanted {by_gold[0]}{SUFFIX}"
            )

    def tables(self, prepared: Prepared, job: Job[WestclassSettings]) -> None:
        """Write the words of each topic, the pseudo documents and their pseudo-labels.

        The score of a pseudo-label is the share of its class in the soft label trained on.
        """
        ids, labels, path = prepared.sample_ids, prepared.labels, job.folder.path
        classes = prepared.corpus.classes
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
            "kappa": [topic.kappa for topic in prepared.topics],
            "in_force": {
                "length": settings.length,
                **{name: getattr(settings, name) for name in sizes},
            },
            "seconds": prepared.seconds,
        }

    def given(self, prepared: Prepared) -> Given:
        return prepared.labelled

    def rows(
        self, result: Pretrained, prepared: Prepared, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the rows of pre-training on pseudo documents and of self-training.

        The pseudo-labels of self-training are predictions on real documents. Pseudo documents have
        no gold label: their noise, as the classifier sees it, is the share of real documents that
        the pre-trained classifier gets wrong.
        """
        pretrained, trained = predicted(prepared, result.first), result.self_trained
        noise = noise_metrics(evaluator, np.arange(len(pretrained)), pretrained)
        limit = f"the limit of {trained.iterations} updates"
        first = {
            "iteration": 0,
            "stage": "pre-training",
            **evaluator.scores(pretrained),
            "seconds": result.seconds["selection"] + result.seconds["training"],
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
            **evaluator.scores(predicted(prepared, trained.probabilities)),
            "seconds": result.seconds["self_training"],
            "pseudo_labels": len(pretrained),
            **noise,
            "selected": len(pretrained),
            "selected_noise": noise["noise"],
            "updates": trained.iterations,
            "changed": list(trained.changed),
            "stopped": "few documents change their class" if trained.converged else limit,
        }
        return [first, second]

    def arm_summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return {**super().arm_summary(rows), "noise_after_pretraining": rows[1]["noise"]}


WESTCLASS = Westclass()
