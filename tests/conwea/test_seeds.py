import numpy as np
import pytest

from lops_adapters.conwea.seeds import (
    check_seeds,
    disambiguate,
    expand,
    initial_seeds,
    pseudo_label,
    scores,
    seed_count,
)
from lops_adapters.core import LopsError, LopsWarning

from .toys import corpus_of


def test_pseudo_labels_count_seeds():
    corpus = corpus_of(
        "goal goal film", "film x", "", "nothing here", "goal film film goal", "goal"
    )
    labels = pseudo_label(corpus, {"sport": ["goal"], "arts": ["film"]})
    assert labels.positions.tolist() == [0, 1, 4, 5]
    # of the tie in document 4 the alphabet decides
    assert labels.labels.tolist() == ["sport", "arts", "arts", "sport"]
    assert labels.scores.tolist() == [2, 1, 2, 1]
    assert labels.coverage == 4 / 6
    assert labels.classes == ("sport", "arts")


def test_a_seed_of_two_classes_counts_for_both_and_all_seeds_of_a_class_add_up():
    corpus = corpus_of("court court racket", "court judge", "court")
    labels = pseudo_label(corpus, {"sport": ["court", "racket"], "law": ["court", "judge"]})
    assert labels.labels.tolist() == ["sport", "law", "law"]
    assert labels.scores.tolist() == [3, 2, 1]


def test_a_seed_named_twice_counts_once():
    corpus = corpus_of("a b", "b", "a")
    assert pseudo_label(corpus, {"x": ["a", "a"], "y": ["b"]}).scores.tolist() == [1, 1, 1]
    assert initial_seeds(corpus, {"x": ["A", "a"], "y": ["b"]})["x"] == ["a"]


def test_fewer_than_two_classes_labelled():
    corpus = corpus_of("goal", "goal")
    with pytest.raises(
        LopsError,
        match=r"2 of 2 documents got a pseudo-label, all for \['sport'\]; .* occur for arts",
    ):
        pseudo_label(corpus, {"sport": ["goal"], "arts": ["film"]})


def test_first_seeds_are_all_senses_of_what_occurs():
    corpus = corpus_of("court$0 court$1 goal", "court$1", court=2)
    assert initial_seeds(
        corpus, {"sport": ["Court", "goal", "tennis"], "law": ["court"], "arts": []}
    ) == {"arts": [], "law": ["court$0", "court$1"], "sport": ["court$0", "court$1", "goal"]}


def test_hopeless_seeds_are_refused():
    corpus = corpus_of("goal film", "tennis film", "goal")
    with pytest.raises(
        LopsError, match=r"none of the seed words occurs in the corpus \(law: judge, sport: rugby\)"
    ):
        check_seeds(corpus, {"sport": ["rugby"], "law": ["judge"]})
    with pytest.raises(LopsError, match="no seed word occurs twice"):
        check_seeds(corpus, {"sport": ["tennis"], "arts": ["tennis"]})
    with pytest.raises(LopsError, match="wanted at least two classes"), pytest.warns(LopsWarning):
        check_seeds(corpus, {"sport": ["goal"], "arts": ["painting"]})


def test_lacking_seeds_are_named():
    corpus = corpus_of("goal film", "film", "goal")
    with pytest.warns(LopsWarning, match=r"^seed words that the corpus lacks: sport: rugby$"):
        found = check_seeds(corpus, {"sport": ["goal", "rugby"], "arts": ["film"]})
    assert len(found) == 3
    with pytest.warns(
        LopsWarning, match=r"lacks: law: judge; no pseudo-label can be made for law$"
    ):
        check_seeds(corpus, {"sport": ["goal"], "arts": ["film"], "law": ["judge"]})
    with pytest.warns(
        LopsWarning, match=r"^classes without seed words; no pseudo-label can be made for law$"
    ):
        check_seeds(corpus, {"sport": ["goal"], "arts": ["film"], "law": []})
    check_seeds(
        corpus, {"sport": ["goal"], "arts": ["film"]}
    )  # pytest makes a warning here an error


def test_five_documents_of_the_class_are_needed():
    corpus = corpus_of(*["a"] * 5, *["b"] * 5, "x")
    for members, positive in ((5, True), (4, False)):
        predicted = np.array([0] * members + [1] * (11 - members))
        assert (scores(corpus, predicted, 2)[0, corpus.places["a"]] > 0) == positive


