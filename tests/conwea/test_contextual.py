import numpy as np

from lops_adapters.conwea.contextual import ContextualCorpus, contextualise
from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.tokens import tokenize

CENTRES = np.eye(2, dtype=np.float32)


def with_senses(texts, senses, phrases=()):
    """Contextualised texts; ``senses``: word -> the sense of each of its occurrences, in reading
    order.
    """
    tokens = tokenize(texts, phrases)
    sense_id = np.full(len(tokens.word_id), -1, dtype=np.int32)
    for word, ids in senses.items():
        sense_id[tokens.word_id == tokens.words.index(word)] = ids
    return contextualise(tokens, Senses(0.5, dict.fromkeys(senses, CENTRES), sense_id))


def test_words_with_senses_carry_their_number():
    corpus = with_senses(["The court met. A court rose", "", "the", "Court!"], {"court": [0, 1, 1]})
    assert corpus.documents == [[["court$0", "met"], ["court$1", "rose"]], [], [], [["court$1"]]]
    assert corpus.senses == {"court": 2}
    assert len(corpus) == 4
    assert corpus.vocabulary == ["court$0", "court$1", "met", "rose"]


def test_dollars_of_the_text_are_no_senses():
    corpus = with_senses(["US$5 and $100 and us$1 and the us"], {"us": [1, 0, 0]})
    assert corpus.documents == [[["us$1", "5", "100", "us$0", "1", "us$0"]]]
    assert corpus.vocabulary == ["1", "100", "5", "us$0", "us$1"]
    assert corpus.expand("US$5") == []  # cleaned to us5, which no document holds


def test_counts_are_words_in_documents():
    corpus = with_senses(["goal goal cup", "", "cup court court"], {"court": [0, 1]})
    assert corpus.vocabulary == ["court$0", "court$1", "cup", "goal"]
    assert corpus.counts.toarray().tolist() == [[0, 0, 1, 2], [0, 0, 0, 0], [1, 1, 1, 0]]
    assert corpus.places == {"court$0": 0, "court$1": 1, "cup": 2, "goal": 3}


def test_seeds_become_all_their_senses():
    corpus = with_senses(["court court goal picture book"], {"court": [0, 1]}, ["picture book"])
    assert corpus.expand("Court") == ["court$0", "court$1"]
    assert corpus.expand("goal") == ["goal"]
    assert corpus.expand("picture  book") == ["picture_book"]
    assert corpus.expand("tennis") == []


def test_a_sense_that_no_occurrence_has_is_no_seed():
    assert with_senses(["court goal"], {"court": [1]}).expand("court") == ["court$1"]


def test_a_corpus_without_words():
    corpus = ContextualCorpus([[], []], {})
    assert corpus.counts.shape == (2, 0)
