"""LOTClass as a framework: its name, its settings, and what it needs."""

from collections.abc import Sequence

from lops_adapters.datasets import Dataset
from lops_adapters.lotclass.self_training import check_refreshes
from lops_adapters.lotclass.settings import REFRESH, LotclassSettings
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.rounds import check_final


class Lotclass(Framework[LotclassSettings]):
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
    pipeline = "lops_adapters.lotclass.pipeline"
    modules = ("torch", "transformers")
    model = "lops_adapters.lotclass.model:LotclassClassifier"
    reads_beginning = True

    def check(self, arms: Sequence[str], settings: LotclassSettings, dataset: Dataset) -> None:
        check_final(arms, settings)
        if any(settings.split(arm)[1] == REFRESH for arm in arms):
            check_refreshes(settings, len(dataset.corpus))


LOTCLASS = Lotclass()
