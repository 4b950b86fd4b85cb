"""The text CNN (Kim, EMNLP 2014) as WeSTClass configures it, in Keras 3.

Unlike WeSTClass's, it masks padding.
"""

from typing import Any

import numpy as np

from lops_adapters.probes.keras_tools import import_keras

keras: Any = import_keras()
WIDTHS = (2, 3, 4, 5)


@keras.saving.register_keras_serializable(package="lops_adapters")
class WordEmbedding(keras.layers.Embedding):
    """Word vectors (rows, time, width) of word ids (rows, time).

    Id 0 is padding; its vector is zeros and is not trained.
    """

    def call(self, inputs: Any) -> Any:
        """Look up the ids."""
        known = keras.ops.expand_dims(keras.ops.not_equal(inputs, 0), -1)
        return super().call(inputs) * keras.ops.cast(known, self.compute_dtype)


@keras.saving.register_keras_serializable(package="lops_adapters")
class MaximumOverTime(keras.layers.Layer):
    """Maximum (rows, filters) of a filter's states (rows, time, filters) inside the document.

    Only windows, of ``width`` words, wholly inside the document count; a shorter document keeps the
    first window. The original includes padding in the maximum.
    """

    def __init__(self, width: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.width = width

    def call(self, states: Any, ids: Any) -> Any:
        """Pool the states of word ids (rows, time + width - 1); id 0 is padding."""
        ops = keras.ops
        known = ops.cast(ops.not_equal(ids, 0), "int32")
        lengths = ops.sum(known, axis=1, keepdims=True)
        starts = ops.expand_dims(ops.arange(ops.shape(states)[1], dtype="int32"), 0)
        inside = ops.logical_or(starts + self.width <= lengths, starts == 0)
        nothing = ops.cast(float("-inf"), states.dtype)
        return ops.max(ops.where(ops.expand_dims(inside, -1), states, nothing), axis=1)

    def get_config(self) -> dict[str, Any]:
        """Return the settings that rebuild the layer."""
        return {**super().get_config(), "width": self.width}


def text_cnn(
    table: np.ndarray,
    n_classes: int,
    *,
    frozen: bool,
    learning_rate: float = 0.1,
    momentum: float = 0.9,
    bfloat16: bool = False,
) -> Any:
    """Build and compile the CNN over words: SGD with momentum on KL divergence.

    Four filter widths of 20 filters each, ReLU, maximum over time, a dense layer of 20 units,
    softmax. With vectors of width 100 it has 29,700 + 21 k parameters besides the word vectors.
    Source: Meng, Shen, Zhang and Han, CIKM 2018 (WeSTClass), its released code.

    The table is (words + 1, width) float32; row 0 is padding. Weights and the softmax stay float32
    with ``bfloat16``. The model goes from (rows, time) int32 word ids, padded by zeros at the end
    to at least 5, to (rows, k) float32 probabilities.
    """
    layers = keras.layers
    dtype = "mixed_bfloat16" if bfloat16 else "float32"
    ids = keras.Input((None,), dtype="int32", name="ids")
    embedding = WordEmbedding(
        *table.shape,
        embeddings_initializer="zeros",
        trainable=not frozen,
        dtype=dtype,
        name="words",
    )
    vectors = embedding(ids)
    embedding.set_weights([table])
    pooled = []
    for width in WIDTHS:
        kernel = keras.initializers.RandomUniform(-0.01, 0.01)
        states = layers.Conv1D(
            20,
            width,
            activation="relu",
            kernel_initializer=kernel,
            dtype=dtype,
            name=f"filters_{width}",
        )(vectors)
        pooled.append(MaximumOverTime(width, dtype=dtype, name=f"maximum_{width}")(states, ids))
    hidden = layers.Concatenate(dtype=dtype, name="filters")(pooled)
    hidden = layers.Dense(20, activation="relu", dtype=dtype, name="hidden")(hidden)
    classes = layers.Dense(n_classes, activation="softmax", dtype="float32", name="classes")(hidden)
    model = keras.Model(ids, classes, name="text_cnn")
    optimizer = keras.optimizers.SGD(learning_rate, momentum=momentum, name="sgd")
    model.compile(optimizer=optimizer, loss=keras.losses.KLDivergence())
    return model
