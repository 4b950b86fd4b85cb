"""WeSTClass as a framework: its name, its settings, and what it needs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.encoders.pretrained import libraries
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.rounds import check_final, is_at_documents
from lops_adapters.westclass.settings import WestclassSettings
from lops_adapters.westclass.supervision import supervised


class Westclass(Framework[WestclassSettings]):
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
    pipeline = "lops_adapters.westclass.pipeline"
    modules = ("gensim", "keras", "torch")
    model = "lops_adapters.westclass.model:WestclassClassifier"

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
        check_final(arms, settings)
        by_gold = [arm for arm in arms if settings.row(arm).needs_gold and not is_at_documents(arm)]
        if by_gold:
            raise LopsError(
                f"{by_gold[0]} needs gold labels, and pseudo documents have none; "
                f"wanted {by_gold[0]}-documents"
            )


WESTCLASS = Westclass()
