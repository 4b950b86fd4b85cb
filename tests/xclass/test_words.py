import numpy as np
import pytest

from lops_adapters.xclass.words import cleaned, cut, read_words

TEXTS = [
    "The court, the judge.",
    "",
    "Rock-climbing: caf\u00e9 & \u65e5\u672c",
    " \n ",
    "It's 42 -- THE end",
]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a &lt;b&gt; c", "a c"),
        ("a&lt;br&gt;b", "a b"),
        ("&lt;b&gt;bold&lt;/b&gt; plain", "bold plain"),
        ("&lt;a\nhref&gt;x", "x"),
        ("a &lt;b c", "a lt b c"),  # no closing mark: nothing is removed from here on
        ("&gt; a &lt;b&gt; c &lt;d", "gt a c lt d"),
        ("&lt;a &lt;b&gt; c&gt;", "c gt"),  # from the first opening to the next closing mark
        ("a @ b me@x.org c", "a b c"),
        ("a&lt;i&gt;b@c", "a"),  # markup goes first, and parts the words
        ("me&lt;x@y&gt;you", "me you"),
        ("\u00fcber-cool; 5% #1", "ber cool 5 1"),
        ("keep ( ) , . ! ? \" '", "keep ( ) , . ! ? \" '"),
        ("  a \t\r\n\u00a0 b  ", "a b"),
        ("\u65e5\u672c\u8a9e", ""),
        ("", ""),
    ],
)
def test_cleaning_as_the_original_does(text, wanted):
    assert cleaned(text) == wanted


def test_words_are_cut_as_bert_does():
    assert cut("Rock-climbing,  it's CAF\u00c9\u2026") == [
        "rock", "-", "climbing", ",", "it", "'", "s", "cafe", "\u2026",
    ]  # fmt: skip
    assert cut("law_enforcement talk.politics") == [
        "law", "_", "enforcement", "talk", ".", "politics",
    ]  # fmt: skip
    assert cut("\u65e5\u672c \u043c\u0438\u0440") == ["\u65e5", "\u672c", "\u043c\u0438\u0440"]
    assert cut(" \u200b\n") == []


def test_documents_become_flat_arrays():
    found = read_words(TEXTS)
    assert list(found.vocabulary) == sorted(set(found.vocabulary))
    assert (found.word_id.dtype, found.document_start.dtype) == (np.int32, np.int64)
    for number, text in enumerate(TEXTS):
        begin, end = found.document_start[number : number + 2]
        assert [found.vocabulary[word] for word in found.word_id[begin:end]] == cut(text)
    assert found.document_start[-1] == len(found.word_id)
    everything = [word for text in TEXTS for word in cut(text)]
    assert found.counts.tolist() == [everything.count(word) for word in found.vocabulary]
    words = {word for word, is_word in zip(found.vocabulary, found.is_word, strict=True) if is_word}
    assert words == {
        "the", "court", "judge", "rock", "climbing", "cafe", "\u65e5", "\u672c", "it", "s", "42",
        "end",
    }  # fmt: skip


def test_faithful_documents_are_cleaned_first():
    found = read_words(["Caf\u00e9 &lt;b&gt; me@x.org (now)"], faithful=True)
    assert [found.vocabulary[word] for word in found.word_id] == ["caf", "(", "now", ")"]


@pytest.mark.parametrize("texts", [[], [""], ["", " "]])
def test_nothing_to_read(texts):
    found = read_words(texts)
    assert (found.vocabulary, len(found.word_id), found.document_start.tolist()) == (
        (),
        0,
        [0] * (len(texts) + 1),
    )
    assert (found.counts.shape, found.is_word.shape, found.is_word.dtype) == ((0,), (0,), bool)
