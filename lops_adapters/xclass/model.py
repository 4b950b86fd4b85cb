"""A trained X-Class classifier for new texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lops_adapters.runs.models import ProbeClassifier


@dataclass
class XclassClassifier(ProbeClassifier):
    """Predicts the class of any text, the way the run that trained it did: with a fine-tuned
    encoder.
    """

    kind: ClassVar[str] = "xclass"
