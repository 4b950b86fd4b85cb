"""A trained ConWea classifier for new texts: word senses and the HAN, or a probe of texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lops_adapters.conwea.contextual import build_encoder, contextual_vectors, contextualise
from lops_adapters.conwea.senses import Senses, nearest
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import TokenizedCorpus, tokenize
from lops_adapters.probes.han import HanProbe
from lops_adapters.runs.classifiers import TextClassifier
from lops_adapters.storage import write_json


@dataclass
class ConweaClassifier(TextClassifier):
    """Predicts the class of any text, with the word senses and the HAN of a run.

    Attributes:
        classes: class names, in the order of probability columns.
        phrases: seeds of several words, each read as one word.
        centres: word -> (senses, width) float32, for words with several senses.
        classifier: the trained HAN.
        settings: of the run.
        device: where the encoder runs.
    """

    classes: Sequence[str]
    phrases: Sequence[str]
    centres: Mapping[str, np.ndarray]
    classifier: HanProbe
    settings: ConweaSettings
    device: str = "auto"

    def _probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """A text without a known word gets the classifier's prediction for an empty document."""
        tokens = tokenize(texts, self.phrases)
        senses = Senses(0.0, self.centres, self._sense_id(tokens))
        return self.classifier.predict_proba(contextualise(tokens, senses).documents)

    def _sense_id(self, tokens: TokenizedCorpus) -> np.ndarray:
        senses = np.full(len(tokens.word_id), -1, dtype=np.int32)
        ambiguous = [number for number, word in enumerate(tokens.words) if word in self.centres]
        positions = np.flatnonzero(np.isin(tokens.word_id, ambiguous))
        if not len(positions):
            return senses
        encoder = build_encoder(self.settings, self.device)
        with TemporaryDirectory() as folder:
            vectors = contextual_vectors(tokens, positions, encoder, Path(folder))
            words = tokens.word_id[positions]
            for number in np.unique(words):
                rows = np.flatnonzero(words == number)
                senses[positions[rows]] = nearest(vectors[rows], self.centres[tokens.words[number]])
        return senses

    def save(self, folder: Path) -> None:
        """Write the model into an existing empty folder."""
        han = folder / "han"
        han.mkdir()
        self.classifier.save(han)
        words = list(self.centres)
        centres = {str(i): self.centres[word] for i, word in enumerate(words)}
        np.savez(folder / "senses.npz", **centres)  # type: ignore[arg-type]
        stored: dict[str, Any] = {
            "kind": "conwea",
            "classes": list(self.classes),
            "phrases": list(self.phrases),
            "ambiguous_words": words,
            "settings": self.settings.as_dict(),
        }
        write_json(folder / "lops.json", stored)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> ConweaClassifier:
        """Read what :meth:`save` wrote; the encoder is loaded by its name or path."""
        stored = json.loads((folder / "lops.json").read_text(encoding="utf-8"))
        with (folder / "senses.npz").open("rb") as file, np.load(file) as arrays:
            centres = {word: arrays[str(i)] for i, word in enumerate(stored["ambiguous_words"])}
        return cls(
            stored["classes"],
            stored["phrases"],
            centres,
            HanProbe.load(folder / "han", device=device),
            ConweaSettings(**stored["settings"]),
            device,
        )
