"""Settings of a LOTClass run, and the two presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.core import LopsError
from lops_adapters.runs.settings import FrameworkSettings

SUPERVISION = ("names", "keywords")


@dataclass(frozen=True, kw_only=True)
class LotclassSettings(FrameworkSettings):
    """All that decides the outcome of a LOTClass run besides data and seed; the probe ``same`` is
    the network, fresh.

    Args:
        encoder: a masked language model: a hub name, a local folder, or ``minilm``, which gets its
            head trained on the corpus first.
        supervision: ``names``, those of the classes, or ``keywords``, the data's seed words as
            alternative names.
        names: (class, alternative names) pairs that replace the class's own name.
        max_tokens: documents are cut at so many word pieces.
        top: the language model's best so many predictions are looked at.
        vocabulary_size: of a class, before words that do not tell are taken out.
        match_threshold: a position is indicative where more of the best predictions are in a
            class's vocabulary.
        min_rows: rows that each class needs.
        epochs, batch_size, learning_rate: of masked category prediction; the probe has the same
            rate and batches.
        probe_epochs: the probe is watched at most so long.
        self_train_epochs: passes over the documents, a fraction is possible.
        self_learning_rate: of self-training.
        update_interval: updates of self-training between two targets.
        micro_batch: samples that go through the network together; the outcome depends on it, and
            not on the number of processes.
        head_epochs, head_updates, head_learning_rate: of a masked-language-model head where the
            encoder has none; at least so many epochs and updates.

    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {
            "encoder": "bert-base-uncased",
            "max_tokens": 200,
            "batch_size": 128,
            "micro_batch": 32,
            "learning_rate": 2e-5,
            "self_learning_rate": 1e-6,
        },
    }
    MORE_ARMS: ClassVar[tuple[str, ...]] = ("lops-refresh",)
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {}
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = (
        "top", "vocabulary_size", "min_rows", "epochs", "batch_size", "probe_epochs", "update_interval", "micro_batch", "head_epochs",
        "head_updates",
    )  # fmt: skip

    encoder: str = "minilm"
    supervision: str = "names"
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    max_tokens: int = 64
    top: int = 50
    vocabulary_size: int = 100
    match_threshold: int = 20
    min_rows: int = 11
    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 1e-4
    probe_epochs: int = 4
    self_train_epochs: float = 1.0
    self_learning_rate: float = 5e-6
    update_interval: int = 50
    micro_batch: int = 16
    head_epochs: int = 3
    head_updates: int = 400
    head_learning_rate: float = 5e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "names", tuple((label, tuple(names)) for label, names in self.names)
        )  # JSON makes lists of them
        self._one_of("supervision", SUPERVISION)
        if self.max_tokens < 8:
            raise LopsError(f"max_tokens is {self.max_tokens}; wanted at least 8")
        if self.top > 255:
            raise LopsError(f"top is {self.top}; wanted at most 255")
        if not 0 <= self.match_threshold < self.top:
            raise LopsError(
                f"match_threshold is {self.match_threshold}; wanted 0 to {self.top - 1}, since {self.top} predictions are looked at"
            )
        if not 0 <= self.self_train_epochs < float("inf"):
            raise LopsError(
                f"self_train_epochs is {self.self_train_epochs}; wanted a number, at least 0"
            )
        for name in ("learning_rate", "self_learning_rate", "head_learning_rate"):
            if not getattr(self, name) > 0:
                raise LopsError(f"{name} is {getattr(self, name)}; wanted a number above 0")

    def names_of(
        self, classes: tuple[str, ...], seeds: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """Return each class's alternative names.

        Raises:
            LopsError: names for a class that is not there, or keywords where the data has none for
                a class.

        """
        given = dict(self.names)
        unknown = set(given) - set(classes)
        if unknown:
            raise LopsError(
                f"names for unknown classes: {', '.join(sorted(unknown))}; wanted some of {', '.join(classes)}"
            )
        usual = seeds if self.supervision == "keywords" else {label: (label,) for label in classes}
        own = {label: given.get(label) or tuple(usual.get(label, ())) for label in classes}
        without = [label for label in classes if not own[label]]
        if without:
            raise LopsError(
                f"no seed words for {', '.join(without)}; put a seeds.json beside the data, or give --supervision names"
            )
        return own
