"""X-Class's final classifier, a fine-tuned encoder, and its probes."""

from __future__ import annotations

from typing import Any

from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass.settings import XclassSettings

# Encoder of the vectors -> encoder of the classifier, as in the original.
_PAIRED = {"bert-base-uncased": "bert-base-cased"}
FAST = ("linear", "embedding", "hybrid")  # no encoder is trained
_EPOCHS, _FAST_EPOCHS = 3, 20


def build_classifier(
    settings: XclassSettings, device: str, *, epochs: int | None = None, quiet: bool = True
) -> Probe:
    """Return the untrained classifier; ``epochs`` replaces the settings' number of epochs."""
    common: dict[str, Any] = {"batch_size": settings.batch_size, "quiet": quiet}
    if settings.learning_rate is not None:
        common["learning_rate"] = settings.learning_rate
    encoded: dict[str, Any] = {"max_tokens": settings.max_tokens, "device": device}
    if settings.classifier in FAST:
        more = {} if settings.classifier == "linear" else {"encoder": settings.encoder, **encoded}
        return probe_class(settings.classifier)(
            **{"epochs": epochs or settings.epochs or _FAST_EPOCHS, **common, **more}
        )
    return TransformerProbe(
        encoder=settings.classifier or _PAIRED.get(settings.encoder, settings.encoder),
        epochs=epochs or settings.epochs or _EPOCHS,
        **common,
        **encoded,
    )


def build_probe(settings: XclassSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the probe of the settings: an untrained classifier, or the linear probe."""
    if settings.probe != "same":
        return probe_class(settings.probe)(quiet=quiet)
    return build_classifier(settings, device, epochs=settings.probe_epochs, quiet=quiet)
