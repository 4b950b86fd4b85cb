import numpy as np
import pytest

from lops_adapters.core import LearningOrder, LopsError
from lops_adapters.integrations.keras import LopsCallback
from lops_adapters.probes.keras_tools import import_keras

keras = import_keras()

N = 96


def points(k=3):
    """Rows of 4 numbers, and which of the first k is largest, a few of them wrong."""
    rows = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
    codes = rows[:, :k].argmax(axis=1)
    codes[::8] = (codes[::8] + 1) % k
    return rows, codes


X, Y = points()


def build(units=3, activation="softmax", loss="sparse_categorical_crossentropy", rate=0.05):
    keras.utils.set_random_seed(1)
    layers = [
        keras.Input((4,)),
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dropout(0.3),
    ]
    model = keras.Sequential([*layers, keras.layers.Dense(units, activation=activation)])
    model.compile(keras.optimizers.Adam(rate), loss=loss, metrics=["accuracy"])
    return model


def fit(model, callback=None, x=X, y=Y, **settings):
    keras.utils.set_random_seed(2)
    return model.fit(
        x,
        y,
        **{
            "epochs": 3,
            "batch_size": 16,
            "verbose": 0,
            "callbacks": callback and [callback],
            **settings,
        },
    )


def watched(x=X, y=Y, **settings):
    callback = LopsCallback(x, y, **settings)
    fit(build(), callback)
    return callback.record


@pytest.fixture(scope="module")
def usual():
    model, callback = build(), LopsCallback(X, Y)
    fit(model, callback)
    return model, callback.record


def test_records_by_position_what_the_model_says_after_every_epoch(usual):
    model, record = usual
    said = model.predict(X, verbose=0)
    assert record.times == [1.0, 2.0, 3.0]
    assert record.codes.tolist() == Y.tolist()
    np.testing.assert_array_equal(record.predictions()[-1], said.argmax(axis=1))
    np.testing.assert_allclose(record.probabilities()[-1], said[np.arange(N), Y], atol=1e-6)


