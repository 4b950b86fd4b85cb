"""The linear probe: words, the arithmetic of its updates, its speed."""

import json
import time

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from lops_adapters.core import LopsError
from lops_adapters.probes import linear
from lops_adapters.probes.base import cut
from lops_adapters.probes.linear import LinearProbe

from .toys import adagrad_by_hand, softmax, topic_texts


def test_adagrad_against_a_dense_recomputation():
    texts, codes = topic_texts(11, seed=5)
    texts[3] = ""
    probe = LinearProbe(epochs=3, batch_size=4, learning_rate=0.3).fit(texts, codes, 3, seed=9)
    rows = probe.prepare(texts).toarray().astype(np.float64)
    weights, bias = adagrad_by_hand(rows, codes, seed=9)
    np.testing.assert_allclose(probe._weights, weights, atol=1e-4)
    np.testing.assert_allclose(
        probe.predict_proba(texts), softmax(rows @ weights + bias), atol=1e-4
    )


def test_rows_are_tfidf_of_unit_length():
    probe = LinearProbe()
    probe.fit(["river bank bank", "river boat", ""], [0, 1, 0], 2)
    rows = probe.prepare(["river bank bank", "", "unheard words"]).toarray()
    words = {word: column for column, word in enumerate(probe.tf_idf.words)}
    assert set(words) == {"river", "bank", "boat"}
    idf = {"river": np.log(4 / 3) + 1, "bank": np.log(4 / 2) + 1}
    expected = np.zeros(3)
    expected[words["river"]], expected[words["bank"]] = idf["river"], idf["bank"] * (1 + np.log(2))
    np.testing.assert_allclose(rows[0], expected / np.linalg.norm(expected), rtol=1e-5)
    assert not rows[1:].any()
    assert rows.dtype == np.float32


@pytest.mark.parametrize("most", [100_000, 7])
def test_rows_are_those_of_scikit_learn(most, monkeypatch):
    monkeypatch.setattr(linear, "MOST_WORDS", most)
    texts, _ = topic_texts(30, seed=6)
    texts[4] = ""
    probe = LinearProbe()
    read = probe.read(texts)
    usual = TfidfVectorizer(sublinear_tf=True, max_features=most, dtype=np.float32)
    some = np.arange(3, 25)
    expected = usual.fit_transform([texts[i] for i in some])
    assert_same_cells(probe.prepare(cut(read, some), fit=True), expected)
    assert list(probe.tf_idf.words) == usual.get_feature_names_out().tolist()
    # The same words whether the texts were read before or are new.
    expected = usual.transform([*texts[:3], "unheard words"])
    assert_same_cells(probe.prepare([*texts[:3], "unheard words"]), expected)
    assert_same_cells(probe.prepare(cut(read, np.arange(3))), expected[:3])


def assert_same_cells(rows, expected):
    assert rows.has_sorted_indices
    expected.sort_indices()
    np.testing.assert_array_equal(rows.indptr, expected.indptr)
    np.testing.assert_array_equal(rows.indices, expected.indices)
    np.testing.assert_allclose(rows.data, expected.data, rtol=1e-6)


def test_texts_read_by_another_analyzer_are_refused():
    read = LinearProbe(analyzer="word").read(["river bank", "stock bank"])
    with pytest.raises(LopsError, match=r"by the analyzer 'word', and the probe has 'char'"):
        LinearProbe(analyzer="char").prepare(read, fit=True)


def test_the_analyzer_is_kept_with_the_probe(tmp_path):
    """Probes saved before there was one read texts as they did."""
    probe = LinearProbe(analyzer="char").fit(["river bank", "stock market"], [0, 1], 2)
    probe.save(tmp_path)
    further = ["river", "stocks"]
    again = LinearProbe.load(tmp_path)
    assert again.analyzer == "char"
    np.testing.assert_array_equal(again.predict_proba(further), probe.predict_proba(further))
    stored = json.loads((tmp_path / "linear.json").read_text())
    del stored["settings"]["analyzer"]
    (tmp_path / "linear.json").write_text(json.dumps(stored))
    assert LinearProbe.load(tmp_path).analyzer == "auto"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"analyzer": "words"}, "analyzer is 'words'; wanted one of auto, word, char"),
        ({"analyzer": None}, "analyzer is None"),
    ],
)
def test_analyzers_that_are_refused(arguments, message):
    with pytest.raises(LopsError, match=message):
        LinearProbe(**arguments)


def test_text_without_a_known_word_gets_the_bias():
    probe = LinearProbe().fit(["river bank", "stock bank", "stock rates"], [0, 1, 1], 2)
    expected = softmax(probe._bias[None].astype(np.float64))[0]
    np.testing.assert_allclose(
        probe.predict_proba(["", "unheard of"]), [expected, expected], rtol=1e-6
    )
    assert expected[1] > expected[0]


def test_texts_without_any_word():
    with pytest.raises(LopsError, match="the 2 texts hold no word the linear probe can use"):
        LinearProbe().fit(["", "?! 1"], [0, 1], 2)


def test_two_thousand_messages_take_seconds(real_data):
    from lops_adapters.datasets import load_dataset as load

    dataset = load("20news", data_dir=real_data, offline=True)
    texts = list(dataset.corpus.texts)[:1900]
    codes = np.arange(1900) % 5  # what the labels are does not matter to the speed
    start = time.process_time()  # a busy machine makes it late, not slow
    assert len(list(LinearProbe(epochs=4).watch(texts, codes, 5))) == 4
    assert time.process_time() - start < 6
