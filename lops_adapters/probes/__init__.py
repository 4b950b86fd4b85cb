"""Probes: classifiers whose training can be watched, checkpoint by checkpoint."""

from importlib import import_module
from typing import Any

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.encoders.pretrained import libraries
from lops_adapters.probes.base import Probe, Snapshot

__all__ = ["FAST", "FROZEN", "PROBES", "Probe", "Snapshot", "probe_class", "text_probe"]

# A new probe is a module, a row here and a row in the conformance suite. Modules are imported only
# when needed, since torch takes seconds.
PROBES = {
    "linear": "lops_adapters.probes.linear:LinearProbe",
    "embedding": "lops_adapters.probes.embedding:EmbeddingProbe",
    "hybrid": "lops_adapters.probes.hybrid:HybridProbe",
    "transformer": "lops_adapters.probes.transformer:TransformerProbe",
    "han": "lops_adapters.probes.han:HanProbe",
    "keras": "lops_adapters.probes.keras_probe:KerasProbe",
}

FROZEN = ("embedding", "hybrid")  # read texts through a frozen encoder
FAST = ("linear", *FROZEN)  # read texts, and train in seconds: no encoder is trained


def probe_class(kind: str) -> type[Probe]:
    """Return the class of a kind of probe.

    >>> probe_class("linear").kind
    'linear'
    """
    if kind not in PROBES:
        raise LopsError(f"probe is {kind!r}; wanted one of {', '.join(PROBES)}")
    module, name = PROBES[kind].split(":")
    chosen: type[Probe] = getattr(import_module(module), name)
    return chosen


def text_probe(
    kind: str, *, encoder: str, max_tokens: int, device: str, quiet: bool = True, **recipe: Any
) -> Probe:
    """Return one of :data:`FAST` or a transformer, untrained; all read texts.

    Args:
        kind: its name.
        encoder, max_tokens, device: of the frozen or trained encoder; ``linear`` has none.
        quiet: no progress bar.
        recipe: ``epochs``, ``batch_size``, ``learning_rate``; None and missing: the probe's own.

    Raises:
        LopsError: torch or transformers is needed and not installed.

    >>> text_probe("linear", encoder="minilm", max_tokens=128, device="cpu", epochs=20).max_epochs
    20
    """
    settings = {name: value for name, value in recipe.items() if value is not None}
    if kind != "linear":
        extras.require(f"The classifier {kind}", libraries(encoder))
        settings |= {"encoder": encoder, "max_tokens": max_tokens, "device": device}
    return probe_class(kind)(**settings, quiet=quiet)
