"""The text classifiers of self-training and their probes."""

from difflib import get_close_matches
from pathlib import Path

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.probes import FAST, Probe, probe_class, text_probe
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
    name, is_fast = settings.classifier, settings.classifier in FAST
    known = (*FAST, "minilm")
    near = get_close_matches(name, known, n=1, cutoff=0.75)
    if not is_fast and near and near[0] != name and not Path(name).exists():
        raise LopsError(
            f"{typed('classifier')} is {name!r}; did you mean {near[0]!r}? Wanted "
            f"{', '.join(known)}, or the folder or hub name of an encoder"
        )
    return text_probe(
        name if is_fast else "transformer",
        encoder=settings.encoder if is_fast else name,
        max_tokens=settings.max_tokens,
        device=device,
        quiet=quiet,
        epochs=settings.epochs or (linear_epochs if is_fast else None),
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
    )
