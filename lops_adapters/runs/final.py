"""Frameworks that end with a network: by default, the last stage trains a classifier of texts.

Arms select among what the network is trained on, or, named ``-documents``, in the last stage, see
:mod:`lops_adapters.runs.rounds`. Measurements: docs/westclass.md and docs/lotclass.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import FAST
from lops_adapters.runs.files import write_selection
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.job import Job
from lops_adapters.runs.rounds import RoundsSettings
from lops_adapters.runs.settings import LOPS, NOT_NEGATIVE, STANDARD, FrameworkSettings, setting

NETWORK = "network"
SUFFIX = "-documents"  # of the arms that select among the documents
ARMS = tuple(
    f"{method}{SUFFIX}" for method in (LOPS, "committee", "automatic", "random", "optimal")
)
Settings = TypeVar("Settings", bound="FinalSettings")


@dataclass(frozen=True, kw_only=True)
class FinalSettings(RoundsSettings):
    """Settings of a framework that ends with a network."""

    PUBLISHED: ClassVar[Mapping[str, Any]] = FrameworkSettings.PUBLISHED

    classifier: str = setting(
        "hybrid",
        "final classifier, trained on the documents by the class that the network predicts: linear "
        "(TF-IDF), embedding (frozen --encoder) or hybrid (both); network: none, the run ends with "
        "the network",
        choices=(NETWORK, *FAST),
        usual="hybrid; paper and --faithful: network",
    )
    rounds: int = setting(
        1,
        "trainings of the final classifier; after each, rejected documents are added by rank; 0: "
        "the run ends with the network",
        within=NOT_NEGATIVE,
    )

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The arms of a run that names none.

        With a final classifier they share one network, and each costs seconds.
        """
        if self.ends_with_network:
            return self.ARMS
        return (STANDARD, f"{LOPS}{SUFFIX}", f"committee{SUFFIX}")

    @classmethod
    def shown_arms(cls) -> str:
        usual = ",".join(cls.preset("quick", classifier="linear").usual_arms)
        return f"{usual}; paper, --faithful and --classifier network: {','.join(cls.ARMS)}"

    @property
    def ends_with_network(self) -> bool:
        """Whether the network itself is the classifier."""
        return self.classifier == NETWORK or not self.rounds


class FinalFramework(Framework[Settings]):
    """A framework that ends with a network, and then with a classifier unless settings say not.

    Its settings have a ``supervision``, ``names`` or another; ``prepared`` has a ``corpus`` and
    ``labels`` and ``sample_ids`` of the samples. ``run_arm`` returns a :class:`NetworkResult`.
    """

    def method_of(self, arm: str) -> str:
        return arm.removesuffix(SUFFIX)

    def check(self, arms: Sequence[str], settings: Any, dataset: Dataset) -> None:
        late = [arm for arm in arms if is_at_documents(arm)]
        if late and settings.ends_with_network:
            raise LopsError(
                f"{late[0]} selects for the final classifier, and the run ends with the network; "
                "wanted --classifier hybrid, linear or embedding, and --rounds of at least 1"
            )
        if settings.frozen_encoder not in (None, STATIC):
            pretrained.load_config(settings.frozen_encoder)

    def class_words(self, corpus: Corpus, settings: Any) -> dict[str, list[str]]:
        """Return the names of each class; where seed words supervise, these too."""
        if settings.supervision in ("names", "auto"):
            return {label: list(corpus.names[label]) for label in corpus.classes}
        return super().class_words(corpus, settings)

    def arm_tables(
        self, arm: str, result: NetworkResult, prepared: Any, job: Job[Settings]
    ) -> None:
        path = job.folder.arm(arm) / "selection-0.csv"
        write_selection(path, prepared.sample_ids, prepared.labels, result.selection)

    def rounds(self, arm: str, settings: Any) -> tuple[int, str]:
        method = self.method_of(arm) if is_at_documents(arm) else STANDARD
        return (0 if settings.ends_with_network else settings.rounds), method

    def arm_summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return an arm's entry: the selection is that among the samples of its place."""
        selected = [row for row in rows if "per_class" in row][-1]
        summary = {key: selected[key] for key in ("selected", "selected_noise")}
        return {**super().arm_summary(rows), **summary}


def is_at_documents(arm: str) -> bool:
    """Return whether an arm selects among the documents.

    >>> is_at_documents("lops"), is_at_documents("lops-documents")
    (False, True)
    """
    return arm.endswith(SUFFIX)


@dataclass(frozen=True)
class NetworkResult:
    """One arm of a framework that ends with a network.

    Attributes:
        selection: among the samples that the network is trained on first.
        first: (n, k) float32, predictions on documents after that training.
        self_trained: what self-training ended with; it has ``probabilities``.
        seconds: of ``selection``, ``training`` and ``self_training``.
    """

    selection: Selection
    first: np.ndarray
    self_trained: Any
    seconds: dict[str, float]

    @property
    def probabilities(self) -> np.ndarray:
        """(n, k) float32, the network's last predictions."""
        return np.asarray(self.self_trained.probabilities)
