"""The Keras probe with given models that it refuses: at once, or before training."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.probes.keras_tools import import_keras

from .given_models import SMALL, X, Y, build

keras = import_keras()
losses = keras.losses


class Unclonable(keras.layers.Layer):
    def __init__(self, secret):
        super().__init__()

    def call(self, inputs):
        return inputs


class OwnCompile(keras.Sequential):
    def compile(self, **settings):
        super().compile(**settings)


def own_compile():
    model = OwnCompile([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
    model.compile(optimizer="sgd", loss="kl_divergence")
    return model


def local_loss():
    def loss(targets, outputs):
        return keras.ops.mean(outputs)

    return loss


def two_outputs():
    inputs = keras.Input((4,))
    model = keras.Model(inputs, [keras.layers.Dense(3, name=name)(inputs) for name in "ab"])
    model.compile(optimizer="sgd", loss=["mse", "mse"])
    return model


def uncompiled(k=3):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(k)])


AT_ONCE = {
    "no model": ({"model": 7}, "model is 7; wanted a compiled Keras model, or a function"),
    "uncompiled": ({"model": uncompiled()}, r"is not compiled with a loss; call its compile\("),
    "two outputs": ({"model": two_outputs()}, "has 2 losses; wanted one output"),
    "smoothing": (
        {"model": build(), "smoothing": 0.1},
        "smoothing is 0.1, .* takes class codes; wanted smoothing=0",
    ),
    "smoothing of 1": ({"smoothing": 1.0}, "0 <= smoothing < 1"),
    "momentum": ({"momentum": 1.0}, "0 <= momentum < 1"),
    "max_words": ({"max_words": 0}, "max_words of at least 1"),
    "pool": ({"pool": 0}, "epochs, batch_size, pool and max_words of at least 1"),
    "precision": (
        {"precision": "float16"},
        "precision is 'float16'; wanted auto, bfloat16 or float32",
    ),
    "encode": ({"encode": np.asarray}, "found `encode` without `model`"),
    "device": ({"device": "abacus"}, "device 'abacus' cannot be used"),
}


@pytest.mark.parametrize("case", AT_ONCE)
def test_refused_at_once(case):
    settings, message = AT_ONCE[case]
    with pytest.raises(LopsError, match=message):
        KerasProbe(**{"device": "cpu", **settings})


SAME = build()
IN_TRAINING = {
    "copy": (build(extra=Unclonable(3)), {}, 3, "Keras cannot copy the model .*; give a function"),
    "compile": (own_compile(), {}, 3, "without what its class OwnCompile adds; give a function"),
    "loss": (build(loss=local_loss()), {}, 3, "Keras cannot copy the model .*; give a function"),
    "outputs": (
        build(),
        {},
        4,
        r"gives outputs of shape \(1, 3\) for one sample; wanted \(1, 4\), .* give a function",
    ),
    "one unit": (
        build(units=1, loss="mse", activation="sigmoid"),
        {},
        3,
        r"outputs of shape \(1, 1\)",
    ),
    "scores": (
        build(loss="mse", activation=None),
        {},
        3,
        "outputs are no probabilities .* wanted a softmax",
    ),
    "schedule": (
        build(
            optimizer=keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.1))
        ),
        {},
        3,
        "has a schedule",
    ),
    "function: None": (lambda k: None, {}, 3, "model is None; wanted a compiled Keras model"),
    "function: uncompiled": (uncompiled, {}, 3, "is not compiled"),
    "function: smoothing": (build, {"smoothing": 0.1}, 3, "takes class codes"),
    "inputs": (
        build(),
        {"encode": lambda samples: np.zeros((len(samples), 9))},
        3,
        "does not take an encoded sample .* wanted an `encode`",
    ),
    "rows": (
        build(),
        {"encode": lambda samples: np.zeros((5, 4))},
        3,
        r"found 96 samples encoded as arrays of shapes \[\(5, 4\)\]",
    ),
    "ragged": (
        build(),
        {"encode": lambda samples: [[1]] * 95 + [[1, 2]]},
        3,
        "are no arrays .* pads them to one length",
    ),
    "nothing": (
        build(),
        {"encode": lambda samples: {}},
        3,
        r"shapes \[\]; wanted one row per sample in each",
    ),
}


@pytest.mark.parametrize("case", IN_TRAINING)
def test_refused_before_training(case, tmp_path):
    model, settings, k, message = IN_TRAINING[case]
    probe = KerasProbe(model, **{**SMALL, **settings})
    with pytest.raises(LopsError, match=message):
        next(probe.watch(X, Y, k, every=1))
    with pytest.raises(LopsError, match="untrained"):
        probe.save(tmp_path)


def test_a_function_that_returns_the_same_model():
    probe = KerasProbe(lambda k: SAME, **SMALL).fit(X, Y, 3)
    with pytest.raises(LopsError, match="returned the model it returned before"):
        probe.fit(X, Y, 3)


def test_models_keras_cannot_copy_come_from_functions():
    """A custom layer, model or loss, or no batch seen yet: a function works for all."""

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3, activation="softmax")

        def call(self, inputs):
            return self.dense(inputs)

    def own_loss(targets, outputs):
        return losses.categorical_crossentropy(targets, outputs)

    def make(n_classes):
        model = Own()
        model.compile(optimizer="adam", loss=own_loss)
        return model

    probe = KerasProbe(make, **SMALL)
    first = probe.fit(X, Y, 3).predict_proba(X)
    # Weights made at the first batch follow the seed too.
    np.testing.assert_array_equal(probe.fit(X, Y, 3).predict_proba(X), first)
    assert (first.argmax(axis=1) == Y).mean() > 0.8