@pytest.mark.parametrize("every", [None, 2])
def test_the_training_goes_on_as_if_nobody_looked(every):
    """With dropout and shuffled batches: any number drawn in between would change the weights."""
    alone, looked_at = build(), build()
    history = fit(alone, validation_split=0.25)
    callback = LopsCallback(X, Y, every=every)
    other = fit(looked_at, callback, validation_split=0.25)
    for one, two in zip(alone.get_weights(), looked_at.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert history.history == other.history
    assert len(callback.record.times) == (
        3 if every is None else 7
    )  # 5 batches of the 72 samples trained on


def test_a_torch_module_inside_goes_on_training():
    torch = pytest.importorskip("torch", reason="only PyTorch has modules with a mode of their own")
    if keras.backend.backend() != "torch":
        pytest.skip("only Keras on PyTorch takes its modules")
    modes = []

    class Ear(torch.nn.Module):
        def forward(self, x):
            modes.append(self.training)
            return x

    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.TorchModuleWrapper(Ear()),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile("sgd", "sparse_categorical_crossentropy")
    modes.clear()
    fit(model, LopsCallback(X, Y, every=2, batch_size=N), epochs=1)
    assert modes[-9:] == [True, True, False] * 3  # before, Keras builds the model


def test_looks_after_every_so_many_batches():
    record = watched(every=4)
    assert record.times == pytest.approx([4 / 6, 8 / 6, 12 / 6, 16 / 6])
    assert record.horizon == 3.0


def test_counts_batches_that_are_executed_together():
    """With steps_per_execution of 3, which Keras on PyTorch does not know, only every third batch
    is told.
    """
    callback = LopsCallback(X, Y, every=2)
    callback.set_params({"epochs": 2, "steps": 6})
    callback.set_model(build())
    for epoch in range(2):
        callback.on_epoch_begin(epoch)
        for batch in (2, 5):
            callback.on_train_batch_end(batch)
        callback.on_epoch_end(epoch)
    assert callback.record.times == [0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    "labels",
    [Y[:, None], np.eye(3)[Y], Y.tolist(), Y.astype(np.float32)],
    ids=["column", "one-hot", "list", "float"],
)
def test_labels_of_any_shape(usual, labels):
    np.testing.assert_array_equal(watched(y=labels).predictions(), usual[1].predictions())
    assert LopsCallback(X, labels).codes.tolist() == Y.tolist()


def test_logits():
    model = build(
        activation=None, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    callback = LopsCallback(X, Y, from_logits=True)
    fit(model, callback)
    scores = np.exp(model.predict(X, verbose=0).astype(np.float64))
    said = scores / scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        callback.record.probabilities()[-1], said[np.arange(N), Y], atol=1e-5
    )


@pytest.mark.parametrize("from_logits", [False, True])
def test_one_output_for_two_classes(from_logits):
    _, codes = points(2)
    loss = keras.losses.BinaryCrossentropy(from_logits=from_logits)
    model = build(1, None if from_logits else "sigmoid", loss)
    callback = LopsCallback(X, codes, from_logits=from_logits)
    fit(model, callback, y=codes[:, None].astype(np.float32))
    output = model.predict(X, verbose=0)[:, 0]
    of_one = 1 / (1 + np.exp(-output)) if from_logits else output
    np.testing.assert_allclose(
        callback.record.probabilities()[-1], np.where(codes == 1, of_one, 1 - of_one), atol=1e-5
    )
    assert callback.record.classes == [0, 1]


@pytest.mark.parametrize("kind", [dict, list])
def test_inputs_of_several_arrays(kind):
    left, right = keras.Input((2,), name="left"), keras.Input((2,), name="right")
    hidden = keras.layers.Concatenate()([left, right])
    outputs = keras.layers.Dense(3, activation="softmax")(hidden)
    x = {"left": X[:, :2], "right": X[:, 2:]} if kind is dict else [X[:, :2], X[:, 2:]]
    model = keras.Model({"left": left, "right": right} if kind is dict else [left, right], outputs)
    model.compile(keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy")
    callback = LopsCallback(x, Y, skip_decided=True, keep=0.9, method="ranked")
    fit(model, callback, x=x)
    record = callback.record
    seen = np.flatnonzero(record.seen[-1])
    assert 0 < len(seen) < N
    said = model.predict(x, verbose=0)
    np.testing.assert_allclose(record.probabilities()[-1][seen], said[seen, Y[seen]], atol=1e-6)


def test_stops_when_nothing_can_change(usual):
    record = usual[1]
    callback = LopsCallback(X, Y, keep=0.3, stop_when_done=True)
    history = fit(build(), callback)
    order = LearningOrder(Y, tau=0.3, max_checkpoints=3)
    while not order.done:
        order.observe(record.predictions()[len(order.times)])
    assert len(history.epoch) == len(order.times) < 3
    assert callback.record.select(keep=0.3).kept.tolist() == order.select().kept.tolist()


def test_a_continued_training_goes_on_with_the_record(usual):
    model, callback = build(), LopsCallback(X, Y)
    fit(model, callback, epochs=1)
    fit(model, callback, epochs=3, initial_epoch=1)
    assert callback.record.times == [1.0, 2.0, 3.0]
    assert callback.record.horizon == 3.0
    fit(model, callback, epochs=1)
    assert callback.record.times == [1.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": Y[:5]}, "x holds 96 rows and there are 5 labels"),
        ({"labels": np.full((N, 3), 1 / 3)}, "not one-hot"),
        ({"labels": np.ones((N, 3))}, "not one-hot"),
        ({"x": iter([])}, "x is or holds a list_iterator; wanted an array"),
        ({"x": {"a": X, "b": X[:5]}}, "x holds 5 rows"),
    ],
)
def test_bad_arguments_are_refused_before_training(arguments, message):
    with pytest.raises(LopsError, match=message):
        LopsCallback(**{"x": X, "labels": Y, **arguments})


def test_outputs_that_are_no_probabilities_are_refused():
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with pytest.raises(LopsError, match=r"not probabilities: .* or from_logits=True"):
        fit(build(activation=None, loss=loss), LopsCallback(X, Y))


def test_a_model_of_fewer_classes_is_refused():
    with pytest.raises(
        LopsError, match=r"output is of shape \(96, 1\); wanted .* of at least 3 classes"
    ):
        fit(build(1, "sigmoid", "mse"), LopsCallback(X, Y))


def test_every_needs_to_know_the_batches_of_an_epoch():
    callback = LopsCallback(X, Y, every=2)
    callback.set_params({"epochs": 1, "steps": None})
    with pytest.raises(LopsError, match="does not know how many batches"):
        callback.on_train_begin()
