"""The text classifiers of self-training, and the probe a selector may watch."""

from __future__ import annotations

from lops_adapters import extras
from lops_adapters.probes import Probe, probe_class
from lops_adapters.self_training.settings import SelfTrainingSettings

# The linear probe's four epochs are for watching: after them it is right, but hardly ever surer
# than delta, and nothing is bootstrapped.
_LINEAR_EPOCHS = 20


def build_classifier(settings: SelfTrainingSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the classifier, untrained."""
    return _build(settings, device, _LINEAR_EPOCHS, quiet)


def build_probe(settings: SelfTrainingSettings, device: str, *, quiet: bool = True) -> Probe:
    """Return the probe that the settings ask for: a classifier of the same kind, or the linear
    probe as it is.
    """
    return (
        probe_class("linear")(quiet=quiet)
        if settings.probe == "linear"
        else _build(settings, device, None, quiet)
    )


def _build(
    settings: SelfTrainingSettings, device: str, linear_epochs: int | None, quiet: bool
) -> Probe:
    chosen = {name: getattr(settings, name) for name in ("epochs", "batch_size", "learning_rate")}
    own = {name: value for name, value in chosen.items() if value is not None}
    if settings.classifier == "linear":
        if linear_epochs is not None:
            own = {"epochs": linear_epochs, **own}
        return probe_class("linear")(**own, quiet=quiet)
    extras.require(f"The classifier {settings.classifier}", ("torch", "transformers"))
    from lops_adapters.probes.transformer import TransformerProbe

    return TransformerProbe(
        encoder=settings.classifier,
        max_tokens=settings.max_tokens,
        device=device,
        quiet=quiet,
        **own,
    )
