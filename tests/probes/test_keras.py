"""The text CNN: its arithmetic, padding, words, precision, tuning and restored weights."""

import random

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders import torch_tools
from lops_adapters.probes import keras_probe
from lops_adapters.probes.keras_probe import KerasProbe

from .toys import COMMON, TABLE, VECTORS, global_states, topic_texts

SMALL = {"epochs": 3, "batch_size": 8, "precision": "float32", "device": "cpu"}
TEXTS, CODES = topic_texts(24, seed=1)


@pytest.fixture(scope="module")
def trained():
    return KerasProbe(vectors=VECTORS, **SMALL).fit(TEXTS, CODES, 3)


def layer(probe, name):
    return [np.asarray(weights) for weights in probe._network.get_layer(name).get_weights()]


def by_hand(probe, words):
    """The paper's network on one document, without padding: windows one by one, in float64."""
    table = layer(probe, "words")[0].astype(np.float64)
    document = table[[probe._words[word] for word in words]]
    features = []
    for width in (2, 3, 4, 5):
        kernel, bias = layer(probe, f"filters_{width}")
        rows = np.vstack([document, np.zeros((max(0, width - len(document)), table.shape[1]))])
        windows = [
            np.einsum("wd,wdf->f", rows[start : start + width], kernel) + bias
            for start in range(len(rows) - width + 1)
        ]
        features.append(np.maximum(windows, 0).max(axis=0))
    (inner, inner_bias), (outer, outer_bias) = layer(probe, "hidden"), layer(probe, "classes")
    scores = np.maximum(np.concatenate(features) @ inner + inner_bias, 0) @ outer + outer_bias
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()


@pytest.mark.parametrize("own", [False, True])
def test_the_network_by_hand(trained, own):
    """Short documents, long ones and empty ones in one batch: padding takes no part."""
    probe = KerasProbe(**SMALL).fit(["", *TEXTS[1:]], CODES, 3) if own else trained
    known = sorted(probe._words)
    documents = [known[:length] for length in (0, 1, 2, 3, 4, 5, 6, 30)]
    expected = np.array([by_hand(probe, words) for words in documents])
    np.testing.assert_allclose(probe.predict_proba(documents), expected, atol=1e-6)
    # The documents differ, otherwise equality would mean nothing.
    assert np.ptp(expected, axis=0).max() > 1e-3


def test_padding_takes_no_part_in_training():
    """The update of a batch is the mean of the updates of its documents alone."""
    documents = [["topic1word1"], COMMON * 4, [], ["common1", "topic0word1", "common2"]]
    targets = np.array(
        [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0]], dtype=np.float32
    )
    for own in (False, True):
        probe = KerasProbe(vectors=None if own else VECTORS, **SMALL).fit(
            [*TEXTS, *documents], [*CODES, 0, 1, 2, 0], 3
        )
        start, prepared = probe.trainable_weights(), probe.prepare(documents)

        def update(positions, probe=probe, start=start, prepared=prepared):
            probe.restore(start, 3)
            probe.tuner(learning_rate=1.0, momentum=0.0, decay=0.0)(
                prepared, np.array(positions), targets[positions]
            )
            return [
                after - before
                for after, before in zip(probe.trainable_weights(), start, strict=True)
            ]

        alone = [update([i]) for i in range(4)]
        for together, parts in zip(update([0, 1, 2, 3]), zip(*alone, strict=True), strict=True):
            np.testing.assert_allclose(together, np.mean(parts, axis=0), atol=2e-6)


def test_shapes_and_initial_weights():
    for k in (2, 5):
        probe = KerasProbe(**{**SMALL, "learning_rate": 1e-12, "epochs": 1}).fit(
            TEXTS, CODES % 2, k
        )
        embedding, *rest = probe.trainable_weights()
        assert embedding.shape == (len(probe._words) + 1, 100)
        assert sum(weights.size for weights in rest) == 29_700 + 21 * k
        assert embedding[1:].max() > 0.24
        assert np.abs(embedding).max() <= 0.25
        assert not embedding[0].any()
        for width in (2, 3, 4, 5):
            kernel, bias = layer(probe, f"filters_{width}")
            assert kernel.shape == (width, 100, 20)
            assert 0.0099 < np.abs(kernel).max() <= 0.01
            assert np.abs(bias).max() < 1e-9
        for name, shape in (("hidden", (80, 20)), ("classes", (20, k))):
            kernel = layer(probe, name)[0]
            limit = np.sqrt(6 / sum(shape))  # Glorot
            assert kernel.shape == shape
            assert 0.85 * limit < np.abs(kernel).max() <= limit


def test_words():
    probe = KerasProbe(vectors=VECTORS, max_words=3, **SMALL)
    names = [None, *VECTORS.words]

    def read(sample):
        (ids,) = probe.prepare([sample])
        assert ids.dtype == np.int32
        return [names[i] for i in ids]

    # "common2." is another word.
    assert read("common1 unheard common2. common3 common4") == ["common1", "common3", "common4"]
    assert read(["common1", "unheard", "common2", "common3", "common4"]) == [
        "common1",
        "common2",
        "common3",
    ]
    assert read([["common1"], [], ["common2", "of"]]) == ["common1", "common2"]
    assert read([["of"]]) == read("") == []


