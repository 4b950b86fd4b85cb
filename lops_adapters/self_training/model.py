"""A classifier trained by self-training, for new texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lops_adapters.loading import TextClassifier
from lops_adapters.probes import Probe, probe_class
from lops_adapters.storage import write_json


@dataclass
class SelfTrainedClassifier(TextClassifier):
    """Predicts the class of any text, the way the run that trained it did.

    Attributes:
        classes: class names, in the order of probability columns.
        classifier: the trained classifier.

    """

    classes: Sequence[str]
    classifier: Probe

    def _probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Class probabilities, (n, k) float32."""
        return self.classifier.predict_proba(texts)

    def save(self, folder: Path) -> None:
        """Write the model into an existing empty folder."""
        inner = folder / "classifier"
        inner.mkdir()
        self.classifier.save(inner)
        write_json(folder / "lops.json", {"kind": "self_training", "classes": list(self.classes), "classifier": self.classifier.kind})

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> SelfTrainedClassifier:
        """Read what :meth:`save` wrote."""
        stored = json.loads((folder / "lops.json").read_text(encoding="utf-8"))
        return cls(stored["classes"], probe_class(stored["classifier"]).load(folder / "classifier", device=device))
