import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.names import check_names, doubts, name_parts, name_vectors

WORDS = ("court", "enforcement", "estate", "gallery", "gap", "law", "museum")
STATIC = np.float32(np.random.default_rng(0).normal(size=(len(WORDS), 16)))
STATIC[WORDS.index("gap")] = 0  # in the corpus, but without a vector
VOCABULARY = {word: number for number, word in enumerate(WORDS)}


@pytest.fixture(scope="module")
def encoder(bert):
    return ContextEncoder(bert, layers=1, max_pieces=32, precision="float32")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Sports", ["sports"]),
        ("law enforcement", ["law", "enforcement"]),
        ("law_enforcement", ["law", "enforcement"]),
        ("rec.sport.hockey", ["rec", "sport", "hockey"]),
        ("Sci-Fi & Fantasy", ["sci", "fi", "fantasy"]),
        ("real estate", ["real", "estate"]),
        ("united_kingdom", ["united", "kingdom"]),
        ("Caf\u00e9", ["cafe"]),
        ("5 stars", ["5", "stars"]),
        ("--", []),
        ("", []),
    ],
)
def test_parts_of_names(name, parts):
    assert name_parts(name) == parts


def vectors_of(names, encoder):
    return name_vectors(names, VOCABULARY, STATIC, encoder)


def row(word):
    return STATIC[VOCABULARY[word]]


def test_names_the_corpus_holds(encoder, monkeypatch):
    monkeypatch.setattr(ContextEncoder, "encode", None)  # not needed
    found = vectors_of(["court", "law_enforcement", "estate", "gallery-zebra"], encoder)
    assert found.source == ("corpus", "parts", "corpus", "parts")
    assert found.words == ((0,), (5, 1), (2,), (3,))
    assert (found.vectors.dtype, found.vectors.shape) == (np.float32, (4, 16))
    np.testing.assert_allclose(found.vectors[1], (row("law") + row("enforcement")) / 2, atol=1e-6)
    for number, word in ((0, "court"), (2, "estate"), (3, "gallery")):
        assert (found.vectors[number] == row(word)).all()


def test_a_word_that_a_name_repeats_counts_once(encoder):
    found = vectors_of(["law law court", "museum"], encoder)
    assert found.words[0] == (5, 0)
    np.testing.assert_allclose(found.vectors[0], (row("law") + row("court")) / 2, atol=1e-6)


def test_names_the_corpus_lacks(encoder, bert):
    """Their vector is that of the name in a sentence, averaged over its word pieces; a word without
    a vector is lacking too.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    found = vectors_of(["zebra-fish", "court", "gap"], encoder)
    assert found.source == ("template", "corpus", "template")
    assert found.words == ((), (0,), ())
    model, tokenizer = AutoModel.from_pretrained(bert).eval(), AutoTokenizer.from_pretrained(bert)
    for number, name in ((0, ["zebra", "fish"]), (2, ["gap"])):
        before, within, after = (
            [
                piece
                for word in words
                for piece in tokenizer(word, add_special_tokens=False)["input_ids"]
            ]
            for words in (["this", "document", "is", "about"], name, ["."])
        )
        ids = [tokenizer.cls_token_id, *before, *within, *after, tokenizer.sep_token_id]
        with torch.inference_mode():
            hidden = model(torch.tensor([ids])).last_hidden_state[0].numpy()
        begin = 1 + len(before)
        np.testing.assert_allclose(
            found.vectors[number], hidden[begin : begin + len(within)].mean(axis=0), atol=1e-4
        )


def test_names_of_which_the_corpus_holds_the_same_words(encoder):
    """What tells "law zebra" from "law fish" and "law" is not in the corpus: only "law" itself
    stays what it is.
    """
    found = vectors_of(["law zebra", "law fish", "law", "court fish"], encoder)
    assert found.source == ("template", "template", "corpus", "parts")
    assert found.words == ((), (), (5,), (0,))
    assert (found.vectors[2] == row("law")).all()
    assert np.abs(found.vectors[0] - found.vectors[1]).max() > 1e-3


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["law"], "found 1 class; wanted at least two"),
        ([], "found 0 class"),
        (["law", "--"], "class names without a word: '--'"),
        (["law", ""], "class names without a word: ''"),
        (["Law", "court", "law."], "the class names 'Law', 'law.' are the same words"),
        (["law_enforcement", "law-enforcement"], "are the same words"),
        (["gun control", "control, gun"], "'gun control', 'control, gun' are the same words"),
        (["Estate", "estate"], "are the same words"),
        (["law", "law"], "'law', 'law' are the same words"),
    ],
)
def test_names_that_will_not_do(names, words):
    with pytest.raises(LopsError, match=words):
        check_names(names)


def test_doubtful_names_are_named_with_their_words():
    words = [["goal", "match"], ["short", "long"], [f"word{i}" for i in range(10)]]
    sources = ["corpus", "template", "parts"]
    few, none = "few words go together with the class name", "no text holds the class name"
    found = list(doubts(["sports", "foo", "law order"], sources, words, 150))
    assert [message.partition(";")[0] for message in found] == [
        f"{none} foo (short, long)",
        f"{few} sports (goal, match)",
    ]
    assert found[0].endswith("name it by a common word of its texts (--names)")
    found = doubts(["sports", "foo"], ["corpus", "corpus"], words[:2], 99)
    assert not list(found)  # a corpus of few words has no more to give
