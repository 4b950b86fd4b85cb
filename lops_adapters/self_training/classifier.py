"""The text classifiers of self-training and their probes."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.probes import FAST, Probe, fast_probe, probe_class
from lops_adapters.self_training.settings import SelfTrainingSettings

# After the linear probe's four epochs predictions are right but rarely above delta, so that
# nothing is bootstrapped.
_LINEAR_EPOCHS = 20


def build_classifier(settings: SelfTrainingSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the untrained classifier."""
    return _build(settings, device, _LINEAR_EPOCHS, quiet)


def build_probe(settings: SelfTrainingSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the probe of the settings: an untrained classifier, or the default linear probe."""
    if settings.probe == "linear":
        return probe_class("linear")(quiet=quiet)
    return _build(settings, device, None, quiet)


def _build(
    settings: SelfTrainingSettings, device: str, linear_epochs: int | None, quiet: bool
) -> Probe:
    if settings.classifier in FAST:
        return fast_probe(
            settings.classifier,
            encoder=settings.encoder,
            max_tokens=settings.max_tokens,
            device=device,
            quiet=quiet,
            epochs=settings.epochs or linear_epochs,
            batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
        )
    known = (*FAST, "minilm")
    near = get_close_matches(settings.classifier, known, n=1, cutoff=0.75)
    if near and near[0] != settings.classifier and not Path(settings.classifier).exists():
        raise LopsError(
            f"classifier is {settings.classifier!r}; did you mean {near[0]!r}? Wanted "
            f"{', '.join(known)}, or the folder or hub name of an encoder"
        )
    extras.require(f"The classifier {settings.classifier}", ("torch", "transformers"))
    from lops_adapters.probes.transformer import TransformerProbe

    return TransformerProbe(
        encoder=settings.classifier,
        max_tokens=settings.max_tokens,
        device=device,
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        quiet=quiet,
    )
