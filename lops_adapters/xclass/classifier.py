"""X-Class's final classifier, a fine-tuned encoder, and its probes."""

from lops_adapters.probes import FAST, Probe, text_probe
from lops_adapters.xclass.settings import XclassSettings

# Encoder of the vectors -> encoder of the classifier, as in the original.
_PAIRED = {"bert-base-uncased": "bert-base-cased"}
_EPOCHS, _FAST_EPOCHS = 3, 20


def build_classifier(
    settings: XclassSettings, device: str, *, epochs: int | None = None, quiet: bool = True
) -> Probe:
    """Return the untrained classifier; ``epochs`` replaces the settings' number of epochs."""
    kind, encoder, usual = settings.classifier, settings.encoder, _FAST_EPOCHS
    if kind not in FAST:
        encoder, kind = kind or _PAIRED.get(encoder, encoder), "transformer"
        usual = _EPOCHS
    return text_probe(
        kind,
        encoder=encoder,
        max_tokens=settings.max_tokens,
        device=device,
        quiet=quiet,
        epochs=epochs or settings.epochs or usual,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
    )


def build_probe(settings: XclassSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the probe of the settings: an untrained classifier, or the linear probe."""
    if settings.probe != "same":
        return settings.named_probe(settings.max_tokens, device, quiet=quiet)
    return build_classifier(settings, device, epochs=settings.probe_epochs, quiet=quiet)
