"""WeSTClass's two networks, on word vectors trained on the corpus, and its probes."""

from typing import Any

from lops_adapters.encoders.words import WordVectors
from lops_adapters.probes import Probe
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.runs.classifiers import build_classifier
from lops_adapters.westclass.settings import WestclassSettings, filled

Network = KerasProbe | HanProbe
PRETRAINING_RATE = 0.1


def build_network(
    vectors: WordVectors | None, settings: WestclassSettings, device: str, *, quiet: bool = True
) -> Network:
    """Return the untrained network: a Keras CNN or the PyTorch HAN.

    It trains on soft labels by SGD with momentum 0.9, in random batches, as in the original. The
    settings are filled in by :meth:`WestclassSettings.for_length`.
    """
    usual: dict[str, Any] = {
        "vectors": vectors,
        "epochs": filled(settings.pretrain_epochs),
        "batch_size": settings.batch_size,
        "learning_rate": PRETRAINING_RATE,
        "smoothing": settings.alpha,
        "max_words": filled(settings.max_words),
        "pool": 1,
        "device": device,
        "quiet": quiet,
    }
    if settings.network == "cnn":
        return KerasProbe(**usual)
    return HanProbe(optimizer="sgd", max_sentences=filled(settings.max_sentences), **usual)


def build_probe(
    vectors: WordVectors | None, settings: WestclassSettings, device: str, *, quiet: bool = True
) -> Probe:
    """Return the probe of the settings."""
    if settings.probe != "same":
        return build_classifier(settings, device, probing=True, quiet=quiet)
    return build_network(vectors, settings, device, quiet=quiet)
