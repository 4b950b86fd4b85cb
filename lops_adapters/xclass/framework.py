"""X-Class as a framework: its name, its settings, and what its runs write."""

from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.budget import Cost
from lops_adapters.runs.iterations import IteratedFramework
from lops_adapters.runs.job import Job
from lops_adapters.xclass.pipeline import Prepared
from lops_adapters.xclass.settings import XclassSettings, method_of


class Xclass(IteratedFramework[XclassSettings]):
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
    cost = Cost(run=110, per_class=0, per_kilocharacter=1.2)

    def method_of(self, arm: str) -> str:
        return method_of(arm)

    def class_words(self, corpus: Corpus, settings: XclassSettings) -> dict[str, list[str]]:
        """Return the names of each class: the method's only supervision."""
        return {label: list(corpus.names[label]) for label in corpus.classes}

    def tables(self, prepared: Prepared, job: Job[XclassSettings]) -> None:
        super().tables(prepared, job)
        storage.write_json(job.folder.path / "class_words.json", prepared.class_words)

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        readable = prepared.readable
        codes = {"representation": prepared.represented, "alignment": prepared.alignment.codes}
        names = np.array(prepared.corpus.classes, dtype=object)
        return {
            **super().about(prepared, evaluator),
            "documents_without_words": len(prepared.corpus) - len(readable),
            "name_vectors": prepared.name_sources,
            "words_per_class": {name: len(words) for name, words in prepared.class_words.items()},
            "stages": {
                stage: evaluator.at(readable).scores(names[words]) for stage, words in codes.items()
            },
        }


XCLASS = Xclass()
