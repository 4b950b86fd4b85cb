"""The HAN probe: padding, sentences, micro-batches, early stopping, word vectors."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders.words import WordVectors, sentences_of
from lops_adapters.probes.early_stopping import held_out
from lops_adapters.probes.han import HanProbe

from .toys import COMMON, TABLE, VECTORS, topic_texts

SMALL = {
    "epochs": 4,
    "batch_size": 4,
    "learning_rate": 2e-2,
    "units": 6,
    "precision": "float32",
    "device": "cpu",
}
SENTENCES = [["common1", "topic0word1"], ["common2"], ["common3", "common4", "topic0word2"]]


@pytest.fixture(scope="module")
def trained():
    texts, codes = topic_texts(24, seed=1)
    return HanProbe(**SMALL).fit(texts, codes, 3)


def test_padding_takes_no_part(trained):
    """Neither the words nor the sentences of another document matter, however long it is."""
    long_sentence, many_sentences = [[*COMMON * 5]], [["common1"]] * 15
    documents = [SENTENCES, [["topic1word1"]], [], long_sentence, many_sentences]
    alone = np.vstack([trained.predict_proba([document]) for document in documents])
    np.testing.assert_allclose(trained.predict_proba(documents), alone, atol=1e-6)
    # The documents differ, otherwise equality would mean nothing.
    assert np.ptp(alone, axis=0).max() > 0.1


def test_padding_takes_no_part_in_training():
    """The gradient of a batch is the mean of the gradients of its documents alone."""
    import torch

    probe = HanProbe(**SMALL)
    documents = [SENTENCES, [["topic1word1"]], [COMMON * 4], [["common1"]] * 9]
    prepared, codes = probe.prepare(documents, fit=True), np.array([0, 1, 2, 1])
    next(probe.updates(prepared, codes, 3, 0))
    together = gradients(probe, prepared, np.arange(4), codes)
    alone = [gradients(probe, prepared, np.array([i]), codes) for i in range(4)]
    for name, gradient in together.items():
        torch.testing.assert_close(
            gradient, sum(one[name] for one in alone) / 4, atol=1e-6, rtol=1e-4
        )


def gradients(probe, prepared, batch, codes):
    """What `_learn` hands its optimizer, parameter name -> gradient."""
    found = {}

    class Recorder:
        def step(self):
            found.update(
                {
                    name: p.grad.clone()
                    for name, p in probe._network.named_parameters()
                    if p.grad is not None
                }
            )

        def zero_grad(self, set_to_none):
            probe._network.zero_grad(set_to_none=set_to_none)

    probe._learn(Recorder(), prepared, batch, codes)
    return found


def test_micro_batches_give_the_gradient_of_the_whole_batch():
    import torch

    texts, codes = topic_texts(150, seed=2)
    probe = HanProbe(**{**SMALL, "batch_size": 150})
    prepared = probe.prepare(texts, fit=True)
    next(probe.updates(prepared, codes, 3, 0))
    in_slices = gradients(probe, prepared, np.arange(150), codes)
    loss = torch.nn.functional.cross_entropy(
        probe._forward(prepared, np.arange(150)), torch.as_tensor(codes)
    )
    loss.backward()
    whole = {name: p.grad for name, p in probe._network.named_parameters()}
    assert in_slices.keys() == whole.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(in_slices[name], gradient, atol=1e-6, rtol=1e-3)
    assert max(float(gradient.norm()) for gradient in whole.values()) > 1e-2


def test_sentences_matter(trained):
    words = [word for sentence in SENTENCES for word in sentence]
    split, whole = trained.predict_proba([SENTENCES, [words]])
    assert np.abs(split - whole).max() > 1e-3
    ordered, reversed_ = trained.predict_proba([SENTENCES, SENTENCES[::-1]])
    assert np.abs(ordered - reversed_).max() > 1e-4
    (cut,) = trained.predict_proba([". ".join(" ".join(sentence) for sentence in SENTENCES)])
    assert cut.shape == (3,)


def test_sentences_of_a_string():
    assert sentences_of("One two. Three?  Four!\nfive 2.5 a.b") == [
        ["One", "two."],
        ["Three?"],
        ["Four!"],
        ["five", "2.5", "a.b"],
    ]
    assert sentences_of("  ") == []
    # Tokens are one sentence, never sentences of letters.
    assert sentences_of(["One", "two"]) == [["One", "two"]]
    assert sentences_of(iter([["One"], ["two"]])) == [["One"], ["two"]]


def indices(probe, document):
    lookup = {index: word for word, index in probe._words.items()}
    return [[lookup[i] for i in sentence] for sentence in probe.prepare([document])[0]]


def test_longer_documents_are_cut_at_the_end():
    probe = HanProbe(VECTORS, max_sentences=2, max_words=2, **SMALL)
    assert indices(probe, SENTENCES) == [["common1", "topic0word1"], ["common2"]]
    # Empty sentences do not count.
    assert indices(probe, [["unheard"], [], *SENTENCES[1:]]) == [
        ["common2"],
        ["common3", "common4"],
    ]


def test_last_words_only():
    probe = HanProbe(VECTORS, max_words=3, faithful=True, **SMALL)
    assert indices(probe, SENTENCES) == [["common3", "common4", "topic0word2"]]
    # Across sentences.
    assert indices(probe, [["common5", "unheard"], ["common6"], ["of"]]) == [["common5", "common6"]]
    assert [sentence.tolist() for sentence in probe.prepare([["unheard"]])[0]] == [[0]]


def test_words_without_a_vector_are_left_out(trained):
    texts, codes = topic_texts(12, seed=3)
    frozen = HanProbe(VECTORS, **SMALL).fit(texts, codes, 3)
    table = frozen._network.embedding.weight.detach().numpy()
    np.testing.assert_array_equal(table[1:], TABLE)
    for probe in (frozen, trained):
        clean, noisy = probe.predict_proba(
            [SENTENCES, [["unheard"], *[[*sentence, "of"] for sentence in SENTENCES]]]
        )
        np.testing.assert_allclose(noisy, clean, atol=1e-6)
        nothing, unknown = probe.predict_proba([[], [["unheard", "of"]]])
        np.testing.assert_allclose(unknown, nothing, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "shape", "message"),
    [
        (
            ("a", "b"),
            (3, 4),
            r"found 2 words and vectors of shape \(3, 4\); wanted one row per word",
        ),
        (("a", "b"), (2,), r"vectors of shape \(2,\)"),
        ((), (0, 4), "found 0 words .* at least one"),
        (("a", "b", "a"), (3, 4), "found 3 words, 2 of them distinct; wanted every word once"),
    ],
)
def test_bad_word_vectors(words, shape, message):
    with pytest.raises(LopsError, match=message):
        WordVectors(words, np.zeros(shape, dtype=np.float32))


@pytest.mark.parametrize(
    "settings",
    [
        {"validation": 1.0},
        {"validation": -0.1},
        {"optimizer": "adamw"},
        {"smoothing": 1.0},
        {"units": 0},
        {"max_words": 0},
        {"patience": 0},
        {"min_epochs": -1},
    ],
)
def test_bad_settings(settings):
    with pytest.raises(LopsError, match=next(iter(settings))):
        HanProbe(**{**SMALL, **settings})


@pytest.fixture
def scripted(monkeypatch):
    """A probe whose validation losses are given; the weights at each of these moments are kept."""

    def make(losses, **settings):
        probe = HanProbe(**{**SMALL, "epochs": 8, "validation": 0.25, "patience": 2, **settings})
        moments, coming = [], iter(losses)

        def loss(prepared, positions, codes):
            moments.append(probe._network.state_dict()["output.weight"].clone().numpy())
            return next(coming)

        monkeypatch.setattr(probe, "_loss", loss)
        return probe, moments

    return make


@pytest.mark.parametrize(
    ("losses", "min_epochs", "epochs", "best"),
    [
        ([3.0, 2.0, 2.5, 1.0, 1.5, 1.2], 0, 6, 3),
        ([1.0, 2.0, 2.0, 2.0, 2.0, 2.0], 4, 6, 0),  # the best may lie before the floor
        ([1.0] + [2.0] * 7, 100, 8, 0),  # the largest number of epochs is a limit all the same
        ([float("nan")] * 4, 2, 4, -1),  # diverged from the start: nothing to go back to
    ],
)
@pytest.mark.parametrize("faithful", [True, False])
def test_early_stopping(scripted, caplog, losses, min_epochs, epochs, best, faithful):
    """When it stops; tests/probes/test_early_stopping.py has more losses."""
    probe, moments = scripted(losses, min_epochs=min_epochs, faithful=faithful)
    with caplog.at_level("INFO"):
        times = [snapshot.time for snapshot in probe.watch(*topic_texts(12, seed=3), 3)]
    assert times == [float(epoch + 1) for epoch in range(epochs)]
    assert len(moments) == epochs
    kept = probe._network.state_dict()["output.weight"].numpy()
    np.testing.assert_array_equal(kept, moments[-1 if faithful else best])
    assert not np.array_equal(moments[0], moments[-1])
    said = f"han: {epochs} of at most 8 epochs, lowest validation loss after epoch {best + 1}"
    assert caplog.messages[-1] == said


@pytest.mark.parametrize(("validation", "n_held_out"), [(0.25, 5), (0.0, 0)])
@pytest.mark.parametrize("faithful", [True, False])
def test_held_out_samples_are_not_trained_on(monkeypatch, validation, n_held_out, faithful):
    probe = HanProbe(**{**SMALL, "validation": validation, "faithful": faithful})
    trained_on, validated_on = set(), set()
    learn, loss = probe._learn, probe._loss
    monkeypatch.setattr(
        probe, "_learn", lambda *args: (trained_on.update(args[2].tolist()), learn(*args))
    )
    monkeypatch.setattr(
        probe, "_loss", lambda *args: (validated_on.update(args[1].tolist()), loss(*args))[1]
    )
    texts, codes = topic_texts(20, seed=3)
    snapshots = list(probe.watch(texts, codes, 3))
    rng = np.random.default_rng(0)
    assert validated_on == set(held_out(codes, validation, rng, stratified=not faithful).tolist())
    assert len(validated_on) == n_held_out
    assert trained_on == set(range(20)) - validated_on
    assert snapshots[0].probabilities.shape == (20, 3)  # all are predicted, held out or not
    assert snapshots[0].time == 1.0


def test_validation_loss(trained):
    texts, codes = topic_texts(9, seed=5)
    prepared, where = trained.prepare(texts), np.array([2, 7, 3])
    expected = -np.log(trained.predict_proba(texts)[where, codes[where]]).mean()
    assert trained._loss(prepared, where, codes) == pytest.approx(expected, rel=1e-4)


def test_bfloat16():
    texts, codes = topic_texts(12, seed=3)
    probe = HanProbe(VECTORS, **{**SMALL, "precision": "bfloat16"})
    probabilities = probe.fit(texts, codes, 3).predict_proba(texts)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-5)


def test_sgd():
    """The first update of SGD is the gradient times the rate, and momentum is 0.9."""
    import torch

    texts, codes = topic_texts(12, seed=3)
    probe = HanProbe(
        VECTORS, **{**SMALL, "optimizer": "sgd", "batch_size": 12, "learning_rate": 0.5}
    )
    prepared = probe.prepare(texts, fit=True)
    updates = probe.updates(prepared, codes, 3, 0)
    next(updates)
    first, gradient = probe.trainable_weights(), gradients(probe, prepared, np.arange(12), codes)
    optimizer = probe._optimizer()
    assert (type(optimizer), optimizer.defaults["lr"], optimizer.defaults["momentum"]) == (
        torch.optim.SGD,
        0.5,
        0.9,
    )
    probe._learn(optimizer, prepared, np.arange(12), codes)
    for before, after, one in zip(first, probe.trainable_weights(), gradient.values(), strict=True):
        np.testing.assert_allclose(after - before, -0.5 * one.numpy(), atol=1e-6)


def test_smoothing():
    """Smoothed labels are soft labels: (1 - s) one-hot + s / k."""
    texts, codes = topic_texts(12, seed=3)
    probe = HanProbe(VECTORS, **{**SMALL, "smoothing": 0.3}).fit(texts, codes, 3)
    prepared, batch = probe.prepare(texts), np.arange(12)
    smoothed, soft = (
        gradients(probe, prepared, batch, targets)
        for targets in (codes, (0.7 * np.eye(3)[codes] + 0.1).astype(np.float32))
    )
    probe.smoothing = 0.0
    hard = gradients(probe, prepared, batch, codes)
    for name, gradient in smoothed.items():
        np.testing.assert_allclose(gradient, soft[name], atol=1e-6)
    assert max(float((smoothed[name] - hard[name]).abs().max()) for name in hard) > 1e-3


def test_tuner():
    """Two updates of SGD with momentum and a falling step towards soft labels, by hand."""
    texts, codes = topic_texts(150, seed=3)
    probe = HanProbe(VECTORS, **{**SMALL, "epochs": 1, "smoothing": 0.2}).fit(texts, codes, 3)
    prepared, start = probe.prepare(texts), probe.trainable_weights()
    positions = [np.arange(100), np.array([149, 3])]
    targets = [
        np.random.default_rng(0).dirichlet(np.ones(3), len(where)).astype(np.float32)
        for where in positions
    ]
    update = probe.tuner(learning_rate=0.4, momentum=0.7, decay=0.5)
    weights, momentum = start, [np.zeros_like(one) for one in start]
    for done in range(2):
        documents = [prepared[i] for i in positions[done]]
        found = gradients(probe, documents, np.arange(len(documents)), targets[done]).values()
        momentum = [0.7 * m + g.numpy() for m, g in zip(momentum, found, strict=True)]
        weights = [w - 0.4 / (1 + 0.5 * done) * m for w, m in zip(weights, momentum, strict=True)]
        update(prepared, positions[done], targets[done])
        for one, expected in zip(probe.trainable_weights(), weights, strict=True):
            np.testing.assert_allclose(one, expected, atol=1e-5)
