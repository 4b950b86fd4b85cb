"""The glue of ConWea and WeSTClass on small data, with networks of the same interface."""

import pickle

import numpy as np
import pytest

from lops_adapters.probes.keras_tools import import_keras

from .glue_tools import Watch, loaded, noisy_tokens, random_states_unchanged

K, WORDS, CLASSES = 3, 20, ["arts", "law", "sport"]


def network(shape, vectors, k):
    keras = import_keras()
    table = keras.layers.Embedding(*vectors.shape, trainable=False)
    # Whatever ran before.
    dense = keras.layers.Dense(
        k, activation="softmax", kernel_initializer=keras.initializers.GlorotUniform(seed=0)
    )
    pool = [keras.layers.GlobalAveragePooling1D()]
    if len(shape) == 2:
        pool = [keras.layers.Reshape((shape[0] * shape[1], vectors.shape[1])), *pool]
    model = keras.Sequential([keras.Input(shape, dtype="int32"), table, *pool, dense])
    table.set_weights([vectors])
    return model


def vectors():
    return np.random.default_rng(1).normal(size=(WORDS, 12)).astype("float32")


def conwea_network(*, max_words, max_sentences, output_size, embedding_matrix):
    """A stand-in for ConWea's class."""
    return network((max_sentences, max_words), embedding_matrix, output_size)


def conwea_prepare(*, max_sentence_length, max_sentences, texts, tokenizer):
    """A stand-in for ConWea's function: all words of a text in the first sentence."""
    assert tokenizer == "tokenizer"
    ids = np.zeros((len(texts), max_sentences, max_sentence_length), dtype="int32")
    for row, text in enumerate(texts):
        ids[row, 0] = [int(word) for word in text.split()]
    return ids


class Unread(list):
    """Gold labels: they may be cut, and not compared."""

    def __getitem__(self, at):
        return self.Label()

    class Label:
        __hash__ = None

        def __eq__(self, other):
            raise AssertionError("a gold label was read")


def conwea_arguments(folder):
    ids, labels, wrong = noisy_tokens()
    (folder / "embedding_matrix.pkl").write_bytes(pickle.dumps(vectors()))
    texts = [" ".join(map(str, row)) for row in ids]
    names = [CLASSES[label] for label in labels]
    index = {name: at for at, name in enumerate(CLASSES)}
    return (
        texts,
        names,
        Unread([None] * len(texts)),
        index,
        "tokenizer",
        f"{folder}/",
        2,
        8,
        conwea_network,
        conwea_prepare,
    ), wrong


@pytest.mark.slow
def test_conwea(tmp_path, monkeypatch, capsys):
    arguments, wrong = conwea_arguments(tmp_path)
    import_keras()
    with loaded("conwea", tmp_path, monkeypatch, LOPS_EPOCHS="60", LOPS_TAU="0.7") as glue:
        watch = Watch(monkeypatch)
        monkeypatch.setattr(glue, "BATCH_SIZE", 8)
        with random_states_unchanged():
            texts, names, gold = glue.keep(*arguments)
        again = glue.keep(*arguments)
    expected = watch.expected(wrong)
    assert texts == [arguments[0][at] for at in expected]
    assert names == [arguments[1][at] for at in expected]
    assert len(gold) == len(texts)
    assert watch.labels.tolist() == [CLASSES.index(name) for name in arguments[1]]
    assert watch.arguments[0] == K
    assert len(again[0]) > 0
    assert "LOPS:   sport: " in capsys.readouterr().out


class Westclass:
    """A stand-in for WeSTClass's classifier object."""

    def __init__(
        self,
        input_shape,
        n_classes=None,
        model="cnn",
        vocab_sz=None,
        word_embedding_dim=100,
        embedding_matrix=None,
    ):
        assert (vocab_sz, word_embedding_dim) == embedding_matrix.shape
        assert model == "cnn"
        self.classifier = network(input_shape[1:], embedding_matrix, n_classes)


def sgd():
    return import_keras().optimizers.SGD


def old_sgd(**settings):
    """The optimiser's name for its rate in Keras 2.2."""
    if set(settings) - {"lr", "momentum"}:
        raise TypeError(f"Unexpected keyword argument passed to optimizer: {min(settings)}")
    return sgd()(learning_rate=settings["lr"], momentum=settings["momentum"])


def trained_classifier(ids, targets, table):
    """A classifier with an optimiser that has a state, as after some training."""
    main = Westclass((0, ids.shape[1]), K, "cnn", *table.shape, table)
    main.classifier.compile(optimizer=sgd()(0.01, momentum=0.5), loss="kld")
    main.classifier.train_on_batch(ids[:8], targets[:8])
    return main


def state(model):
    return [
        np.array(array)
        for array in (
            *model.get_weights(),
            *(variable.numpy() for variable in model.optimizer.variables),
        )
    ]


@pytest.mark.parametrize("optimizer", [sgd, lambda: old_sgd], ids=["keras3", "keras2"])
def test_westclass(optimizer, tmp_path, monkeypatch):
    ids, labels, wrong = noisy_tokens()
    targets = 0.8 * np.eye(K)[labels] + 0.2 / K
    main = trained_classifier(ids, targets, vectors())
    before, its_optimizer = state(main.classifier), main.classifier.optimizer
    table = vectors()
    # What phase 1 does to the table that the classifier was made from.
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    with loaded("westclass", tmp_path, monkeypatch, LOPS_TAU="0.6") as glue:
        watch = Watch(monkeypatch)
        started = []
        select = glue.select_with_keras
        monkeypatch.setattr(
            glue,
            "select_with_keras",
            lambda model, *rest: started.append(model.get_weights()) or select(model, *rest),
        )
        with random_states_unchanged():
            documents, kept_targets = glue.keep(
                ids, targets, main, ids.shape, "cnn", table, 30, 16, optimizer()
            )
    expected = watch.expected(wrong)
    assert np.array_equal(documents, ids[expected])
    assert np.array_equal(kept_targets, targets[expected])
    assert watch.arguments[1].epochs == 30
    assert watch.arguments[3] == 4
    assert all(
        np.array_equal(now, then)
        for now, then in zip(started[0], main.classifier.get_weights(), strict=True)
    )
    assert main.classifier.optimizer is its_optimizer
    assert all(
        np.array_equal(now, then) for now, then in zip(state(main.classifier), before, strict=True)
    )


def test_westclass_of_sentences(tmp_path, monkeypatch):
    ids, labels, _ = noisy_tokens()
    ids, targets, table = ids.reshape(-1, 2, 4), np.eye(K)[labels], vectors()
    main = Westclass((0, 2, 4), K, "cnn", *table.shape, table)
    with loaded("westclass", tmp_path, monkeypatch, LOPS_EVERY="epoch", LOPS_EPOCHS="5") as glue:
        watch = Watch(monkeypatch)
        documents, _ = glue.keep(ids, targets, main, ids.shape, "cnn", table, 30, 16, sgd())
    assert watch.arguments[1].epochs == 5
    assert np.array_equal(documents, ids[watch.expected()])