SEEDS = {"law": ["court$0", "court$1", "judge"], "sport": ["court$0", "court$1", "bat$0", "bat$1"]}
AMBIGUOUS = corpus_of("court$0 court$1 judge bat$0 bat$1", court=2, bat=2)


def indicative(corpus, **values):
    """Scores, (classes in order, vocabulary), 0 where not given: {class: {word: score}}."""
    found = np.zeros((len(values), len(corpus.vocabulary)))
    for row, label in enumerate(sorted(values)):
        for word, value in values[label].items():
            found[row, corpus.places[word]] = value
    return found


def test_the_best_sense_of_each_seed_stays():
    found = indicative(
        AMBIGUOUS,
        law={"court$0": 1, "court$1": 2},
        sport={"court$0": 3, "court$1": 1, "bat$0": 0.5, "bat$1": 0.5},
    )
    assert disambiguate(AMBIGUOUS, SEEDS, found) == {
        "law": ["court$1", "judge"],
        "sport": ["court$0", "bat$0"],
    }


def test_seeds_of_which_no_sense_scores_keep_all_or_are_lost():
    found = indicative(AMBIGUOUS, law={"court$1": 2}, sport={"court$0": 3})
    assert disambiguate(AMBIGUOUS, SEEDS, found)["sport"] == ["court$0", "bat$0", "bat$1"]
    assert disambiguate(AMBIGUOUS, SEEDS, found, faithful=True) == {
        "law": ["court$1", "judge"],
        "sport": ["court$0"],
    }


@pytest.mark.parametrize(
    ("documents", "counts"),
    [
        (100, [5, 10, 11, 11, 11]),
        (1000, [5, 10, 15, 17, 17]),
        (5000, [5, 10, 15, 20, 21]),
        (1, [0] * 5),
        (0, [0] * 5),
        (2, [1] * 5),
    ],
)
def test_number_of_seeds(documents, counts):
    assert [seed_count(iteration, documents) for iteration in range(1, 6)] == counts


WORDS = corpus_of("a b c d e f g h")


def expanded(iteration=1, predicted=(0,) * 50 + (1,) * 50, faithful=False, **values):
    return expand(
        WORDS,
        {"x": ["old"], "y": ["older"]},
        indicative(WORDS, **values),
        np.array(predicted),
        iteration,
        faithful=faithful,
    )


def test_seeds_are_replaced_by_the_most_indicative_words():
    found = expanded(x=dict(zip("abcdef", (1, 2, 3, 4, 5, 6), strict=True)), y={"g": 1, "h": 2})
    assert found == {"x": ["f", "e", "d", "c", "b"], "y": ["h", "g"]}
    assert expanded(2, x=dict(zip("abcdef", (1, 2, 3, 4, 5, 6), strict=True)), y={"g": 1})[
        "x"
    ] == list("fedcba")


def test_ties_go_by_the_alphabet():
    assert expanded(x=dict.fromkeys("hgfedc", 1), y={"a": 1})["x"] == list("cdefg")


def test_words_without_a_score_are_no_seeds():
    assert expanded(x={"c": 1}, y={"a": 1}) == {"x": ["c"], "y": ["a"]}
    assert expanded(x={"c": 1}, y={"a": 1}, faithful=True) == {
        "x": ["c", "b", "d", "e"],
        "y": ["a"],
    }


def test_a_word_of_two_classes_goes_to_the_larger_score():
    assert expanded(x={"a": 1, "b": 2}, y={"a": 2, "b": 1, "c": 1}) == {"x": ["b"], "y": ["a", "c"]}
    # of equals to the first class
    assert expanded(x={"a": 1}, y={"a": 1, "b": 1}) == {"x": ["a"], "y": ["b"]}


def test_a_starving_class_keeps_its_seeds():
    assert expanded(x={"a": 1}, y={})["y"] == ["older"]
    assert expanded(x={"a": 1}, y={"a": 2}) == {"x": ["old"], "y": ["a"]}
    assert expanded(predicted=(0,) * 100, x={"a": 1}, y={"b": 1})["y"] == ["older"]
    assert expanded(predicted=(0,) * 99 + (1,), x={"a": 1}, y={"b": 1}, faithful=True)["y"] == []
    assert expanded(predicted=(0,) * 100, x={"a": 1}, y={"b": 1}, faithful=True)["y"] == ["older"]
