"""A trained X-Class classifier for new texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lops_adapters.runs.models import ProbeClassifier


@dataclass
class XclassClassifier(ProbeClassifier):
    """Predicts the class of any text, with the fine-tuned encoder of a run."""

    kind: ClassVar[str] = "xclass"
