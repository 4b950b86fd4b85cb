"""A trained WeSTClass classifier for new texts: one that reads texts, or tokens and the network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lops_adapters.probes import probe_class
from lops_adapters.runs.classifiers import TextClassifier
from lops_adapters.storage import write_json
from lops_adapters.westclass.classifier import Network
from lops_adapters.westclass.settings import WestclassSettings, filled
from lops_adapters.westclass.tokens import Document, padded, tokenize


@dataclass
class WestclassClassifier(TextClassifier):
    """Predicts the class of any text, with the network of a run.

    Attributes:
        words: of scripts without spaces, at which texts are cut.
    """

    classes: Sequence[str]
    network: Network
    settings: WestclassSettings
    words: Sequence[str] = ()

    def _probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """A text without a known word gets the network's prediction for an empty document."""
        tokens = tokenize(texts, self.words, faithful=self.settings.faithful)
        return self.network.predict_proba(as_read(tokens, self.settings))

    def save(self, folder: Path) -> None:
        """Write the model into an existing empty folder."""
        network = folder / "network"
        network.mkdir()
        self.network.save(network)
        stored = {
            "kind": "westclass",
            "network": self.network.kind,
            "classes": list(self.classes),
            "settings": self.settings.as_dict(),
            "words": list(self.words),
        }
        write_json(folder / "lops.json", stored)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> WestclassClassifier:
        """Read what :meth:`save` wrote."""
        stored = json.loads((folder / "lops.json").read_text(encoding="utf-8"))
        network = probe_class(stored["network"]).load(folder / "network", device=device)
        settings = WestclassSettings(**stored["settings"])
        return cls(stored["classes"], network, settings, stored.get("words", ()))  # type: ignore[arg-type]


def as_read(documents: list[Document], settings: WestclassSettings) -> list[Document]:
    """Return documents as the network reads them.

    Under ``faithful`` the CNN's are cut and padded with ``<PAD/>``, which is a word there.
    The settings are filled in by :meth:`WestclassSettings.for_length`.
    """
    if settings.faithful and settings.network == "cnn":
        return padded(documents, filled(settings.max_words))
    return documents
