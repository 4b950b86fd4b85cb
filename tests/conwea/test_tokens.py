import numpy as np
import pytest

from lops_adapters.conwea.tokens import clean, phrases_in, seed_word, tokenize


def sentences(corpus, of="words"):
    """Documents as sentences of words (None for tokens without one), or of tokens as written."""
    ids, names = (
        (corpus.word_id, corpus.words) if of == "words" else (corpus.surface_id, corpus.surface)
    )
    found = [[] for _ in range(corpus.n_documents)]
    for owner, begin, end in zip(
        corpus.sentence_document, corpus.sentence_start[:-1], corpus.sentence_start[1:], strict=True
    ):
        found[owner].append([names[i] if i >= 0 else None for i in ids[begin:end]])
    return found


def test_sentences_tokens_and_words():
    corpus = tokenize(["The bank rose. It wasn't the river's bank!", "Banks fell"])
    assert sentences(corpus, "surface") == [
        [["The", "bank", "rose", "."], ["It", "was", "n't", "the", "river", "'s", "bank", "!"]],
        [["Banks", "fell"]],
    ]
    assert sentences(corpus) == [
        [[None, "bank", "rose", None], [None, None, "nt", None, "river", None, "bank", None]],
        [["banks", "fell"]],
    ]
    assert corpus.sentence_document.tolist() == [0, 0, 1]
    assert corpus.sentence_start.tolist() == [0, 4, 12, 14]
    assert (corpus.surface_id.dtype, corpus.word_id.dtype, corpus.sentence_start.dtype) == (
        np.int32,
        np.int32,
        np.int64,
    )


def test_words_are_the_same_with_and_without_capitals_and_punctuation():
    corpus = tokenize(["Same-sex and samesex, U.S. and us"])
    assert sentences(corpus) == [[["samesex", None, "samesex", None, "us", None, "us"]]]


def test_documents_without_a_word_keep_their_number():
    corpus = tokenize(["", "goal", "   \n", "...", "the"])
    assert corpus.n_documents == 5
    assert sentences(corpus) == [[], [["goal"]], [], [[None]], [[None]]]
    assert corpus.sentence_document.tolist() == [1, 3, 4]


@pytest.mark.parametrize("texts", [[], [""], ["the", "!?"]])
def test_nothing_to_find(texts):
    corpus = tokenize(texts)
    assert corpus.words == ()
    assert (corpus.word_id < 0).all()
    assert corpus.n_documents == len(texts)


def test_abbreviations_end_no_sentence():
    corpus = tokenize(
        ["Mr. Smith of the U.S. Senate met Dr. Jones at 3 p.m. on Jan. 3. It was late. They left."]
    )
    assert [len(document) for document in sentences(corpus)] == [3]
    assert sentences(corpus)[0][0][:3] == ["mr", "smith", None]


def test_phrases_become_one_word_the_longest_first():
    corpus = tokenize(
        ["World War II began. The world war ended; a world, war."], ["world war", "world war ii"]
    )
    words = [word for sentence in sentences(corpus)[0] for word in sentence if word]
    assert words == ["world_war_ii", "began", "world_war", "ended", "world", "war"]
    assert "World War II" in corpus.surface
    assert "world war" in corpus.surface


def test_a_phrase_may_hold_stop_words_and_end_a_sentence_but_not_cross_it():
    corpus = tokenize(
        ["I read the hunger games", "Of the hunger. Games came"], ["the hunger games"]
    )
    assert sentences(corpus) == [
        [[None, "read", "the_hunger_games"]],
        [[None, None, "hunger", None], ["games", "came"]],
    ]


def test_phrases_do_not_overlap():
    corpus = tokenize(["new york times square"], ["new york times", "times square"])
    assert sentences(corpus) == [[["new_york_times", "square"]]]


def test_names_of_seeds():
    assert seed_word("  Same-Sex  ") == "samesex"
    assert seed_word("m/m romance group") == "mm_romance_group"
    assert seed_word("rock & roll") == "rock_roll"
    assert phrases_in({"a": ["one", "two words"], "b": ["three short words"]}) == [
        "two words",
        "three short words",
    ]


def test_no_word_holds_a_separator():
    corpus = tokenize(["It cost US$5 or $100, snake_case and a$1 too $$ €7"])
    assert not any("$" in word or "_" in word for word in corpus.words)
    assert {"100", "us", "snakecase"} <= set(corpus.words)
    assert clean("$100_") == "100"


def test_quotes_reach_the_encoder_as_quotes():
    corpus = tokenize(['He said "river banks" twice.'])
    assert [corpus.surface[i] for i in corpus.surface_id] == [
        "He", "said", '"', "river", "banks", '"', "twice", ".",
    ]  # fmt: skip
