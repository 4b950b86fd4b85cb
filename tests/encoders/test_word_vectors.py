import logging
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.encoders.word_vectors import train_word_vectors, with_random_vectors
from lops_adapters.encoders.words import WordVectors

OPTIONS = {"size": 8, "min_count": 2, "epochs": 2, "at_least": 1, "seed": 0}


def corpus(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.integers(0, 40, 30)] for _ in range(n)]


TEXTS = [*corpus(), ["once"], []]


@pytest.fixture(scope="module")
def vectors():
    return train_word_vectors(TEXTS, **OPTIONS)


@pytest.fixture
def trainings(monkeypatch):
    """The (texts, options, model) of each training of Word2Vec from here on."""
    from gensim.models import Word2Vec

    done = []

    class Recorder(Word2Vec):
        def __init__(self, texts, **options):
            done.append((texts, options, self))
            super().__init__(texts, **options)

    monkeypatch.setattr("gensim.models.Word2Vec", Recorder)
    return done


def same(one, other):
    return (
        one.words == other.words
        and one.vectors.dtype == other.vectors.dtype
        and np.array_equal(one.vectors, other.vectors)
    )


def test_words_that_occur_often_enough_in_alphabetical_order(vectors):
    assert vectors.words == tuple(sorted({word for text in TEXTS for word in text} - {"once"}))
    assert vectors.vectors.shape == (40, 8)
    assert vectors.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors.vectors, axis=1), 1, atol=1e-6)
    assert "once" in train_word_vectors(TEXTS, **{**OPTIONS, "min_count": 1}).words


def test_each_row_is_its_words(vectors, trainings):
    assert same(train_word_vectors(TEXTS, **OPTIONS), vectors)
    trained = trainings[0][2].wv
    for word, row in zip(vectors.words, vectors.vectors, strict=True):
        expected = trained[word] / np.linalg.norm(trained[word])
        np.testing.assert_allclose(row, expected, atol=1e-6)


def test_reproducible_also_in_another_process(vectors):
    assert not same(train_word_vectors(TEXTS, **{**OPTIONS, "seed": 1}), vectors)
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); "
        "from test_word_vectors import *; "
        "sys.stdout.write(train_word_vectors(TEXTS, **OPTIONS).vectors.tobytes().hex())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == vectors.vectors.tobytes().hex()


def test_the_global_generators_are_left_alone():
    import random

    np.random.seed(0)
    random.seed(0)
    before = np.random.get_state()[1].tolist(), random.getstate()
    train_word_vectors(TEXTS, **OPTIONS)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before


def test_the_originals_options(trainings):
    train_word_vectors(TEXTS, **{**OPTIONS, "seed": 2**32 + 3})
    expected = {
        "vector_size": 8,
        "window": 5,
        "min_count": 2,
        "sample": 1e-3,
        "sg": 1,
        "negative": 5,
        "epochs": 2,
        "workers": 1,
        "seed": 3,
    }
    assert trainings[0][1] == expected


