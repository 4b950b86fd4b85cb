"""Words of texts as hashes, all at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters import select
from lops_adapters.encoders import static, word_hashes
from lops_adapters.encoders.static import static_vectors
from lops_adapters.encoders.word_hashes import distinct, hashes_at, read_words

from ..noisy import noisy_texts

WORDS = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1)


def read(texts):
    written = [" ".join(words).encode() for words in texts]
    blocks = [*read_words(written)]
    words = [word for block in blocks for word in block.at(np.arange(len(block.starts)))]
    hashes = np.concatenate([block.hashes() for block in blocks])
    counts = np.concatenate([np.diff(block.bounds) for block in blocks])
    return words, hashes.tolist(), counts.tolist()


@given(st.lists(st.lists(WORDS)), st.integers(1, 40))
def test_words_are_equal_where_their_hashes_are(texts, block):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(word_hashes, "_BLOCK", block)
        words, hashes, counts = read(texts)
    assert words == [word for text in texts for word in text]
    assert counts == [*map(len, texts)]
    assert len({*zip(words, hashes, strict=True)}) == len({*words}) == len({*hashes})


def test_long_words_differ_wherever_they_do():
    word = "abcdefgh" * 4
    others = [word[:i] + "x" + word[i + 1 :] for i in range(len(word))]
    cut = [word[: i + 1] for i in range(len(word))]
    _, hashes, _ = read([[*others, *cut, *(one + "abcdefgh" for one in cut)]])
    assert len({*hashes}) == len({*others, *cut, *(one + "abcdefgh" for one in cut)})


def test_one_way_to_hash_on_every_machine():
    """Files of fitted committees hold words, and no hashes; yet near-duplicates go by these."""
    written = b"river bank-of-the-river" + bytes(8)
    hashes = hashes_at(written, np.array([0, 6]), np.array([5, 17]))
    assert hashes.tolist() == [int.from_bytes(b"river", "little"), 5686039697871056514]


def test_longer_words_and_distinct_hashes():
    (words,) = read_words([b"a bb a", b"", b"ccc bb"])
    longer = words.longer_than(1)
    assert longer.at(np.arange(3)) == ["bb", "ccc", "bb"]
    assert longer.bounds.tolist() == [0, 1, 1, 3]
    first, which = distinct(longer.hashes())
    assert [longer.at(first)[i] for i in which] == ["bb", "ccc", "bb"]
    assert [part.tolist() for part in distinct(np.zeros(0, dtype=np.uint64))] == [[], []]


def test_a_selection_reads_the_words_of_its_texts_once(monkeypatch):
    """Once for all members; then, for static vectors, every distinct word once."""
    texts, labels, _ = noisy_texts(200)
    distinct_words = len({word for text in texts for word in text.split()})
    lengths = []
    words_of = word_hashes._words_of
    monkeypatch.setattr(
        word_hashes, "_words_of", lambda block: lengths.append(len(block)) or words_of(block)
    )
    static_vectors([])  # reads the table of word pieces
    static._pieces_of.cache_clear()  # another test may have read these words
    lengths.clear()
    select(texts, labels)
    assert [length for length in lengths if length] == [200, distinct_words]
