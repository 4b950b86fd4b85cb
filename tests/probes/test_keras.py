"""The Keras probe with given models: losses, copies, randomness, saving."""

import random
import zipfile

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.keras_models import Head
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.probes.keras_tools import import_keras
from lops_adapters.selection import Lops

from .given_models import SMALL, X, Y, build, fast, points

keras = import_keras()
losses = keras.losses


@keras.saving.register_keras_serializable(package="tests")
class Noise(keras.layers.Layer):
    """Adds noise in training from every generator there is, none of them seeded."""

    def call(self, inputs, training=False):
        if not training:
            return inputs
        import torch

        noise = (
            keras.random.normal((4,)).sum()
            + torch.rand(1).sum()
            + random.random()
            + float(np.random.random())
        )
        return inputs * (1 + 0.1 * noise)


KINDS = {
    "sparse": (3, "sparse_categorical_crossentropy", "softmax"),
    "sparse logits": (3, losses.SparseCategoricalCrossentropy(from_logits=True), None),
    "sparse function": (3, losses.sparse_categorical_crossentropy, "softmax"),
    "sparse in a list": (3, ["sparse_categorical_crossentropy"], "softmax"),
    "categorical": (3, "categorical_crossentropy", "softmax"),
    "categorical logits": (3, losses.CategoricalCrossentropy(from_logits=True), None),
    "kl": (3, "kl_divergence", "softmax"),
    "squares": (3, "mean_squared_error", "softmax"),
    "binary": (2, "binary_crossentropy", "sigmoid"),
    "binary logits": (2, losses.BinaryCrossentropy(from_logits=True), None),
    "two classes": (2, "categorical_crossentropy", "softmax"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_learns_with_any_loss(kind):
    k, loss, activation = KINDS[kind]
    rows, codes = points(96, k=k)
    model = build(k, loss, activation, units=1 if kind.startswith("binary") else k)
    *_, last = KerasProbe(model, **SMALL).watch(rows, codes, k)
    assert last.probabilities.shape == (96, k)
    assert last.probabilities.dtype == np.float32
    np.testing.assert_allclose(last.probabilities.sum(axis=1), 1.0, atol=1e-6)
    assert (last.probabilities.argmax(axis=1) == codes).mean() > 0.85


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_of_any_loss(kind):
    """A model that learns nothing predicts what the given one says."""
    k, loss, activation = KINDS[kind]
    binary = kind.startswith("binary")
    model = build(k, loss, activation, units=1 if binary else k)
    probe = KerasProbe(model, epochs=1, batch_size=96, learning_rate=1e-12, device="cpu").fit(
        *points(96, k=k), k
    )
    raw = model.predict_on_batch(X).astype(np.float64)
    if "logits" in kind:
        raw = 1 / (1 + np.exp(-raw)) if binary else softmax(raw)
    expected = np.hstack([1 - raw, raw]) if binary else raw
    np.testing.assert_allclose(probe.predict_proba(X), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("single", "sparse", "smoothing", "expected"),
    [
        (False, True, 0.0, [2, 0]),
        (False, False, 0.0, [[0, 0, 1], [1, 0, 0]]),
        (False, False, 0.3, [[0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]),
    ],
)
def test_targets(single, sparse, smoothing, expected):
    targets = Head(3, single, sparse, logits=False).targets(np.array([2, 0]), smoothing)
    np.testing.assert_allclose(targets, expected, atol=1e-7)
    assert targets.dtype == (np.int32 if sparse else np.float32)


def test_targets_of_one_unit():
    head = Head(2, single=True, sparse=False, logits=False)
    np.testing.assert_allclose(head.targets(np.array([1, 0]), 0.0), [[1.0], [0.0]])
    np.testing.assert_allclose(head.targets(np.array([1, 0]), 0.2), [[0.9], [0.1]])
    assert head.targets(np.array([1, 0]), 0.2).dtype == np.float32


def test_smoothing_reaches_the_loss(monkeypatch):
    seen = []
    model = fast(loss="kl_divergence")
    probe = KerasProbe(model, **{**SMALL, "smoothing": 0.3, "epochs": 1})
    original = keras.Sequential.train_on_batch
    monkeypatch.setattr(
        keras.Sequential,
        "train_on_batch",
        lambda self, x, y: (seen.append(y), original(self, x, y))[1],
    )
    probe.fit(X, Y, 3)
    np.testing.assert_allclose(
        np.sort(np.concatenate(seen)), np.tile([0.1, 0.1, 0.8], (96, 1)), atol=1e-6
    )


@pytest.mark.parametrize("form", ["tuple", "dict"])
def test_several_inputs(form):
    left, right = keras.Input((2,), name="left"), keras.Input((2,), name="right")
    hidden = keras.layers.Dense(16, activation="relu")(keras.layers.Concatenate()([left, right]))
    model = keras.Model(
        {"left": left, "right": right} if form == "dict" else (left, right),
        keras.layers.Dense(3, activation="softmax")(hidden),
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")

    def encode(samples):
        rows = np.asarray(samples)
        return (
            {"left": rows[:, :2], "right": rows[:, 2:]}
            if form == "dict"
            else (rows[:, :2], rows[:, 2:])
        )

    probe = KerasProbe(model, encode, **SMALL).fit(X, Y, 3)
    assert (probe.predict_proba(X).argmax(axis=1) == Y).mean() > 0.7
    np.testing.assert_allclose(
        probe.predict_prepared(probe.prepare(X), np.array([7, 2])),
        probe.predict_proba(X)[[7, 2]],
        atol=1e-6,
    )
    assert probe.predict_proba(X[:0]).shape == (0, 3)


def test_a_given_model_is_never_changed(tmp_path):
    model = build(optimizer=keras.optimizers.SGD(0.5), metrics=["accuracy"])
    model.train_on_batch(X[:8], Y[:8])
    before = [weights.copy() for weights in model.get_weights()]
    probe = KerasProbe(model, **SMALL)
    first = list(probe.watch(X, Y, 3, every=1))
    probe.tuner(learning_rate=0.1, momentum=0.0, decay=0.0)(X, np.arange(8), np.full((8, 3), 1 / 3))
    probe.save(tmp_path)
    for weights, were in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weights, were)
    assert float(model.optimizer.learning_rate.numpy()) == 0.5  # only the copy's is `learning_rate`
    assert int(model.optimizer.iterations.numpy()) == 1
    # Starts from the given weights, not from where training ended.
    again = list(probe.watch(X, Y, 3, every=1))
    assert all(
        np.array_equal(a.probabilities, b.probabilities) for a, b in zip(first, again, strict=True)
    )


def test_a_function_makes_a_model_for_each_training():
    asked = []

    def make(n_classes):
        asked.append(n_classes)
        return build(n_classes, seed=None)

    def first(seed, k=3):
        return next(probe.watch(X, Y, k, seed=seed, every=1)).probabilities

    probe = KerasProbe(make, **{**SMALL, "learning_rate": 1e-9})
    np.testing.assert_array_equal(first(1), first(1))  # initial weights follow the seed
    assert np.abs(first(1) - first(2)).max() > 1e-3
    assert first(1, k=4).shape == (96, 4)
    assert asked == [3, 3, 3, 3, 4]


def test_the_order_is_random_and_new_every_epoch():
    probe = KerasProbe(fast(), **{**SMALL, "epochs": 2})
    batches, original = [], probe._inputs
    probe._inputs = lambda prepared, positions: (
        batches.append(positions),
        original(prepared, positions),
    )[1]
    probe.fit(X, Y, 3, seed=1)
    orders = [np.concatenate(batches[1:7]), np.concatenate(batches[7:])]  # the first is the trial
    assert [sorted(order.tolist()) for order in orders] == [list(range(96))] * 2
    assert not np.array_equal(*orders)
    assert not np.array_equal(orders[0], np.arange(96))


def states():
    import torch
    from keras.src.backend.common import global_state

    kept = global_state.get_global_attribute("global_seed_generator")
    generator = None if kept is None else (id(kept), kept.state.numpy().tolist())
    return (
        random.getstate(),
        np.random.get_state()[1].tobytes(),
        torch.get_rng_state().numpy().tobytes(),
        generator,
    )


@pytest.mark.parametrize(
    ("extra", "given", "used_before"),
    [
        (lambda: keras.layers.Dropout(0.5), "model", False),
        (Noise, "model", False),
        (Noise, "model", True),
        (Noise, "function", True),
    ],
)
def test_all_randomness_is_the_seeds(extra, given, used_before, tmp_path):
    if used_before:
        keras.random.normal((1,))  # makes Keras's own generator
    model = (
        build(extra=extra()) if given == "model" else (lambda k: build(k, extra=extra(), seed=None))
    )
    before = states()

    def train(seed):
        probe, seen = KerasProbe(model, **SMALL), []
        for number, snapshot in enumerate(probe.watch(X, Y, 3, seed=seed)):
            assert states() == before
            random.seed(number)
            np.random.seed(number)
            keras.utils.set_random_seed(number)
            seen.append(snapshot.probabilities)
            restore(before)
        return probe, np.array(seen)

    restore = restorer()
    probe, first = train(5)
    np.testing.assert_array_equal(first, train(5)[1])
    assert np.abs(first - train(6)[1]).max() > 1e-3
    probe.save(tmp_path)
    KerasProbe.load(tmp_path, device="cpu").fit(X, Y, 3)
    assert states() == before


def restorer():
    """A function that brings back the generators as they are now, given what `states` said."""
    import torch
    from keras.src.backend.common import global_state

    mine = (
        random.getstate(),
        np.random.get_state(),
        torch.get_rng_state(),
        global_state.get_global_attribute("global_seed_generator"),
    )

    def restore(_):
        random.setstate(mine[0])
        np.random.set_state(mine[1])
        torch.set_rng_state(mine[2])
        global_state.set_global_attribute("global_seed_generator", mine[3])

    return restore


def test_generators_come_back_after_an_error():
    before = states()

    def fail(n_classes):
        random.random()
        np.random.random()
        keras.random.normal((1,))
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        KerasProbe(fail, **SMALL).fit(X, Y, 3)
    assert states() == before


@pytest.mark.parametrize("kind", ["sparse", "binary logits"])
def test_save_and_load(kind, tmp_path):
    k, loss, activation = KINDS[kind]
    rows, codes = points(96, k=k)
    model = build(k, loss, activation, units=1 if kind.startswith("binary") else k)
    probe = KerasProbe(model, lambda samples: np.asarray(samples) * 2, **SMALL).fit(rows, codes, k)
    probe.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keras.json", "model.keras"]
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        # The same model makes the same file at any time.
        assert b"date" not in archive.read("metadata.json")
    loaded = KerasProbe.load(tmp_path, device="cpu", encode=lambda samples: np.asarray(samples) * 2)
    assert loaded == probe
    expected = probe.predict_proba(rows)
    np.testing.assert_array_equal(loaded.predict_proba(rows), expected)
    given = [weights.copy() for weights in loaded.model.get_weights()]
    loaded.tuner(learning_rate=1.0, momentum=0.0, decay=0.0)(
        loaded.prepare(rows), np.arange(8), np.full((8, k), 1 / k)
    )
    assert all(
        np.array_equal(weights, were)
        for weights, were in zip(loaded.model.get_weights(), given, strict=True)
    )
    loaded.learning_rate = 1e-12
    # Goes on from where it was saved.
    np.testing.assert_allclose(loaded.fit(rows, codes, k).predict_proba(rows), expected, atol=1e-4)
    assert keras.saving.load_model(tmp_path / "model.keras").count_params() == model.count_params()


def test_load_without_a_custom_layer(tmp_path):
    class Local(keras.layers.Layer):
        def call(self, inputs):
            return inputs

    KerasProbe(lambda k: build(k, extra=Local()), **SMALL).fit(X, Y, 3).save(tmp_path)
    with pytest.raises(LopsError, match=r"cannot be loaded .*register_keras_serializable"):
        KerasProbe.load(tmp_path, device="cpu")


@pytest.mark.parametrize(
    "kind", ["sparse", "sparse logits", "categorical", "binary", "binary logits"]
)
def test_tuner_with_any_loss(kind):
    """Tuning towards its own predictions changes nothing; towards other classes, they follow."""
    k, loss, activation = KINDS[kind]
    rows, codes = points(96, k=k)
    probe = KerasProbe(
        build(
            k, loss, activation, units=1 if kind.startswith("binary") else k, metrics=["accuracy"]
        ),
        **SMALL,
    ).fit(rows, codes, k)
    prepared, before = probe.prepare(rows), probe.predict_proba(rows)
    update = probe.tuner(learning_rate=0.5, momentum=0.0, decay=0.0)
    update(prepared, np.arange(96), before)
    np.testing.assert_allclose(probe.predict_proba(rows), before, atol=1e-4)
    for _ in range(60):
        update(prepared, np.arange(96), np.roll(np.eye(k)[codes], 1, axis=1) * 0.9 + 0.1 / k)
    assert (probe.predict_proba(rows).argmax(axis=1) == (codes + 1) % k).mean() > 0.7


def test_weights_of_a_given_model_are_not_handed_out():
    probe = KerasProbe(build(), **SMALL).fit(X, Y, 3)
    for use in (probe.trainable_weights, lambda: probe.restore([], 3)):
        with pytest.raises(
            LopsError, match=r"are for the text CNN; save\(\) and load\(\) keep a given model"
        ):
            use()


def test_lops_end_to_end():
    gold = np.arange(96) % 3
    rows = np.random.default_rng(0).normal(scale=0.3, size=(96, 4)) + 2 * np.eye(4)[gold]
    wrong = np.arange(0, 96, 8)
    codes = gold.copy()
    codes[wrong] = (codes[wrong] + 1) % 3
    selection = Lops(KerasProbe(build(), **{**SMALL, "learning_rate": 0.02}))(
        rows, [f"class {code}" for code in codes]
    )
    assert 48 <= len(selection.kept) < 96
    assert np.isin(wrong, selection.kept).mean() < 0.2  # chance is a half or more
