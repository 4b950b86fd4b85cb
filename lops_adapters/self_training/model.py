"""A classifier trained by self-training, for new texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lops_adapters.runs.models import ProbeClassifier


@dataclass
class SelfTrainedClassifier(ProbeClassifier):
    """Predicts the class of any text, with the classifier of a run."""

    kind: ClassVar[str] = "self_training"
