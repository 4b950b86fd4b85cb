"""The default seed update, against its formula and against what the published one gets wrong."""

import logging
import math

import numpy as np
import pytest

from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.seeds import initial_seeds, pseudo_label, scores
from lops_adapters.conwea.tokens import tokenize
from lops_adapters.conwea.update import SeedWatch, expand, indicativeness, is_candidate, settle
from lops_adapters.pseudo_labels import PseudoLabels

from .toys import corpus_of


def brute(documents, predicted, n_classes):
    """Lift, score and published score of every class and word, from documents and formulas."""
    words = [[word for sentence in document for word in sentence] for document in documents]
    found = {}
    for word in sorted({word for document in words for word in document}):
        df = sum(word in document for document in words)
        rates, documents_with, counts = [], [], []
        for label in range(n_classes):
            members = [words[i] for i in range(len(words)) if predicted[i] == label]
            having = sum(word in document for document in members)
            documents_with.append(having)
            rates.append(having / len(members) if members else 0.0)
            total = sum(document.count(word) for document in members)
            counts.append(total / len(members) if members else 0.0)
        for label in range(n_classes):
            weight = math.log(len(words) / df) * math.tanh(counts[label])
            weight *= documents_with[label] >= 5
            others = [rate for row, rate in enumerate(rates) if row != label]
            lift = rates[label] * len(others) / sum(others) if sum(others) else math.inf
            published = documents_with[label] / df * weight
            found[label, word] = (lift, rates[label] / sum(rates) * weight, published)
    return found


def test_indicativeness_against_the_formula():
    rng = np.random.default_rng(0)
    documents = [
        [rng.choice(list("abcdefgh"), int(rng.integers(1, 5))).tolist() for _ in range(2)]
        for _ in range(80)
    ]
    predicted = rng.choice(3, 80, p=[0.6, 0.3, 0.1])
    corpus = ContextualCorpus(documents, {})
    found = (*indicativeness(corpus, predicted, 4), scores(corpus, predicted, 4))
    for (label, word), expected in brute(documents, predicted, 4).items():
        here = [numbers[label, corpus.places[word]] for numbers in found]
        assert here == pytest.approx(expected, rel=1e-9)
    for score in found[1:]:
        assert (score[:3] > 0).any(axis=1).tolist() == [True, True, False]
        assert (score[3] == 0).all()  # a class that is never predicted


@pytest.mark.parametrize(
    ("word", "fine"),
    [
        ("orbit", True), ("orbit$3", True), ("ice-hockey", True), ("æther", True), ("天文", True),
        ("x", False), ("-x-", False), ("m9v", False), ("1993", False), ("$1", False),
        ("nt", False), ("nt$2", False), ("n", False),
    ],
)  # fmt: skip
def test_candidates(word, fine):
    assert is_candidate(word) == fine


def test_no_part_of_a_contraction_is_a_candidate():
    """As the tokeniser makes them, with either apostrophe."""
    texts = [
        "I can't, won't, don't; they're, we've, he'll, it's, I'd. Get 'em, gonna, lemme, d'ye."
    ]
    tokens = tokenize([*texts, texts[0].replace("'", "’")])
    assert {"nt", "ca", "wo", "em"} <= set(tokens.words)
    assert [word for word in tokens.words if is_candidate(word)] == ["get"]


SPORT = ["goal coach pitch"] * 8
LAW = ["judge court appeal"] * 8
JUNK = ["goal ax9 ax9 ax9 ax9"] * 6


def test_the_users_words_stay_and_are_nobody_elses():
    corpus = corpus_of(*SPORT, *LAW, "x")
    own = {"law": ["judge"], "sport": ["goal", "coach"]}
    wrong = np.array([1] * 8 + [0] * 8 + [0])  # everything the other way round
    found = expand(corpus, own, 1 - wrong, 1, min_lift=1.5)
    assert found["law"][:1] == ["judge"]
    assert found["sport"][:2] == ["goal", "coach"]
    swapped = expand(corpus, own, wrong, 1, min_lift=1.5)
    assert swapped["law"][0] == "judge"
    assert "judge" not in swapped["sport"]
    assert not {"goal", "coach"} & set(swapped["law"])


