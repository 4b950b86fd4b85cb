"""Small points and compiled Keras models for the tests of given models."""

import numpy as np

from lops_adapters.probes.keras_tools import import_keras

keras = import_keras()
SMALL = {"epochs": 6, "batch_size": 16, "learning_rate": 0.05, "device": "cpu"}


def points(n, seed=0, k=3):
    """n rows of 4 numbers, and which of the first k numbers is largest."""
    rows = np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32)
    return rows, rows[:, :k].argmax(axis=1)


X, Y = points(96)


def build(
    k=3,
    loss="sparse_categorical_crossentropy",
    activation="softmax",
    units=None,
    optimizer="adam",
    extra=None,
    metrics=None,
    seed=7,
):
    """A compiled model, the same every time unless `seed` is None."""
    kernels = [keras.initializers.GlorotUniform(seed=seed and seed + number) for number in range(2)]
    layers = [
        keras.Input((4,)),
        keras.layers.Dense(16, activation="relu", kernel_initializer=kernels[0]),
        *([extra] if extra else []),
    ]
    model = keras.Sequential(
        [
            *layers,
            keras.layers.Dense(units or k, activation=activation, kernel_initializer=kernels[1]),
        ]
    )
    model.compile(optimizer=optimizer, loss=loss, metrics=metrics)
    return model


def fast(**settings):
    """A function for `model`, whose models learn the points in a few epochs."""
    return lambda n_classes: build(n_classes, seed=None, **settings)
