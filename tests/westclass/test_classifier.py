import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders.word_vectors import WordVectors
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.westclass.classifier import build_network, build_probe
from lops_adapters.westclass.settings import WestclassSettings

VECTORS = WordVectors(("a", "b"), np.eye(2, 4, dtype=np.float32))


def published(network, length, **more):
    return WestclassSettings(
        network=network, length=length, batch_size=32, alpha=0.3, **more
    ).for_length(1)


@pytest.mark.parametrize(
    ("network", "length", "sizes"),
    [
        ("cnn", "short", {"max_words": 100, "epochs": 20}),
        ("cnn", "long", {"max_words": 500, "epochs": 30}),
        ("han", "short", {"max_sentences": 10, "max_words": 45, "epochs": 100}),
        ("han", "long", {"max_sentences": 40, "max_words": 30, "epochs": 200}),
    ],
)
def test_the_networks(network, length, sizes):
    found = build_network(VECTORS, published(network, length), "cpu", quiet=False)
    usual = {"vectors": VECTORS, "device": "cpu", "batch_size": 32, "learning_rate": 0.1}
    usual |= {"smoothing": 0.3, "pool": 1, **sizes}
    if network == "cnn":
        assert found == KerasProbe(momentum=0.9, **usual)
    else:
        assert found == HanProbe(optimizer="sgd", validation=0.0, **usual)
    assert not found.quiet


def test_settings_that_are_still_open():
    with pytest.raises(LopsError, match="open sizes; call for_length"):
        build_network(VECTORS, WestclassSettings(), "cpu")


@pytest.mark.parametrize("network", ["cnn", "han"])
def test_the_probe_is_the_network_or_another(network, bert):
    settings = published(network, "short")
    assert build_probe(VECTORS, settings, "cpu") == build_network(VECTORS, settings, "cpu")
    assert build_probe(VECTORS, published(network, "short", probe="linear"), "cpu") == LinearProbe()
    probe = build_probe(
        VECTORS, published(network, "short", probe="transformer", encoder=bert), "cpu", quiet=False
    )
    assert isinstance(probe, TransformerProbe)
    assert (probe.encoder, probe.max_tokens, probe.device, probe.quiet) == (bert, 128, "cpu", False)
