"""Settings of a ConWea run, and the two presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.core import LopsError
from lops_adapters.runs.settings import FrameworkSettings


@dataclass(frozen=True, kw_only=True)
class ConweaSettings(FrameworkSettings):
    """All that decides the outcome of a ConWea run besides data and seed; the probe ``same`` is a
    HAN.

    Args:
        encoder: of the contextual vectors (and of the transformer probe): ``minilm``, a hub name or
            a local folder.
        layers, combine: last layers of the encoder and how they are combined; the original
            concatenates four.
        max_pieces: longer sentences are encoded in windows of so many word pieces.
        min_occurrences: frequency floor; rarer words are not split into senses.
        max_occurrences: k-means sees at most so many occurrences of a word, drawn at random.
        restarts: of k-means.
        iterations: trainings of the classifier, each followed by an update of the seeds.
        vector_size, vector_epochs: of Word2Vec.
        vector_words: a small corpus is repeated, beyond ``vector_epochs``, until Word2Vec has seen
            about so many words; after five epochs on a few ten thousand words all vectors still
            point the same way, and no classifier can learn from them.
        epochs, batch_size, max_sentences, max_words, validation, patience: of the HAN classifier.
        max_updates: fewer epochs where they would make more updates than this; None: no limit.
        probe_epochs: the HAN probe is watched at most so long; the other kinds keep their own
            number.

    """

    # quick: what a laptop's CPU does in minutes. paper: the published sizes; the number of probing
    # epochs of ConWea's HAN is not published, so the probe may run as long as the classifier, which
    # the rule usually makes unnecessary.
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {
            "encoder": "bert-base-uncased",
            "max_pieces": 512,
            "restarts": 10,
            "epochs": 100,
            "max_updates": None,
            "batch_size": 256,
            "max_sentences": 15,
            "max_words": 100,
            "probe_epochs": 100,
        },
    }
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear", "transformer")
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {"combine": "concat", "vector_words": 1}
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = (
        "layers", "max_pieces", "min_occurrences", "max_occurrences", "restarts", "iterations", "vector_size", "vector_epochs",
        "vector_words", "epochs", "max_updates", "batch_size", "max_sentences", "max_words", "patience", "probe_epochs",
    )  # fmt: skip

    encoder: str = "minilm"
    layers: int = 4
    combine: str = "mean"
    max_pieces: int = 128
    min_occurrences: int = 10
    max_occurrences: int = 1000
    restarts: int = 3
    iterations: int = 6
    vector_size: int = 100
    vector_epochs: int = 5
    vector_words: int = 2_000_000
    epochs: int = 20
    max_updates: int | None = 400
    batch_size: int = 32
    max_sentences: int = 12
    max_words: int = 30
    validation: float = 0.1
    patience: int = 3
    probe_epochs: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.validation < 1:
            raise LopsError(
                f"validation is {self.validation}; wanted a fraction, 0 <= validation < 1"
            )
