"""A trained LOTClass classifier for new texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lops_adapters.lotclass.documents import token_rows
from lops_adapters.lotclass.probe import LotclassProbe, TokenRow
from lops_adapters.runs.classifiers import TextClassifier
from lops_adapters.storage import write_json

FIRST = np.zeros(1, dtype=np.int64)  # the place of BERT's [CLS]


def whole(row: np.ndarray, read_at: str) -> TokenRow:
    """Return a document, nothing masked, read at its first token, or all but the special ones.

    >>> whole(np.array([2, 7, 8, 3]), "tokens").places.tolist()
    [1, 2]
    """
    if read_at == "first" or len(row) < 3:
        return TokenRow(row, FIRST)
    return TokenRow(row, np.arange(1, len(row) - 1))


@dataclass
class LotclassClassifier(TextClassifier):
    """Predicts the class of any text, with the network of a run."""

    classes: Sequence[str]
    network: LotclassProbe
    max_tokens: int
    read_at: str

    def _probabilities(self, texts: Sequence[str]) -> np.ndarray:
        rows = token_rows(texts, self.network.tokenizer, self.max_tokens)
        return self.network.predict_prepared([whole(row, self.read_at) for row in rows])

    def save(self, folder: Path) -> None:
        """Write the model into an existing empty folder."""
        inner = folder / "network"
        inner.mkdir()
        self.network.save(inner)
        write_json(
            folder / "lops.json",
            {
                "kind": "lotclass",
                "classes": list(self.classes),
                "max_tokens": self.max_tokens,
                "read_at": self.read_at,
            },
        )

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> LotclassClassifier:
        """Read what :meth:`save` wrote."""
        stored = json.loads((folder / "lops.json").read_text(encoding="utf-8"))
        return cls(
            stored["classes"],
            LotclassProbe.load(folder / "network", device=device),
            stored["max_tokens"],
            stored["read_at"],
        )
