"""Scripts without spaces between words: texts are cut at seed words, all frameworks find them."""

import pickle
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.conwea.contextual import contextualise
from lops_adapters.conwea.seeds import initial_seeds
from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.tokens import phrases_in
from lops_adapters.conwea.tokens import tokenize as conwea_tokens
from lops_adapters.pseudo_labels import exclusive_string_match, seed_votes, string_match
from lops_adapters.scripts import Cutter, words_to_cut
from lops_adapters.westclass.seeds import seed_pieces
from lops_adapters.westclass.tokens import flat
from lops_adapters.westclass.tokens import tokenize as westclass_tokens

CHINESE = (
    [
        "软件更新修复了漏洞，新手机搭载更快的芯片。",
        "股市今天大幅上涨，银行下调了利率。",
        "今天下雨。",
    ],
    {"tech": ["芯片", "软件"], "money": ["股市", "银行"]},
    ["tech", "money", None],
)
JAPANESE = (
    ["女子サッカーの試合が行われた。", "日銀が金利を引き上げた。", "今日は雨。"],
    {"sports": ["サッカー", "試合"], "money": ["日銀", "金利"]},
    ["sports", "money", None],
)
THAI = (
    ["ทีมฟุตบอลชนะการแข่งขันเมื่อวานนี้", "ธนาคารลดอัตราดอกเบี้ยวันนี้", "วันนี้ฝนตก"],
    {"sports": ["ฟุตบอล", "แข่งขัน"], "money": ["ธนาคาร", "ดอกเบี้ย"]},
    ["sports", "money", None],
)
LANGUAGES = pytest.mark.parametrize(("texts", "seeds", "labels"), [CHINESE, JAPANESE, THAI])


@LANGUAGES
def test_pseudo_labels(texts, seeds, labels):
    for match in (string_match, exclusive_string_match):
        found = match(texts, seeds)
        assert dict(zip(found.positions.tolist(), found.labels.tolist(), strict=True)) == {
            row: label for row, label in enumerate(labels) if label is not None
        }
        assert not found.unmatched_seeds
        assert found.scores.tolist() == [2, 2]
    votes = seed_votes(texts, seeds)
    assert len(votes) == 4
    assert votes[f"money: {seeds['money'][0]}"] == [None, "money", None]


@LANGUAGES
def test_decomposed_texts_and_seeds(texts, seeds, labels):
    apart = [unicodedata.normalize("NFD", text) for text in texts]
    found = string_match(apart, seeds)
    assert found.labels.tolist() == labels[:2]
    of_apart = {
        label: [unicodedata.normalize("NFD", word) for word in words]
        for label, words in seeds.items()
    }
    assert string_match(texts, of_apart).labels.tolist() == labels[:2]


@LANGUAGES
def test_tokens_of_frameworks(texts, seeds, labels):
    every = [word for words in seeds.values() for word in words]
    words = words_to_cut(texts, every)
    assert words == every
    documents = westclass_tokens(texts, words)
    tokens = {token for document in documents for token in flat(document)}
    assert tokens >= set(every)
    assert max(len(unicodedata.normalize("NFC", token)) for token in tokens - set(every)) <= 3
    assert seed_pieces(seeds, tokens) == {
        label: [(word,) for word in words] for label, words in seeds.items()
    }
    corpus = conwea_tokens(texts, phrases_in(seeds, texts))
    whole = contextualise(corpus, Senses(0.0, {}, corpus.word_id * 0 - 1))
    assert initial_seeds(whole, seeds) == {label: seeds[label] for label in sorted(seeds)}


def test_sentences_end_at_the_marks_of_the_script():
    (document,) = westclass_tokens(["股市上涨。银行下调！"], ["股市", "银行"])
    assert document == [["股市", "上", "涨", "."], ["银行", "下", "调", "!"]]


def test_a_seed_without_a_vector_is_read_by_its_characters():
    assert seed_pieces({"x": ["世界杯"]}, {"世", "界", "杯"}) == {"x": [("世", "界", "杯")]}


def test_texts_that_are_cut_already_stay_as_they_are():
    texts, seeds = ["股市 今天 上涨", "银行 下调 利率", "美股市场 今天"], ["股市", "银行"]
    assert words_to_cut(texts, seeds) == []
    assert flat(westclass_tokens(texts, words_to_cut(texts, seeds))[0]) == ["股市", "今天", "上涨"]


def test_the_longest_seed_counts_and_others_scripts_stay():
    cut = pickle.loads(pickle.dumps(Cutter(["银行", "世界银行", "goal", "c语言"])))
    assert cut.words == ["银行", "世界银行", "c语言"]
    assert cut("The Bank 世界银行 lends").split() == ["The", "Bank", "世界银行", "lends"]
    assert cut("学C语言 too").split() == ["学", "c语言", "too"]


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_texts_without_such_a_script_stay(text, words):
    latin = "".join(one for one in text if one.isascii() or "à" <= one <= "ÿ")
    assert Cutter([*words, "银行"])(latin) == latin
    assert Cutter([word for word in words if word.isascii()])(text) == text
