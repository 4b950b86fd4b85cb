"""A trained X-Class classifier for new texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.storage import write_json


@dataclass
class XclassClassifier:
    """Predicts the class of any text, the way the run that trained it did.

    Attributes:
        classes: class names, in the order of probability columns.
        classifier: the fine-tuned encoder.

    """

    classes: Sequence[str]
    classifier: TransformerProbe

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """Class probabilities, (n, k) float32."""
        if isinstance(texts, str):
            raise LopsError("found one string; wanted a list of texts")
        wrong = [text for text in texts if not isinstance(text, str)]
        if wrong:
            raise LopsError(f"found {wrong[0]!r} among the texts; wanted strings, an empty one for an empty text")
        return self.classifier.predict_proba(texts)

    def predict(self, texts: Sequence[str]) -> list[str]:
        """Class names, one a text."""
        return [self.classes[code] for code in self.predict_proba(texts).argmax(axis=1)]

    def save(self, folder: Path) -> None:
        """Write the model into an existing empty folder."""
        inner = folder / "classifier"
        inner.mkdir()
        self.classifier.save(inner)
        write_json(folder / "lops.json", {"kind": "xclass", "classes": list(self.classes)})

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> XclassClassifier:
        """Read what :meth:`save` wrote."""
        stored = json.loads((folder / "lops.json").read_text(encoding="utf-8"))
        return cls(stored["classes"], TransformerProbe.load(folder / "classifier", device=device))
