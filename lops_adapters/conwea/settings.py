"""Settings of a ConWea run, and the two presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from lops_adapters.core import RULES, LopsError

PROBES = ("same", "linear", "transformer")


@dataclass(frozen=True)
class ConweaSettings:
    """All that decides the outcome of a run besides data and seed; survives a trip through JSON.

    Args:
        encoder: of the contextual vectors (and of the transformer probe): ``minilm``, a hub name or a local folder.
        layers, combine: last layers of the encoder and how they are combined; the original concatenates four.
        max_pieces: longer sentences are encoded in windows of so many word pieces.
        min_occurrences: frequency floor; rarer words are not split into senses.
        max_occurrences: k-means sees at most so many occurrences of a word, drawn at random.
        restarts: of k-means.
        iterations: trainings of the classifier, each followed by an update of the seeds.
        vector_size, vector_epochs: of Word2Vec.
        vector_words: a small corpus is repeated, beyond ``vector_epochs``, until Word2Vec has seen about so many words; after five epochs
            on a few ten thousand words all vectors still point the same way, and no classifier can learn from them.
        epochs, batch_size, max_sentences, max_words, validation, patience: of the HAN classifier.
        max_updates: fewer epochs where they would make more updates than this; None: no limit.
        probe: ``same`` (a HAN), ``linear`` or ``transformer``.
        probe_epochs: the HAN probe is watched at most so long; the other kinds keep their own number.
        rule, tau, every: of the selection, see :class:`lops_adapters.selection.Lops`.
        faithful: the original's ways where they can be chosen, see the page on ConWea in the documentation.

    """

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
    probe: str = "same"
    probe_epochs: int = 10
    rule: str = "released"
    tau: float = 0.5
    every: int | None = None
    faithful: bool = False

    def __post_init__(self) -> None:
        if self.probe not in PROBES:
            raise LopsError(f"probe is {self.probe!r}; wanted one of {', '.join(PROBES)}")
        if self.rule not in RULES:
            raise LopsError(f"rule is {self.rule!r}; wanted one of {', '.join(RULES)}")
        if not 0 < self.tau <= 1:
            raise LopsError(f"tau is {self.tau}; wanted a fraction above 0 and at most 1")
        if not 0 <= self.validation < 1:
            raise LopsError(f"validation is {self.validation}; wanted a fraction, 0 <= validation < 1")
        whole = "layers max_pieces min_occurrences max_occurrences restarts iterations vector_size vector_epochs vector_words epochs"
        whole += " batch_size max_sentences max_words patience probe_epochs"
        for name in whole.split():
            if getattr(self, name) < 1:
                raise LopsError(f"{name} is {getattr(self, name)}; wanted at least 1")
        for name in ("every", "max_updates"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise LopsError(f"{name} is {value}; wanted a number of updates, at least 1")

    def as_dict(self) -> dict[str, Any]:
        """Return the settings in JSON's own types."""
        return asdict(self)

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> ConweaSettings:
        """Return a preset with single settings overridden; an override of None leaves the preset's value.

        >>> ConweaSettings.preset("paper", tau=0.9, encoder=None).encoder
        'bert-base-uncased'
        """
        if name not in PRESETS:
            raise LopsError(f"preset is {name!r}; wanted one of {', '.join(PRESETS)}")
        unknown = set(overrides) - {field.name for field in fields(cls)}
        if unknown:
            raise LopsError(f"unknown settings: {', '.join(sorted(unknown))}")
        settings = replace(PRESETS[name], **{key: value for key, value in overrides.items() if value is not None})
        return replace(settings, combine="concat", vector_words=1) if settings.faithful else settings


# quick: what a laptop's CPU does in minutes. paper: the published sizes; the number of probing epochs of ConWea's HAN is not published, so
# the probe may run as long as the classifier, which the rule usually makes unnecessary.
PRESETS = {
    "quick": ConweaSettings(),
    "paper": ConweaSettings(
        encoder="bert-base-uncased",
        max_pieces=512,
        restarts=10,
        epochs=100,
        max_updates=None,
        batch_size=256,
        max_sentences=15,
        max_words=100,
        probe_epochs=100,
    ),
}
