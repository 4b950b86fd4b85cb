"""Settings of an X-Class run, and the two presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.core import LopsError
from lops_adapters.runs.settings import FrameworkSettings

ATTENTION = (
    "mixture",
    "significance",
    "relation",
    "significance_static",
    "relation_static",
    "none",
)
ALIGNMENTS = ("gmm", "kmeans")


@dataclass(frozen=True, kw_only=True)
class XclassSettings(FrameworkSettings):
    """All that decides the outcome of an X-Class run besides data and seed; the probe ``same`` is
    the final classifier, fresh.

    Args:
        encoder: of the word vectors: ``minilm``, a hub name or a local folder.
        max_pieces: documents are encoded in windows of so many word pieces, which overlap by half.
        min_count: rarer words are no candidates for the description of a class.
        class_words: words a class is described by at most, its name included.
        attention: how words weigh in a document's vector.
        components: of the PCA before alignment, at most.
        alignment: ``gmm``, a Gaussian mixture with one covariance, or ``kmeans``.
        confident: fraction of each class, the most confidently aligned, that the classifier is
            trained on.
        classifier: encoder of the classifier; default: ``encoder``, and bert-base-cased for
            bert-base-uncased, as in the original.
        epochs, batch_size, learning_rate, max_tokens: of the classifier; a rate of None is the
            encoder's own.
        probe_epochs: the probe is watched at most so long.

    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {
            "encoder": "bert-base-uncased",
            "max_pieces": 512,
            "learning_rate": 5e-5,
            "max_tokens": 512,
        },
    }
    MORE_ARMS: ClassVar[tuple[str, ...]] = ("lops-all",)
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear")
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = (
        "max_pieces", "min_count", "class_words", "components", "epochs", "batch_size", "max_tokens", "probe_epochs",
    )  # fmt: skip

    encoder: str = "minilm"
    max_pieces: int = 128
    min_count: int = 5
    class_words: int = 100
    attention: str = "mixture"
    components: int = 64
    alignment: str = "gmm"
    confident: float = 0.5
    classifier: str | None = None
    epochs: int = 3
    batch_size: int = 32
    learning_rate: float | None = None
    max_tokens: int = 128
    probe_epochs: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("attention", ATTENTION)
        self._one_of("alignment", ALIGNMENTS)
        if not 0 < self.confident <= 1:
            raise LopsError(
                f"confident is {self.confident}; wanted a fraction above 0 and at most 1"
            )
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise LopsError(f"learning_rate is {self.learning_rate}; wanted a number above 0")
