"""Counts of words: read once, cut into rows."""

import re
from itertools import product

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from lops_adapters.core import LopsError
from lops_adapters.encoders import word_hashes
from lops_adapters.encoders.word_counts import (
    KnownWords,
    ascii_words,
    count_words,
    joined,
    pieces_of,
)
from lops_adapters.probes.base import cut
from lops_adapters.probes.linear import LinearProbe

from ..probes.toys import topic_texts

TEXTS, _ = topic_texts(30, seed=6)
TEXTS[4] = ""
TEXTS[5] = "Common1, common1; COMMON1!"


def test_counts_are_those_of_scikit_learn():
    usual = CountVectorizer()
    expected = usual.fit_transform(TEXTS).toarray()
    read = count_words(TEXTS)
    assert len(read) == 30
    assert read.words == tuple(usual.get_feature_names_out())
    np.testing.assert_array_equal(read.counts.toarray(), expected)
    assert read.counts.dtype == np.float32
    assert read.counts.has_sorted_indices


def test_words_of_ascii_are_those_of_the_regular_expression():
    letters = [*map(chr, range(128))]
    text = "".join(map("".join, product(letters, letters)))
    assert ascii_words(text).decode().split() == re.findall(r"\w+", text.lower())
    assert pieces_of(text) == re.findall(r"\w\w+", text.lower())


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], []])
def test_blocks_change_nothing(texts, monkeypatch):
    whole = count_words(texts)
    known = KnownWords(count_words(TEXTS[:9]))
    further = known(texts)
    monkeypatch.setattr(word_hashes, "_BLOCK", 7)
    read = count_words(texts)
    assert read.words == whole.words
    np.testing.assert_array_equal(read.counts.toarray(), whole.counts.toarray())
    np.testing.assert_array_equal(known(texts).counts.toarray(), further.counts.toarray())


def test_rows():
    read = count_words(TEXTS)
    some = np.array([7, 0, 5, 5])
    rows = cut(read, some)
    assert len(rows) == 4
    assert rows.words is read.words  # by which a probe knows its columns again
    np.testing.assert_array_equal(rows.counts.toarray(), read.counts.toarray()[some])
    assert len(cut(read, np.zeros(0, dtype=int))) == 0


@pytest.mark.parametrize("most", [1, 5, 1000])
def test_a_vocabulary_knows_only_its_rows(most):
    some = np.arange(3, 9)
    read = cut(count_words(TEXTS), some)
    usual = CountVectorizer(max_features=most).fit([TEXTS[i] for i in some])
    words = [read.words[column] for column in read.vocabulary(most)]
    assert words == usual.get_feature_names_out().tolist()
    assert len(words) < len(read.words)


def test_counts_over_words_by_column_and_by_name():
    read = count_words(TEXTS)
    columns = read.vocabulary(7)
    words = [read.words[column] for column in columns]
    by_column, by_name = read.over(words, columns), read.over(words, None)
    np.testing.assert_array_equal(by_column.toarray(), by_name.toarray())
    np.testing.assert_array_equal(by_column.toarray(), read.counts.toarray()[:, columns])
    odd = [words[3], "unheard", words[0]]
    found = read.over(odd, None).toarray()
    np.testing.assert_array_equal(found[:, [0, 2]], by_column.toarray()[:, [3, 0]])
    assert not found[:, 1].any()
    assert read.over(["unheard"], None).shape == (30, 1)
    assert read.over([], None).shape == (30, 0)


@pytest.mark.parametrize("texts", [["", "?! 1"], []])
def test_no_word_at_all(texts):
    read = count_words(texts)
    assert read.counts.shape == (len(texts), 0)
    assert read.words == ()
    assert read.over(["river"], None).shape == (len(texts), 1)
    assert len(read.vocabulary(5)) == 0


@pytest.mark.parametrize("odd", [None, 7, float("nan"), ["a", 3], [["a"], None]])
def test_what_is_no_text(odd):
    with pytest.raises(LopsError, match="wanted a string, tokens, or sentences of tokens"):
        joined(odd)
    with pytest.raises(LopsError, match="wanted a string"):
        count_words(["a text", odd])


def test_scripts_without_spaces_are_read_in_n_grams():
    """Every letter becomes a Chinese character and spaces go; topics can still be told apart."""
    texts, codes = topic_texts(60, seed=3)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    table = {ord(letter): chr(0x4E00 + ord(letter)) for letter in letters}
    strange = [text.replace(" ", "").translate(table) for text in texts]
    assert all(len(text.split()) == 1 for text in strange)
    probe = LinearProbe(epochs=20).fit(strange[:40], codes[:40], 3)
    assert (probe.predict_proba(strange[40:]).argmax(axis=1) == codes[40:]).mean() > 0.8


def test_words_or_characters_in_every_script():
    """Forced, each analyzer cuts all texts alike, at first and later."""
    texts = ["Die Bank", "東京 銀行"]
    assert count_words(texts, "word").words == ("bank", "die", "東京", "銀行")
    by_characters = count_words(texts, "char")
    assert {"b", "ban", "ie", "東", "東京"} < set(by_characters.words)
    assert not {"bank", "e b", "京 銀"} & set(by_characters.words)
    for counts in (count_words(texts, "word"), by_characters):
        further = KnownWords(counts)(["the bank of 東京"])
        assert further.analyzer == counts.analyzer
        words = dict(zip(further.words, further.counts.toarray()[0], strict=True))
        assert words["東京"] == 1
        assert words.get("ban", 1) == 1


def test_other_texts_are_read_as_by_scikit_learn():
    texts = ["The e-mail of O'Neil, 2 MB", "über straße", "한국어 텍스트", "a_b c1 -- ?"]
    analyze = CountVectorizer().build_analyzer()
    assert [pieces_of(text) for text in texts] == [analyze(text) for text in texts]
    mixed = count_words([*texts, "東京 e-mail"])
    words = dict(zip(mixed.words, mixed.counts.toarray()[0], strict=True))
    assert {word for word, count in words.items() if count} == set(analyze(texts[0]))
