"""ConWea as a framework: its name, its settings, and what it needs."""

from collections.abc import Sequence

from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.datasets.class_words import SEED_FILES, to_write
from lops_adapters.runs.framework import Framework


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
    pipeline = "lops_adapters.conwea.pipeline"
    modules = ("nltk", "torch", "transformers")
    model = "lops_adapters.conwea.model:ConweaClassifier"
    words = SEED_FILES[0]

    def needs(self, settings: ConweaSettings) -> tuple[str, ...]:
        """Return the libraries of the chosen classifier; only a HAN reads word vectors."""
        return (*self.modules, "gensim") if settings.classifier == "han" else self.modules

    def check(self, arms: Sequence[str], settings: ConweaSettings, dataset: Dataset) -> None:
        if not any(dataset.corpus.seeds.values()):
            raise LopsError(
                f"{dataset.corpus.name} has no seed words, which ConWea needs; "
                f"{to_write(SEED_FILES[0], dataset.corpus.classes)}"
            )


CONWEA = Conwea()
