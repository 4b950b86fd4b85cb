"""Settings of a self-training run, and the two presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from lops_adapters.core import LopsError
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.selection import METHODS

HEURISTICS = ("string-match", "exclusive-string-match")


@dataclass(frozen=True, kw_only=True)
class SelfTrainingSettings(FrameworkSettings):
    """All that decides the outcome of a self-training run besides data and seed; the probe ``same``
    is a fresh classifier.

    Args:
        classifier: ``linear``, ``minilm``, a hub name or a local folder.
        epochs, batch_size, learning_rate: of classifier and probe; None is what its kind is usually
            trained with, but for a linear classifier, which trains longer than a linear probe.
        max_tokens: longer texts are cut; ``linear`` reads all.
        pseudo_labels: ``string-match``, ``exclusive-string-match``, or a CSV file of pseudo-labels.
        pseudo_labels_sha256: of that file, None where there is none.
        iterations: of selection, training and bootstrapping.
        delta: what the classifier is surer of than this becomes a pseudo-label.
        n_from: where methods that are told how many to keep get that from: ``lops``, what the LOPS
            arm of the same run trains on in the same iteration, or ``tau``, that fraction of the
            pseudo-labels.
        stratified: all methods that choose by a ranking take the same share of every class, not
            only those that the paper describes so.

    """

    # paper: the published sizes; epochs, batch size and learning rate are the encoder's recipe,
    # which is the published one.
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {"classifier": "bert-base-uncased", "max_tokens": 512},
    }
    MORE_ARMS: ClassVar[tuple[str, ...]] = tuple(
        name for name in METHODS if name not in FrameworkSettings.ARMS
    )
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear")
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = ("epochs", "batch_size", "max_tokens", "iterations")

    classifier: str = "minilm"
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    max_tokens: int = 128
    pseudo_labels: str = "string-match"
    pseudo_labels_sha256: str | None = None
    iterations: int = 5
    delta: float = 0.6
    n_from: str = "lops"
    stratified: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("n_from", ("lops", "tau"))
        if not 0 <= self.delta <= 1:
            raise LopsError(f"delta is {self.delta}; wanted a probability, from 0 to 1")
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise LopsError(f"learning_rate is {self.learning_rate}; wanted a number above 0")

    def settled(self, methods: Sequence[str]) -> SelfTrainingSettings:
        """Return the settings with what follows from the methods of a run and from the file of
        pseudo-labels.

        Raises:
            LopsError: the pseudo-labels are neither a heuristic nor a file that can be read.

        """
        alone = "lops" not in methods and any(METHODS[name].takes_n for name in methods)
        checksum = None
        if self.pseudo_labels not in HEURISTICS:
            try:
                checksum = sha256(Path(self.pseudo_labels).read_bytes()).hexdigest()
            except OSError as error:
                raise LopsError(
                    f"pseudo_labels is {self.pseudo_labels!r}, which cannot be read ({error.strerror}); wanted {', '.join(HEURISTICS)}, "
                    "or a CSV file with columns id and label"
                ) from None
        return replace(self, n_from="tau" if alone else "lops", pseudo_labels_sha256=checksum)
