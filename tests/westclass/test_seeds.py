import math
import warnings
from collections import Counter

import numpy as np
import pytest

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.encoders.words import WordVectors
from lops_adapters.westclass.seeds import seed_pieces, seed_vectors, words_of_documents
from lops_adapters.westclass.tokens import flat, tokenize

KNOWN = {
    "law", "enforcement", "judge", "new", "york", "same", "sex", "opera", "2", "5.50", "n't", "'s",
    ".",
}  # fmt: skip


def pieces_of(*seeds, known=KNOWN):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsWarning)
        return seed_pieces({"x": seeds}, known)["x"]


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        ("judge", ("judge",)),
        (" Judge ", ("judge",)),
        ("Law Enforcement", ("law", "enforcement")),
        ("law_enforcement", ("law", "enforcement")),
        ("same-sex", ("same", "sex")),
        ("law, judge!", ("law", "judge")),
        ("judge's", ("judge",)),
        ("5.50", ("5.50",)),
        ("opera 2.0", ("opera",)),
        ("new new york", ("new", "york")),
        ("law unheard-of", ("law",)),
    ],
)
def test_a_seed_is_cut_into_words_with_a_vector(seed, expected):
    assert pieces_of(seed) == [expected]


def test_a_seed_that_is_a_token_as_it_stands_is_not_cut():
    assert pieces_of(" Law_Enforcement ", known={*KNOWN, "law_enforcement"}) == [
        ("law_enforcement",)
    ]
    assert pieces_of("O'Reilly", known={"o'reilly"}) == [("o'reilly",)]


@pytest.mark.parametrize("seed", [".", "?!", "", "  ", "'s", "unheard", "..."])
def test_a_seed_without_a_word_with_a_vector(seed):
    with pytest.raises(LopsError, match="no seed of 1 of 1 classes is a word with a vector"):
        seed_pieces({"x": [seed]}, KNOWN - {"'s"})


def test_each_seed_counts_once():
    assert pieces_of("judge", "Judge", "judge unheard", "law") == [("judge",), ("law",)]
    assert len(pieces_of("new york", "york new", "New York")) == 1
    assert pieces_of("law law", "law") == [("law",)]


def test_what_is_left_out_is_named():
    with pytest.warns(
        LopsWarning, match=r"left out: a: unheard, law school, \?!; c: x1$"
    ) as caught:
        seed_pieces(
            {"a": ["judge", "unheard", "law school", "?!"], "b": ["opera"], "c": ["law", "x1"]},
            KNOWN,
        )
    assert len(caught) == 1
    assert caught[0].filename == __file__
    seed_pieces(
        {"a": ["judge", "judge's", "new-york"]}, KNOWN
    )  # pytest makes a warning here an error


def test_every_class_without_a_seed_is_named():
    with pytest.raises(
        LopsError,
        match=(
            r"no seed of 3 of 4 classes .*\(a: unheard, x1; c: nothing; d: \.\); .* lower "
            "--min-count"
        ),
    ):
        seed_pieces({"a": ["unheard", "x1"], "b": ["opera"], "c": [], "d": ["."]}, KNOWN)


WORDS = ("judge", "law", "new", "opera", "york")
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))


def test_vectors_of_seeds():
    first, second = seed_vectors({"x": [("new", "york"), ("judge",)], "y": [("opera",)]}, VECTORS)
    mean = (VECTORS.vectors[2] + VECTORS.vectors[4]) / 2
    expected = np.stack(
        [mean / np.linalg.norm(mean), VECTORS.vectors[0] / np.linalg.norm(VECTORS.vectors[0])]
    )
    np.testing.assert_allclose(first.vectors, expected, atol=1e-6)
    assert (first.words, second.words) == ([0], [3])
    assert second.vectors.shape == (1, 4)
    assert first.vectors.dtype == np.float64
    np.testing.assert_allclose(np.linalg.norm(first.vectors, axis=1), 1, atol=1e-12)


def slow_words(documents, labels, classes, known, stop_words):
    """Ten words a class from the formula: mean over its documents of (1 + ln tf) * (ln((1 + n) / (1
    + df)) + 1), at length 1.
    """
    texts = [
        [w for w in flat(d) if w in known and len(w) > 1 and w[0].isalnum() and "'" not in w]
        for d in documents
    ]
    texts = [[w for w in text if w not in stop_words] for text in texts]
    n, found = len(texts), {}
    df = Counter(word for text in texts for word in set(text))
    kept = {word for word in df if df[word] <= max(1, math.floor(n / 5))}
    for label in classes:
        total = Counter()
        own = [text for text, given in zip(texts, labels, strict=True) if given == label]
        for text in own:
            weight = {
                word: (1 + math.log(tf)) * (math.log((1 + n) / (1 + df[word])) + 1)
                for word, tf in Counter(text).items()
                if word in kept
            }
            length = math.sqrt(sum(value**2 for value in weight.values()))
            for word, value in weight.items():
                total[word] += value / length / len(own)
        found[label] = sorted(total, key=lambda word: (-round(total[word], 9), word))[:10]
    return found


