"""ConWea as a framework: its name, its settings, and what its runs write."""

from collections.abc import Sequence
from typing import Any

from lops_adapters import storage
from lops_adapters.conwea.pipeline import Iteration, Prepared
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.datasets.class_words import SEED_FILES, to_write
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.budget import Cost
from lops_adapters.runs.iterations import IteratedFramework
from lops_adapters.runs.job import Job


class Conwea(IteratedFramework[ConweaSettings]):
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
    words = SEED_FILES[0]
    cost = Cost(run=210, per_class=0, per_kilocharacter=1.75)

    def needs(self, settings: ConweaSettings) -> tuple[str, ...]:
        """Return the libraries of the chosen classifier; only a HAN reads word vectors."""
        return (*self.modules, "gensim") if settings.classifier == "han" else self.modules

    def check(self, arms: Sequence[str], settings: ConweaSettings, dataset: Dataset) -> None:
        if not any(dataset.corpus.seeds.values()):
            raise LopsError(
                f"{dataset.corpus.name} has no seed words, which ConWea needs; "
                f"{to_write(SEED_FILES[0], dataset.corpus.classes)}"
            )

    def about(self, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
        words = {word.partition("$")[0] for word in prepared.documents.vocabulary}
        return {
            **super().about(prepared, evaluator),
            "senses": {
                "threshold": prepared.senses.threshold,
                "words": len(words),
                "ambiguous_words": len(prepared.senses.centres),
            },
        }

    def arm_tables(
        self, arm: str, result: list[Iteration], prepared: Prepared, job: Job[ConweaSettings]
    ) -> None:
        super().arm_tables(arm, result, prepared, job)
        folder = job.folder.arm(arm)
        storage.write_json(folder / "seeds.json", [item.seeds for item in result])

    def details(self, item: Iteration, prepared: Prepared) -> dict[str, Any]:
        """Return the seed words of each class with the number of documents they occur in."""
        frequency = prepared.documents.document_frequency
        counted = {
            label: [[word, frequency[word]] for word in words]
            for label, words in item.seeds.items()
        }
        return {"seed_words": counted}


CONWEA = Conwea()
