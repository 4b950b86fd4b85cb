"""Settings of a WeSTClass run, the two presets, and the published values for short and for long
documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from lops_adapters.core import LopsError
from lops_adapters.runs.settings import FrameworkSettings

Value = TypeVar("Value")
SUPERVISION = ("names", "keywords", "documents")
NETWORKS = ("cnn", "han")
# The original names its settings by data set: "short" is its row for AG News, "long" its row for
# Yelp reviews.
PUBLISHED: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("cnn", "short"): {"max_words": 100, "pretrain_epochs": 20, "update_interval": 50, "learning_rate": 1e-3, "decay": 1e-6},
    ("cnn", "long"): {"max_words": 500, "pretrain_epochs": 30, "update_interval": 50, "learning_rate": 1e-4, "decay": 1e-6},
    ("han", "short"): {
        "max_sentences": 10, "max_words": 45, "pretrain_epochs": 100, "update_interval": 50, "learning_rate": 1e-3, "decay": 1e-5,
    },
    ("han", "long"): {
        "max_sentences": 40, "max_words": 30, "pretrain_epochs": 200, "update_interval": 100, "learning_rate": 1e-4, "decay": 1e-5,
    },
}  # fmt: skip
# mean words a document above which a corpus counts as long: where the short settings would cut the
# average document
LONG_FROM = 100


def filled(value: Value | None) -> Value:
    """Return a setting that :meth:`WestclassSettings.for_length` has filled in, or say that it has
    not.
    """
    if value is None:
        raise LopsError(
            "found settings whose sizes are open; call for_length() with the mean length of the documents first"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class WestclassSettings(FrameworkSettings):
    """All that decides the outcome of a WeSTClass run besides data and seed; the probe ``same`` is
    the network itself.

    Args:
        supervision: ``names`` of the classes, ``keywords`` (the seed words), or labelled
            ``documents``.
        labelled: (document id, class) pairs, for supervision by documents.
        network: ``cnn``, or ``han``, the hierarchical attention network.
        encoder: of the transformer probe.
        vector_size, vector_epochs, vector_words, min_count: of Word2Vec, see
            :func:`lops_adapters.probes.word_vectors.train_word_vectors`.
        per_class, top, alpha: pseudo documents a class, words around a direction, share of the
            background and of the other classes in a soft label (beta, gamma and alpha of the
            paper).
        length: which published row fills in what is None below: ``short``, ``long``, or ``auto``,
            by the mean length of the documents.
        most_words: a published ``max_words`` is lowered to this; one that is given is not.
        max_words: longer documents (``han``: sentences) are cut at the end.
        max_sentences: of a document, for ``han``.
        pretrain_epochs: of the classifier, and of the probe where it is the same network.
        batch_size: documents an update.
        update_interval, learning_rate, decay: of self-training; the step is learning_rate / (1 +
            decay * updates).
        max_iterations: updates of self-training at most.
        stop_below: self-training stops when a smaller fraction of documents changed its class
            between two refreshes of the target.

    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"most_words": 100, "max_iterations": 1500},
        "paper": {},
    }
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear", "transformer")
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {"vector_words": 1}
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = (
        "vector_size", "vector_epochs", "vector_words", "min_count", "per_class", "top", "most_words", "max_words", "max_sentences",
        "pretrain_epochs", "batch_size", "update_interval", "max_iterations",
    )  # fmt: skip

    # Learning is abrupt here: asked once an epoch the probe has learnt nearly everything at the
    # first asking, see docs/westclass.md.
    every: int | str = 1
    supervision: str = "keywords"
    labelled: Sequence[Sequence[str]] = ()
    network: str = "cnn"
    encoder: str = "minilm"
    vector_size: int = 100
    vector_epochs: int = 5
    vector_words: int = 2_000_000
    min_count: int = 5
    per_class: int = 500
    top: int = 50
    alpha: float = 0.2
    length: str = "auto"
    most_words: int | None = None
    max_words: int | None = None
    max_sentences: int | None = None
    pretrain_epochs: int | None = None
    batch_size: int = 256
    update_interval: int | None = None
    learning_rate: float | None = None
    decay: float | None = None
    max_iterations: int = 5000
    stop_below: float = 0.001

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = next(
            (pair for pair in self.labelled if isinstance(pair, str) or len(pair) != 2), None
        )
        if wrong is not None:
            raise LopsError(f"labelled holds {wrong!r}; wanted pairs: document id, class")
        object.__setattr__(
            self, "labelled", tuple((str(name), str(label)) for name, label in self.labelled)
        )  # JSON gives lists
        self._one_of("supervision", SUPERVISION)
        self._one_of("network", NETWORKS)
        self._one_of("length", ("auto", "short", "long"))
        if not 0 <= self.alpha < 1:
            raise LopsError(f"alpha is {self.alpha}; wanted a fraction, 0 <= alpha < 1")
        if not 0 <= self.stop_below <= 1:
            raise LopsError(
                f"stop_below is {self.stop_below}; wanted a fraction of the documents, 0 to 1"
            )
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise LopsError(f"learning_rate is {self.learning_rate}; wanted a number above 0")
        if self.decay is not None and not self.decay >= 0:
            raise LopsError(f"decay is {self.decay}; wanted a number, at least 0")

    def for_length(self, mean_words: float) -> WestclassSettings:
        """Return these settings with everything that is None filled in for a corpus of so many
        words a document.

        >>> WestclassSettings().for_length(300).max_words, WestclassSettings(max_words=80).for_length(300).max_words
        (500, 80)
        """
        length = (
            self.length if self.length != "auto" else "long" if mean_words > LONG_FROM else "short"
        )
        row = dict(PUBLISHED[self.network, length])
        row["max_words"] = min(row["max_words"], self.most_words or row["max_words"])
        return replace(
            self,
            length=length,
            **{name: value for name, value in row.items() if getattr(self, name) is None},
        )
