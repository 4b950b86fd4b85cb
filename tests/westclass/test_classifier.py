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


@pytest.mark.parametrize(("length", "max_words", "epochs"), [("short", 100, 20), ("long", 500, 30)])
def test_the_cnn(length, max_words, epochs):
    network = build_network(VECTORS, published("cnn", length), "cpu", quiet=False)
    wanted = {
        "epochs": epochs,
        "batch_size": 32,
        "learning_rate": 0.1,
        "momentum": 0.9,
        "smoothing": 0.3,
        "max_words": max_words,
        "pool": 1,
    }
    assert network == KerasProbe(vectors=VECTORS, device="cpu", **wanted)
    assert not network.quiet


@pytest.mark.parametrize(
    ("length", "sentences", "max_words", "epochs"), [("short", 10, 45, 100), ("long", 40, 30, 200)]
)
def test_the_hierarchical_network(length, sentences, max_words, epochs):
    network = build_network(VECTORS, published("han", length), "cpu", quiet=False)
    wanted = {
        "epochs": epochs,
        "batch_size": 32,
        "learning_rate": 0.1,
        "optimizer": "sgd",
        "smoothing": 0.3,
        "validation": 0.0,
        "pool": 1,
    }
    assert network == HanProbe(
        vectors=VECTORS, device="cpu", max_sentences=sentences, max_words=max_words, **wanted
    )
    assert not network.quiet


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
