"""What the networks over word vectors share, HAN and text CNN: words, settings, what is stored."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.encoders.words import WordVectors, sentences_of, word_ids, word_table
from lops_adapters.probes.base import Probe


@dataclass
class WordProbe(Probe):
    """A network over word vectors; it reads strings, tokens, or sentences of tokens.

    Args:
        vectors: frozen word vectors; words without one are left out. Default: random vectors of
            width 100 for the words of the training samples, trained with the network.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    _words: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _network: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.vectors is not None:
            self._words = word_ids(self.vectors.words)

    def settings(self) -> dict[str, Any]:
        return {
            name: value for name, value in sorted(super().settings().items()) if name != "vectors"
        }

    def _read_words(self, samples: Sequence[Any], fit: bool) -> list[list[list[int]]]:
        """Return the numbers of the known words of every sentence; ``fit`` learns the words."""
        documents = [sentences_of(sample) for sample in samples]
        if fit and self.vectors is None:
            words = {word for document in documents for sentence in document for word in sentence}
            self._words = word_ids(sorted(words))
        lookup = self._words
        return [
            [[lookup[word] for word in sentence if word in lookup] for sentence in document]
            for document in documents
        ]

    def _table(self, seed: int) -> np.ndarray:
        return word_table(self.vectors, len(self._words), seed)

    def _trained(self) -> Any:
        if self._network is None:
            raise self._untrained()
        return self._network

    def _save_settings(self, path: Path, **further: Any) -> None:
        """Write all but the network's weights, which include the word vectors."""
        of_words = {"words": list(self._words), "pretrained": self.vectors is not None}
        stored = json.dumps({"settings": self.settings(), **of_words, **further})
        path.write_text(stored, encoding="utf-8")

    @classmethod
    def _untrained_from(cls, stored: dict[str, Any], table: np.ndarray, device: str) -> Any:
        """Return the probe that was stored, without its network; ``table`` has a row of padding."""
        vectors = WordVectors(tuple(stored["words"]), table[1:]) if stored["pretrained"] else None
        probe = cls(vectors=vectors, **{**stored["settings"], "device": device})
        probe._words = word_ids(stored["words"])
        return probe