@pytest.mark.parametrize("n", [3, 9, 10, 14, 25, 40])
def test_words_of_documents_against_the_formula(n):
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    rng = np.random.default_rng(n)
    vocabulary = [f"w{i}" for i in range(60)] + ["the", "of", "x", "5.50", "n't", ".", "rare"]
    documents = [
        [rng.choice(vocabulary, int(size)).tolist() for size in rng.integers(0, 9, 3)]
        for _ in range(n)
    ]
    labels = ["b", "a", "c", *rng.choice(["a", "b", "c"], n - 3).tolist()]
    known = set(vocabulary) - {"rare"}
    found = words_of_documents(documents, labels, ("c", "a", "b"), known)
    assert list(found) == ["c", "a", "b"]
    assert found == slow_words(documents, labels, ("c", "a", "b"), known, ENGLISH_STOP_WORDS)
    assert max(map(len, found.values())) == (10 if n > 3 else 8)
    assert all(type(word) is str for word in found["a"])


def test_words_that_score_the_same_go_by_the_alphabet():
    documents = tokenize(["zebra yak xerus", "cow bee ant"])
    known = {word for document in documents for word in flat(document)}
    assert words_of_documents(documents, ["z", "a"], ("z", "a"), known) == {
        "z": ["xerus", "yak", "zebra"],
        "a": ["ant", "bee", "cow"],
    }


def test_rounding_does_not_rank():
    """Two documents of the same counts in another order: sums of squares that differ in the last
    digit, words that score the same.
    """
    counts = [1, 2, 3, 5, 7, 11, 13]
    rng = np.random.default_rng(0)
    for _ in range(50):
        names = [[f"{letter}{i}" for i in range(7)] for letter in ("k", "m")]
        documents, by_count = [], {}
        for own in names:
            order = rng.permutation(7)
            documents.append(
                [[word for word, i in zip(own, order, strict=True) for _ in range(counts[i])]]
            )
            for word, i in zip(own, order, strict=True):
                by_count.setdefault(counts[i], []).append(word)
        found = words_of_documents(
            [*documents, [["team"]]], ["a", "a", "b"], ("a", "b"), {*names[0], *names[1], "team"}
        )
        assert (
            found["a"]
            == [
                word for count in sorted(by_count, reverse=True) for word in sorted(by_count[count])
            ][:10]
        )


def test_a_document_without_a_word_counts_in_the_mean_and_is_no_error():
    documents = tokenize(["goal", "", "vote"])
    assert words_of_documents(documents, ["s", "s", "p"], ("s", "p"), {"goal", "vote"}) == {
        "s": ["goal"],
        "p": ["vote"],
    }


@pytest.mark.parametrize(
    ("texts", "labels", "words"),
    [
        (
            ["goal", "vote"],
            ["s", "p"],
            "no labelled document for a, b; wanted at least one per class",
        ),
        (
            ["the of", "and", "!", "x"],
            ["s", "p", "a", "b"],
            "the 4 labelled documents hold no word that is frequent",
        ),
        (
            ["goal", "the", "vote", "of"],
            ["s", "p", "a", "b"],
            "the labelled documents of p, b hold no word of their own",
        ),
        (["goal"] * 4, ["s", "p", "a", "b"], "the 4 labelled documents hold no word"),
        ([], [], "no labelled document for s, p, a, b"),
    ],
)
def test_documents_that_say_nothing(texts, labels, words):
    with pytest.raises(LopsError, match=words):
        words_of_documents(
            tokenize(texts),
            labels,
            ("s", "p", "a", "b"),
            {"goal", "vote", "the", "of", "and", "!", "x"},
        )


def test_words_of_documents_are_seeds():
    documents = tokenize(["goal हिन्दी 5.50", "vote 5.70"])
    known = {"goal", "vote", "5.50", "5.70", "हिन्दी"}
    found = words_of_documents(documents, ["s", "p"], ("s", "p"), known)
    assert found == {"s": ["5.50", "goal", "हिन्दी"], "p": ["5.70", "vote"]}
    assert seed_pieces(found, known) == {
        label: [(word,) for word in words] for label, words in found.items()
    }
