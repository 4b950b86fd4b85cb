"""Settings of a self-training run, and the two presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import FAST
from lops_adapters.remote import opened
from lops_adapters.runs.arms import ADAPTIVE, LOPS
from lops_adapters.runs.settings import (
    ABOVE_ZERO,
    AT_LEAST_ONE,
    FRACTION,
    FrameworkSettings,
    Range,
    setting,
)
from lops_adapters.selection import METHODS
from lops_adapters.selection.by_rank import SHARE

HEURISTICS = ("string-match", "exclusive-string-match")
PROBABILITY = Range("a probability, from 0 to 1", lambda value: 0 <= value <= 1)


def is_told(arm: str) -> bool:
    """Return whether an arm must be told how many to keep."""
    return arm in METHODS and METHODS[arm].takes_n


@dataclass(frozen=True, kw_only=True)
class SelfTrainingSettings(FrameworkSettings):
    """Settings of self-training; the probe ``same`` is an untrained copy of the classifier."""

    # paper: the published sizes; epochs, batch size and learning rate of the encoder's recipe are
    # the published ones.
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {"classifier": "bert-base-uncased", "max_tokens": 512},
    }
    PUBLISHED: ClassVar[Mapping[str, Any]] = {**FrameworkSettings.PUBLISHED, "delta": 0.6}
    MORE_ARMS: ClassVar[tuple[str, ...]] = tuple(
        name for name in METHODS if name not in FrameworkSettings.ARMS
    )
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear")

    classifier: str = setting(
        "hybrid",
        "linear; embedding or hybrid, on a frozen encoder; or an encoder to fine-tune: minilm, a "
        "Hugging Face hub name, or a local folder",
        metavar="NAME|PATH",
    )
    encoder: str = setting(
        STATIC,
        "frozen encoder of embedding, hybrid and the committee: static, which ships with the "
        "package; minilm, a Hugging Face hub name, or a local folder",
        metavar="NAME|PATH",
    )
    epochs: int | None = setting(
        None,
        "epochs of classifier and probe",
        within=AT_LEAST_ONE,
        usual="the encoder's recipe; linear: 20, its probe 4",
    )
    batch_size: int | None = setting(
        None, "documents per update", within=AT_LEAST_ONE, usual="the classifier's recipe"
    )
    learning_rate: float | None = setting(
        None, "learning rate", within=ABOVE_ZERO, usual="the classifier's recipe"
    )
    max_tokens: int = setting(128, "word pieces per document for an encoder; linear reads all")
    pseudo_labels: str = setting(
        "string-match",
        "string-match, exclusive-string-match, or a CSV file with columns id and label",
        metavar="HOW|FILE",
    )
    pseudo_labels_sha256: str | None = setting(None, "checksum of that file", option=None)
    iterations: int = setting(5, "rounds of training and bootstrapping")
    # docs/self_training.md: measurements of both rules, and of selecting in every iteration.
    share: float = setting(
        SHARE,
        "bootstrap the best of the other documents per class, this share of them; arms then select "
        "in the first iteration only",
        within=FRACTION,
    )
    delta: float | None = setting(
        None,
        "instead of --share, as published: bootstrap documents predicted with a probability above "
        "this, and select in every iteration",
        within=PROBABILITY,
        metavar="P",
        usual="none; paper and --faithful: 0.6",
    )
    n_from: str = setting(
        LOPS,
        "how many to keep, for methods that must be told: as many as the arm lops (or, without it, "
        "lops-adaptive) trains on in the same iteration, or the fraction keep",
        choices=(LOPS, ADAPTIVE, "keep"),
        option=None,
    )
    per_class: bool = setting(
        False, "methods that have the choice keep the same share of every class", option="selection"
    )

    def recipe(self, probing: bool) -> dict[str, Any]:
        # After the linear probe's four epochs predictions are right but rarely above delta, so that
        # nothing is bootstrapped.
        usual = 20 if self.classifier in FAST and not probing else None
        return {
            "max_tokens": self.max_tokens,
            "epochs": self.epochs or usual,
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
        }

    @property
    def committee_encoder(self) -> str:
        """The encoder of a committee, with any classifier."""
        return self.encoder

    def settled(self, methods: Sequence[str]) -> SelfTrainingSettings:
        """Return the settings completed by the methods of a run and the pseudo-label file."""
        alike = next((arm for arm in (LOPS, ADAPTIVE) if arm in methods), "keep")
        checksum = None
        if self.pseudo_labels not in HEURISTICS:
            try:
                with opened(Path(self.pseudo_labels)) as file:
                    checksum = sha256(file.read()).hexdigest()
            except OSError as error:
                raise LopsError(
                    f"{typed('pseudo_labels')} is {self.pseudo_labels!r}, which cannot be read "
                    f"({error.strerror}); wanted {', '.join(HEURISTICS)}, or a CSV file with "
                    "columns id and label"
                ) from None
        n_from = alike if any(map(is_told, methods)) else LOPS
        return replace(self, n_from=n_from, pseudo_labels_sha256=checksum)
