"""Settings of a WeSTClass run, its presets, and the published sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from lops_adapters.core import LopsError
from lops_adapters.runs.rounds import AT_DOCUMENTS, NETWORK, FinalSettings
from lops_adapters.runs.settings import (
    ABOVE_ZERO,
    AT_LEAST_ONE,
    BELOW_ONE,
    EVERY,
    NOT_NEGATIVE,
    SHARE,
    Range,
    setting,
)

Value = TypeVar("Value")
SUPERVISION = ("names", "keywords", "documents")
NETWORKS = ("cnn", "han")
# The original has settings per data set: "short" are those for AG News, "long" for Yelp reviews.
PUBLISHED: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("cnn", "short"): {
        "max_words": 100, "pretrain_epochs": 20,
        "update_interval": 50, "learning_rate": 1e-3, "decay": 1e-6,
    },
    ("cnn", "long"): {
        "max_words": 500, "pretrain_epochs": 30,
        "update_interval": 50, "learning_rate": 1e-4, "decay": 1e-6,
    },
    ("han", "short"): {
        "max_sentences": 10, "max_words": 45, "pretrain_epochs": 100,
        "update_interval": 50, "learning_rate": 1e-3, "decay": 1e-5,
    },
    ("han", "long"): {
        "max_sentences": 40, "max_words": 30, "pretrain_epochs": 200,
        "update_interval": 100, "learning_rate": 1e-4, "decay": 1e-5,
    },
}  # fmt: skip
# A corpus is long above this mean of words per document: the short settings would cut it.
LONG_FROM = 100


def filled(value: Value | None) -> Value:
    """Return a setting that :meth:`WestclassSettings.for_length` has filled in, or a LopsError."""
    if value is None:
        raise LopsError(
            "found settings with open sizes; call for_length() with the mean number of words first"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class WestclassSettings(FinalSettings):
    """Settings of WeSTClass.

    The probe ``same`` is an untrained copy of what is trained next: the network among pseudo
    documents, the final classifier among documents.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"most_words": 100, "max_passes": 200},
        "paper": {"classifier": NETWORK},
    }
    MORE_ARMS: ClassVar[tuple[str, ...]] = AT_DOCUMENTS
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear", "transformer")
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {
        "vector_words": 1,
        "classifier": NETWORK,
        "max_passes": None,
    }

    # After one epoch nearly everything is learnt, see docs/results/lotclass.md.
    every: int | str = setting(1, **EVERY)
    supervision: str = setting(
        "keywords",
        "source of the seeds: names, keywords (seed words), or labelled documents",
        choices=SUPERVISION,
        usual="documents with --labelled, else keywords, or names without any",
    )
    labelled: Sequence[Sequence[str]] = setting(
        (), "(document id, class) pairs, for supervision by documents", option=None
    )
    network: str = setting(
        "cnn", "cnn, or han (hierarchical attention, slow without a GPU)", choices=NETWORKS
    )
    encoder: str = setting(
        "minilm",
        "encoder of the final classifier and of the transformer probe: minilm, a Hugging Face hub "
        "name, or a local folder",
        metavar="NAME|PATH",
    )
    vector_size: int = setting(
        100, "width of the Word2Vec vectors", within=Range("at least 2", lambda value: value >= 2)
    )
    vector_words: int = setting(
        2_000_000, "words Word2Vec trains on, at least; small corpora repeat"
    )
    min_count: int = setting(5, "rarer words get no vector")
    per_class: int = setting(500, "pseudo documents per class")
    top: int = setting(50, "words around a topic's direction (gamma of the paper)")
    alpha: float = setting(
        0.2, "share of background words, and of the other classes in a label", within=BELOW_ONE
    )
    length: str = setting(
        "auto",
        "published sizes for short or long documents",
        choices=("auto", "short", "long"),
        usual="auto, by the mean length",
    )
    most_words: int | None = setting(
        None, "upper limit on the published max_words", within=AT_LEAST_ONE
    )
    max_words: int | None = setting(
        None,
        "words per document (han: per sentence) for the network",
        within=AT_LEAST_ONE,
        usual="published, at most --most-words",
    )
    max_sentences: int | None = setting(
        None, "sentences per document for the han", within=AT_LEAST_ONE, usual="published: 10 or 40"
    )
    pretrain_epochs: int | None = setting(
        None,
        "epochs of pre-training and of the probe",
        within=AT_LEAST_ONE,
        usual="published: cnn 20 or 30, han 100 or 200",
    )
    batch_size: int = setting(256, "documents per update")
    update_interval: int | None = setting(
        None,
        "updates of self-training between two targets",
        within=AT_LEAST_ONE,
        usual="published: 50 or 100",
    )
    learning_rate: float | None = setting(
        None, "learning rate of self-training", within=ABOVE_ZERO, usual="published: 1e-3 or 1e-4"
    )
    decay: float | None = setting(
        None,
        "its decay: the rate is learning_rate / (1 + decay * updates)",
        within=NOT_NEGATIVE,
        usual="published: 1e-5 or 1e-6",
    )
    max_iterations: int = setting(5000, "updates of self-training at most")
    # The stopping rule counts documents: of 1,000, one that changes its class is too many.
    max_passes: int | None = setting(
        None,
        "passes over the documents in self-training at most",
        within=AT_LEAST_ONE,
        usual="200; paper and --faithful: none",
    )
    stop_below: float = setting(
        0.001,
        "stop self-training if fewer documents than this share change their class",
        within=SHARE,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = tuple((str(name), str(label)) for name, label in self.labelled)  # JSON gives lists
        object.__setattr__(self, "labelled", pairs)

    def most_updates(self, n: int) -> int:
        """Return the updates of self-training on n documents at most.

        >>> settings = WestclassSettings(max_passes=100)
        >>> settings.most_updates(1000), settings.most_updates(20_000)
        (400, 5000)
        """
        if self.max_passes is None:
            return self.max_iterations
        return min(self.max_iterations, self.max_passes * -(-n // self.batch_size))

    def for_length(self, mean_words: float) -> WestclassSettings:
        """Return these settings with the published sizes for a mean number of words per document.

        >>> WestclassSettings().for_length(300).max_words
        500
        >>> WestclassSettings(max_words=80).for_length(300).max_words
        80
        """
        length = self.length
        if length == "auto":
            length = "long" if mean_words > LONG_FROM else "short"
        row = dict(PUBLISHED[self.network, length])
        row["max_words"] = min(row["max_words"], self.most_words or row["max_words"])
        unset = {name: value for name, value in row.items() if getattr(self, name) is None}
        return replace(self, length=length, **unset)
