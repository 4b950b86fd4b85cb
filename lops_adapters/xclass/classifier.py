"""X-Class's final classifier, a fine-tuned encoder, and its probes."""

from __future__ import annotations

from typing import Any

from lops_adapters.probes import FAST, Probe, fast_probe, probe_class
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass.settings import XclassSettings

# Encoder of the vectors -> encoder of the classifier, as in the original.
_PAIRED = {"bert-base-uncased": "bert-base-cased"}
_EPOCHS, _FAST_EPOCHS = 3, 20


def build_classifier(
    settings: XclassSettings, device: str, *, epochs: int | None = None, quiet: bool = True
) -> Probe:
    """Return the untrained classifier; ``epochs`` replaces the settings' number of epochs."""
    common: dict[str, Any] = {
        "batch_size": settings.batch_size,
        "learning_rate": settings.learning_rate,
        "max_tokens": settings.max_tokens,
        "device": device,
        "quiet": quiet,
    }
    wanted = epochs or settings.epochs
    if settings.classifier in FAST:
        return fast_probe(
            settings.classifier, encoder=settings.encoder, epochs=wanted or _FAST_EPOCHS, **common
        )
    return TransformerProbe(
        encoder=settings.classifier or _PAIRED.get(settings.encoder, settings.encoder),
        epochs=wanted or _EPOCHS,
        **common,
    )


def build_probe(settings: XclassSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the probe of the settings: an untrained classifier, or the linear probe."""
    if settings.probe != "same":
        return probe_class(settings.probe)(quiet=quiet)
    return build_classifier(settings, device, epochs=settings.probe_epochs, quiet=quiet)