def test_batches_follow_the_seed(monkeypatch):
    """New ones in every epoch, of documents of similar length."""
    inputs = keras_probe._inputs

    def batches(seed):
        probe, seen = KerasProbe(vectors=VECTORS, **{**SMALL, "batch_size": 4, "epochs": 2}), []

        def noted(prepared, positions):
            seen.append(tuple(positions))
            return inputs(prepared, positions)

        with monkeypatch.context() as patch:
            patch.setattr(keras_probe, "_inputs", noted)
            probe.fit(TEXTS, CODES, 3, seed=seed)
        return seen[:6], seen[6:]

    first, second = batches(1)
    assert sorted(np.concatenate(first)) == sorted(np.concatenate(second)) == list(range(24))
    assert first != second
    assert batches(1) == (first, second) != batches(2)
    lengths = np.array([len(text.split()) for text in TEXTS])
    assert max(np.ptp(lengths[list(batch)]) for batch in first) < np.ptp(lengths)


def test_bfloat16(monkeypatch):
    """Where the hardware has it; float32 is what all other tests here compute in."""
    monkeypatch.setattr(torch_tools, "has_bfloat16", lambda device: True)
    probe = KerasProbe(vectors=VECTORS, **{**SMALL, "precision": "auto"})
    probabilities = probe.fit(TEXTS, CODES, 3).predict_proba(TEXTS)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
    computes = {
        part.name: part.compute_dtype for part in probe._network.layers if part.name != "ids"
    }
    assert computes.pop("classes") == "float32"
    assert set(computes.values()) == {"bfloat16"}
    assert {weights.dtype.name for weights in probe.trainable_weights()} == {"float32"}
    by_hands = [by_hand(probe, text.split()) for text in TEXTS]
    np.testing.assert_allclose(probabilities, by_hands, atol=0.02)


def test_settings_reach_the_optimizer_and_the_loss():
    probe = KerasProbe(
        vectors=VECTORS,
        **{**SMALL, "learning_rate": 0.3, "momentum": 0.6, "smoothing": 0.3, "epochs": 1},
    )
    probe.fit(TEXTS, CODES, 3)
    optimizer = probe._network.optimizer
    assert (round(float(optimizer.learning_rate.numpy()), 6), optimizer.momentum) == (0.3, 0.6)
    default = (
        KerasProbe(vectors=VECTORS, **{**SMALL, "epochs": 1})
        .fit(TEXTS, CODES, 3)
        ._network.optimizer
    )
    assert (round(float(default.learning_rate.numpy()), 6), default.momentum) == (0.1, 0.9)
    targets = np.array([[0.1, 0.8, 0.1]] * 4, dtype=np.float32)
    predicted = probe.predict_proba(TEXTS[:4])
    loss = probe._network.test_on_batch(
        keras_probe._inputs(probe.prepare(TEXTS[:4]), np.arange(4)), targets
    )
    assert loss == pytest.approx(
        (targets * np.log(targets / predicted)).sum(axis=1).mean(), rel=1e-4
    )


def test_tuner_by_hand(trained):
    """Two updates of SGD with momentum and a falling step, from gradients taken by PyTorch."""
    import torch

    np.testing.assert_array_equal(layer(trained, "words")[0][1:], TABLE)  # frozen
    probe = KerasProbe(vectors=VECTORS, **SMALL).restore(trained.trainable_weights(), 3)
    start, prepared = probe.trainable_weights(), probe.prepare(TEXTS)
    positions = [np.array([3, 1, 7]), np.array([0, 2])]
    targets = [
        np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]),
        np.array([[0.0, 0.6, 0.4], [0.3, 0.3, 0.4]]),
    ]
    weights, velocity = start, [np.zeros_like(one) for one in start]
    for done in range(2):
        probe.restore(weights, 3)
        model = probe._network
        output = model(keras_probe._inputs(prepared, positions[done]))
        loss = -(torch.tensor(targets[done]) * torch.log(output)).sum(dim=1).mean()
        gradients = torch.autograd.grad(
            loss, [variable.value for variable in model.trainable_variables]
        )
        rate = 0.05 / (1 + 0.5 * done)
        velocity = [0.7 * v - rate * g.numpy() for v, g in zip(velocity, gradients, strict=True)]
        weights = [w + v for w, v in zip(weights, velocity, strict=True)]
    probe.restore(start, 3)
    update = probe.tuner(learning_rate=0.05, momentum=0.7, decay=0.5)
    for done in range(2):
        update(prepared, positions[done], targets[done])
    for found, expected in zip(probe.trainable_weights(), weights, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"smoothing": 1.0}, "0 <= smoothing < 1"),
        ({"momentum": 1.0}, "0 <= momentum < 1"),
        ({"learning_rate": 0.0}, "learning_rate=0.0.* learning_rate above 0"),
        ({"max_words": 0}, "max_words of at least 1"),
        ({"pool": 0}, "epochs, batch_size, pool and max_words of at least 1"),
        ({"precision": "float16"}, "precision is 'float16'; wanted auto, bfloat16 or float32"),
    ],
)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(LopsError, match=message):
        KerasProbe(**{"device": "cpu", **settings})


def test_the_callers_generators_keep_their_states_after_an_error(monkeypatch):
    before = global_states()

    def fail(*_):
        random.random()
        np.random.random()
        raise RuntimeError("in the middle")

    monkeypatch.setattr(keras_probe, "_inputs", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        KerasProbe(vectors=VECTORS, **SMALL).fit(TEXTS, CODES, 3)
    assert global_states() == before
