"""The hybrid probe: a linear and an embedding probe side by side, their probabilities averaged.

Words tell topics apart that a small encoder confuses, and the encoder knows words that are rare in
the training samples.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.word_counts import WordCounts
from lops_adapters.probes.base import Probe, Stage, Steady, Update
from lops_adapters.probes.embedding import AUTO, EmbeddingProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.probes.stages import Heard

# On frozen vectors, an update moves every weight; on TF-IDF, the weights of the batch's words only.
_SLOWER = 6.0


@dataclass(frozen=True)
class Pair:
    """What both probes read from n texts."""

    words: WordCounts
    vectors: np.ndarray

    def __len__(self) -> int:
        return len(self.vectors)

    def rows(self, positions: np.ndarray) -> Pair:
        """Return the texts at (m,) int positions."""
        return Pair(self.words.rows(positions), self.vectors[positions])


@dataclass
class HybridProbe(Steady, Probe):
    """TF-IDF and frozen vectors, one softmax each, trained on the same batches.

    Args:
        encoder, max_tokens, precision, device, cache: as for
            :class:`lops_adapters.probes.embedding.EmbeddingProbe`.
        epochs, batch_size: of both.
        learning_rate: of the linear part; the embedding part has a sixth of it.

    Samples are strings, tokens, or sentences of tokens, joined by spaces.
    """

    kind: ClassVar[str] = "hybrid"
    encoder: str = STATIC
    epochs: int = 4
    batch_size: int = 32
    learning_rate: float = 0.03
    max_tokens: int = 128
    precision: str = "auto"
    device: str = "auto"
    cache: str | None = AUTO

    def __post_init__(self) -> None:
        self._words = LinearProbe(
            self.epochs, self.batch_size, self.learning_rate, quiet=self.quiet
        )
        slower = {"learning_rate": self.learning_rate / _SLOWER}
        self._vectors = EmbeddingProbe(**self.settings() | slower)

    def read(self, samples: Sequence[Any]) -> Pair:
        words = self._words.read(samples)
        counted = self.encoder == STATIC
        return Pair(words, self._vectors.vectors(words if counted else samples))

    def prepare(self, samples: Any, *, fit: bool = False) -> tuple[Any, np.ndarray]:
        read = samples if isinstance(samples, Pair) else self.read(samples)
        words = self._words.prepare(read.words, fit=fit)
        return words, self._vectors.prepare(read.vectors, fit=fit)

    def staged_updates(
        self,
        prepared: tuple[Any, np.ndarray],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        stages: Sequence[Stage],
    ) -> Iterator[Update]:
        kept: list[np.ndarray] = []  # of the linear probe, until the other's are known

        def keep(heard: Heard) -> Heard:
            return lambda positions, probabilities: kept.append(probabilities)

        def mean(heard: Heard) -> Heard:
            return lambda positions, probabilities: heard(
                positions, (kept.pop() + probabilities) / np.float32(2)
            )

        words, vectors = prepared
        both = zip(
            self._words.staged_updates(words, codes, n_classes, seed, _heard(stages, keep)),
            self._vectors.staged_updates(vectors, codes, n_classes, seed, _heard(stages, mean)),
            strict=True,
        )
        for update, _ in both:
            yield update

    def predict_prepared(
        self, prepared: tuple[Any, np.ndarray], positions: np.ndarray | None = None
    ) -> np.ndarray:
        words, vectors = prepared
        mean = self._words.predict_prepared(words, positions)
        mean += self._vectors.predict_prepared(vectors, positions)
        return mean / np.float32(2)

    def save(self, folder: Path) -> None:
        """Write both probes and ``hybrid.json`` (settings)."""
        self._words.save(folder)
        self._vectors.save(folder)
        stored = json.dumps(self.settings())
        (folder / "hybrid.json").write_text(stored, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> HybridProbe:
        settings = json.loads((folder / "hybrid.json").read_text(encoding="utf-8"))
        probe = cls(**{**settings, "device": device})
        probe._words = LinearProbe.load(folder)
        probe._vectors = EmbeddingProbe.load(folder, device=device)
        return probe


def _heard(stages: Sequence[Stage], by: Callable[[Heard], Heard]) -> list[Stage]:
    return [
        stage if stage.heard is None else replace(stage, heard=by(stage.heard)) for stage in stages
    ]