def test_a_small_corpus_is_repeated(trainings):
    words = sum(map(len, TEXTS))
    for at_least in (1, 2 * words, 7 * words, 7 * words + words // 3):
        train_word_vectors(TEXTS, **{**OPTIONS, "at_least": at_least})
    assert [options["epochs"] for _, options, _ in trainings] == [2, 2, 7, 7]


def test_long_texts_are_read_to_their_end(trainings):
    """Gensim trains on the first 10,000 words of a text and says nothing."""
    from gensim.models.word2vec import MAX_WORDS_IN_BATCH

    text = [word for part in corpus(900) for word in part]
    train_word_vectors([text, ["a", "b"]], **OPTIONS)
    pieces = trainings[0][0]
    assert max(map(len, pieces)) <= MAX_WORDS_IN_BATCH
    assert [word for piece in pieces for word in piece] == [*text, "a", "b"]
    assert ["a", "b"] in pieces


@pytest.mark.parametrize("texts", [[], [[], []], [["a", "b"], ["c"]]])
def test_no_word_occurs_often_enough(texts):
    found = f"cannot train word vectors on {len(texts)} documents .*"
    with pytest.raises(LopsError, match=f"{found}; wanted words that occur at least twice"):
        train_word_vectors(texts, **OPTIONS)
    with pytest.raises(LopsError, match="at least 5 times"):
        train_word_vectors(texts, **{**OPTIONS, "min_count": 5})


def test_without_gensim(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    message = (
        "Word2Vec needs gensim, which is not installed; run: pip install "
        + extras.with_extras("gensim")
    )
    with pytest.raises(LopsError, match=re.escape(message)):
        train_word_vectors(TEXTS, **OPTIONS)


def test_no_corpus_is_trained_on_twice(vectors, trainings, tmp_path):
    cache = tmp_path / "deep" / "cache"
    for _ in range(3):
        assert same(train_word_vectors(TEXTS, **OPTIONS, cache=cache), vectors)
    assert len(trainings) == 1
    assert len(list(cache.iterdir())) == 1
    train_word_vectors(TEXTS, **OPTIONS)
    assert len(trainings) == 2  # without a folder nothing is looked for
    (kept,) = cache.iterdir()
    kept.rename(cache / f".{kept.name}.4194305.0.tmp")  # as a killed process leaves it
    train_word_vectors(TEXTS, **OPTIONS, cache=cache)
    assert list(cache.iterdir()) == [kept]


CHANGES = {
    "order of texts": ([TEXTS[1], TEXTS[0], *TEXTS[2:]], {}),
    "order of words": ([TEXTS[0][::-1], *TEXTS[1:]], {}),
    "a word": ([["w99", *TEXTS[0][1:]], *TEXTS[1:]], {}),
    "a word less": ([TEXTS[0][1:], *TEXTS[1:]], {}),
    "an empty text more": ([*TEXTS, []], {}),
    "a border between texts": ([TEXTS[0] + TEXTS[1][:1], TEXTS[1][1:], *TEXTS[2:]], {}),
    "a border between words": ([[" ".join(TEXTS[0][:2]), *TEXTS[0][2:]], *TEXTS[1:]], {}),
    "two borders between words": (
        [
            [" ".join(TEXTS[0][:2]), *" ".join(TEXTS[0][2:4]).split("2", 1), *TEXTS[0][4:]],
            *TEXTS[1:],
        ],
        {},
    ),
    **{
        f"{name} {value}": (TEXTS, {name: value})
        for name, value in {"size": 9, "min_count": 3, "epochs": 3, "seed": 1}.items()
    },
    "at_least": (TEXTS, {"at_least": 10**5}),
}


def test_whatever_changes_the_vectors_is_kept_apart(tmp_path, monkeypatch):
    train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path)
    for number, (texts, options) in enumerate(CHANGES.values(), 2):
        train_word_vectors(texts, **{**OPTIONS, **options}, cache=tmp_path)
        assert len(list(tmp_path.iterdir())) == number
    monkeypatch.setattr(
        "lops_adapters.encoders.word_vectors.version", lambda name: f"{name} of tomorrow"
    )
    train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == len(CHANGES) + 2


def test_any_text_can_be_kept(tmp_path):
    texts = [["語", "\ud800", "a\nb", '"']] * 50
    found = train_word_vectors(texts, **OPTIONS, cache=tmp_path)
    assert found.words == ('"', "a\nb", "語", "\ud800")
    assert same(train_word_vectors(texts, **OPTIONS, cache=tmp_path), found)


def cut(data):
    return data[: len(data) // 2]


def flipped(data):
    middle = data.index(b"vectors.npy") + 300
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [cut, flipped, lambda data: b"", lambda data: b"no vectors", lambda data: data[:-1]]
)
def test_a_damaged_file_is_replaced(damage, vectors, trainings, tmp_path, caplog):
    train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path)
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert same(train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path), vectors)
    assert f"word vectors in {kept} cannot be read" in caplog.text
    assert len(trainings) == 2
    assert kept.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [kept]


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"vectors": np.ones((40, 9), dtype=np.float32)},
        {"vectors": np.ones((39, 8), dtype=np.float32)},
    ],
)
def test_a_file_of_something_else_is_replaced(arrays, vectors, tmp_path):
    train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path)
    (kept,) = tmp_path.iterdir()
    with np.load(kept) as stored:
        other = {"words": stored["words"], **arrays}
    with kept.open("wb") as handle:
        np.savez(handle, **other)
    assert same(train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path), vectors)


def test_a_folder_that_cannot_be_written_costs_a_line_in_the_log(vectors, tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert same(
            train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path / "file" / "cache"), vectors
        )
    assert [
        record.message.split(":")[0] for record in caplog.records if record.name.startswith("lops")
    ][-1:] == ["word vectors are not cached"]


def test_a_full_disk_leaves_nothing_half_written(vectors, tmp_path, monkeypatch, caplog):
    def full(handle, **_):
        handle.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    assert same(train_word_vectors(TEXTS, **OPTIONS, cache=tmp_path), vectors)
    assert "No space left on device" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_rare_words_get_random_vectors():
    trained = WordVectors(("a", "c"), np.eye(2, 4, dtype=np.float32))
    vocabulary = [f"w{i}" for i in range(500)]
    one, again, other = (
        with_random_vectors(trained, ["c", *vocabulary, "a"], seed) for seed in (0, 0, 1)
    )
    assert one.words == ("a", "c", *vocabulary)
    assert one.vectors.dtype == np.float32
    assert (one.vectors[:2] == trained.vectors).all()
    random = one.vectors[2:]
    assert np.abs(random).max() <= 0.25
    assert np.abs(random).max() > 0.24
    assert abs(random.mean()) < 0.02
    assert random.std() == pytest.approx(0.5 / np.sqrt(12), rel=0.05)
    assert same(one, again)
    assert (one.vectors[2:] != other.vectors[2:]).any()
    assert same(with_random_vectors(trained, ["a"], 0), trained)