def test_junk_is_no_seed_word():
    corpus = corpus_of(*SPORT, *LAW, *JUNK, "x")
    predicted = np.array([1] * 8 + [0] * 8 + [1] * 6 + [0])
    found = expand(corpus, {"law": ["judge"], "sport": ["goal"]}, predicted, 2, min_lift=1.5)
    assert "ax9" not in found["sport"]
    assert set(found["law"]) == {"judge", "court", "appeal"}


def test_a_word_of_both_classes_is_left_out_by_its_lift():
    corpus = corpus_of(*["goal said"] * 8, *["judge said"] * 6, *["judge"] * 2, *["x"] * 9)
    predicted = np.array([1] * 8 + [0] * 8 + [0] * 9)
    own = {"law": ["judge"], "sport": ["goal"]}
    assert "said" in expand(corpus, own, predicted, 1, min_lift=1.5)["sport"]
    assert "said" not in expand(corpus, own, predicted, 1, min_lift=9.0)["sport"]


def test_the_number_of_seed_words_counts_the_users():
    texts = [f"goal word{chr(97 + i)}x word{chr(97 + j)}x" for i in range(8) for j in range(8)]
    corpus = corpus_of(*texts, *["judge"] * 8, "x")
    predicted = np.array([1] * 64 + [0] * 9)
    own = {"law": ["judge"], "sport": ["goal", "coach", "pitch"]}
    assert len(expand(corpus, own, predicted, 1, min_lift=1.5)["sport"]) == 5
    many = {**own, "sport": ["goal", *"abcdefg"]}  # more than an iteration allows: all stay
    assert expand(corpus, many, predicted, 1, min_lift=1.5)["sport"] == many["sport"]


def test_the_users_words_settle_on_their_best_sense():
    corpus = corpus_of(*["court$0 goal"] * 8, *["court$1 judge"] * 8, court=2)
    seeds = initial_seeds(corpus, {"law": ["court", "judge"], "sport": ["goal"]})
    predicted = np.array([1] * 8 + [0] * 8)
    assert settle(corpus, seeds, predicted) == {"law": ["court$1", "judge"], "sport": ["goal"]}


@pytest.mark.parametrize(("left", "warned"), [(4, False), (3, True)])
def test_a_class_shrinks_when_less_than_half_is_left(left, warned, caplog):
    corpus = corpus_of(*["goal"] * 8, *["judge"] * 8, *["other"] * 24)
    seeds = {"law": ["judge"], "sport": ["goal"]}
    first = pseudo_label(corpus, seeds)
    rest = np.r_[np.flatnonzero(first.labels == "sport"), np.flatnonzero(first.labels == "law")]
    rest = np.sort(rest[: 8 + left])
    parts = first.positions[rest], first.codes[rest], first.scores[rest]
    watch = SeedWatch(corpus)
    with caplog.at_level(logging.WARNING):
        watch.look("iteration 0", seeds, first)
        watch.look("iteration 1", seeds, PseudoLabels(*parts, 40, first.classes))
    assert (f"law has {left} pseudo-labels (8 at first)" in caplog.text) == warned


def test_a_shrinking_class_and_a_common_word_are_told_once(caplog):
    corpus = corpus_of(*["goal the"] * 8, *["judge the"] * 8, *["the"] * 24)
    watch = SeedWatch(corpus)
    first = {"law": ["judge"], "sport": ["goal"]}
    later = {"law": ["x"], "sport": ["goal", "the"]}
    with caplog.at_level(logging.WARNING):
        watch.look("standard, iteration 0", first, pseudo_label(corpus, first))
        assert not caplog.records
        labels = pseudo_label(corpus, {"law": ["judge"], "sport": ["the"]})
        rest = labels.labels != "law"
        parts = labels.positions[rest], labels.codes[rest], labels.scores[rest]
        fewer = PseudoLabels(*parts, 40, labels.classes)
        for number in (1, 2):
            watch.look(f"standard, iteration {number}", later, fewer)
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("standard, iteration 1: ")
    assert "the seed word the occurs in 100% of the documents" in said
    assert "law has 0 pseudo-labels (8 at first)" in said
