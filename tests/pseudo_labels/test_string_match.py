"""String-Match: hand-made cases for each rule, and a slow reference implementation."""

import string
import tracemalloc
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.pseudo_labels import ENGLISH_STOP_WORDS, STRING_MATCH_STOP_WORDS, string_match

KERAS_SEPARATORS = '!"#%&()*+,-./:;<=>?@[\\]^_{|}~`\t\n'


def labelled(texts, seeds, **options):
    result = string_match(texts, seeds, **options)
    return dict(zip(result.positions.tolist(), result.labels.tolist(), strict=True))


def scored(texts, seeds, **options):
    result = string_match(texts, seeds, **options)
    return dict(zip(result.positions.tolist(), result.scores.tolist(), strict=True))


def transcription(texts, seeds, max_words):
    """The rules one after the other, as plainly as possible."""
    tokenised = []
    for text in texts:
        words = ["".join(c for c in word if c not in string.punctuation) for word in text.split()]
        joined = " ".join(w for w in words if w and w not in STRING_MATCH_STOP_WORDS).lower()
        for separator in KERAS_SEPARATORS:
            joined = joined.replace(separator, " ")
        tokenised.append([token for token in joined.split(" ") if token])
    frequency = Counter(token for tokens in tokenised for token in tokens)
    vocabulary = set(sorted(frequency, key=lambda token: -frequency[token])[:max_words])
    expected = {}
    for row, tokens in enumerate(tokenised):
        counts = Counter(token for token in tokens if token in vocabulary)
        totals = {name: sum(counts[word] for word in set(words)) for name, words in seeds.items()}
        best = max(totals.values())
        if best:
            expected[row] = (
                min(name for name, total in totals.items() if total == best),
                float(best),
            )
    return expected


@pytest.mark.parametrize(
    ("text", "seed", "times"),
    [
        ("gun\tgun\ngun\x0bgun\u00a0gun  gun", "gun", 6),  # any white space splits words
        *((f"same{mark}sex", "samesex", 1) for mark in string.punctuation),
        ("same-sex", "sex", 0),
        ("same\u2013sex", "samesex", 0),  # only ASCII punctuation is deleted
        ("same\u2013sex", "same\u2013sex", 1),
        ("Gun GUN gUn", "gun", 3),
        ("guns begun", "gun", 0),
        *((f"{word} x", word, 0) for word in ("the", "would", "now")),
        *((f"{word.title()} x", word, 1) for word in ("the", "would", "now")),
        ("'the', x", "the", 0),  # punctuation is deleted before stop words are dropped
        ("don't", "dont", 1),
    ],
)
def test_what_a_seed_matches(text, seed, times):
    assert scored([text], {"one": [seed]}) == ({0: float(times)} if times else {})


def test_the_stop_words_are_the_classic_list():
    assert len(ENGLISH_STOP_WORDS) == 179
    assert {"would"} == STRING_MATCH_STOP_WORDS - ENGLISH_STOP_WORDS


class TestScore:
    def test_a_seed_named_twice_counts_once(self):
        assert scored(["car gun gun"], {"rec": ["car", "car", "car"], "talk": ["gun"]}) == {0: 2.0}

    def test_a_tie_goes_to_the_alphabetically_first_class(self):
        seeds = {"b": ["two"], "a": ["one"], "B": ["three"]}
        assert labelled(["two one"], seeds) == {0: "a"}
        assert labelled(["two one three"], seeds) == {0: "B"}


class TestVocabulary:
    def test_ties_at_the_cap_are_cut_in_corpus_order(self):
        once, twice = [f"once{i}" for i in range(500)], [f"twice{i}" for i in range(500)]
        text = (
            " ".join(word for pair in zip(once, twice, strict=True) for word in pair)
            + " "
            + " ".join(twice)
        )
        result = string_match([text], {"x": once + twice}, max_words=600)
        assert result.unmatched_seeds == {"x": tuple(once[100:])}

    def test_the_default_is_the_released_size(self):
        fillers = [f"w{i}" for i in range(149_998)]
        assert labelled([" ".join(fillers), "gun"], {"talk": ["gun"]}) == {1: "talk"}
        assert labelled([" ".join(fillers), "more", "gun"], {"talk": ["gun"]}) == {2: "talk"}
        assert labelled([" ".join([*fillers, "another"]), "gun"], {"talk": ["gun"]}) == {}
        assert labelled(
            [" ".join([*fillers, "another"]), "gun"], {"talk": ["gun"]}, max_words=None
        ) == {1: "talk"}

    def test_it_needs_room_for_a_word(self):
        with pytest.raises(LopsError, match=r"max_words is 0; pass a number from 1, or None"):
            string_match(["gun"], {"talk": ["gun"]}, max_words=0)


class TestPhrases:
    @pytest.mark.parametrize(
        ("texts", "seeds", "scores"),
        [
            (["the World-wide war", "a World War.", "war world"], ["world war"], {1: 1}),
            (["Rachel Kirsty", "rachel AND Kirsty"], ["rachel and kirsty"], {1: 1}),  # a stop word
            (["M/M romance, again", "m m romance"], ["m/m Romance"], {0: 1}),
            (["underworld war", "world warfare"], ["world war"], {}),  # words are not cut
            (["ho ho ho"], ["ho ho"], {0: 2}),  # every start counts once
            (["World War II, world war"], ["world war", "world war ii", "war"], {0: 5}),
        ],
    )
    def test_consecutive_words_in_any_case(self, texts, seeds, scores):
        assert scored(texts, {"x": seeds}) == scores

    def test_two_spellings_of_a_phrase_are_one_seed(self):
        result = string_match(
            ["world war"], {"history": ["World War", "world  war"], "other": ["world war"]}
        )
        assert result.scores.tolist() == [1.0]
        assert result.unmatched_seeds == {}

    def test_phrases_ignore_the_vocabulary(self):
        assert labelled(["aa aa world war"], {"history": ["world war"]}, max_words=1) == {
            0: "history"
        }


class TestWarning:
    def test_it_names_each_seed_that_cannot_match_and_the_spelling_that_would(self):
        seeds = {"rights": ["same-sex", "gay"], "rec": ["Car", "$$"]}
        with pytest.warns(LopsWarning) as caught:
            string_match(["same-sex gay", "Car $$"], seeds)
        assert len(caught) == 1
        message = str(caught[0].message)
        assert "'same-sex' of class 'rights' ('samesex' would)" in message
        assert "'Car' of class 'rec' ('car' would)" in message
        assert "'$$' of class 'rec' (nothing is left" in message
        assert "'gay'" not in message
        assert caught[0].filename == __file__

    @pytest.mark.parametrize("seed", ["absent", "the", "high school"])
    def test_a_seed_absent_by_chance_is_no_reason(self, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = string_match(["gun"], {"x": [seed]})
        assert result.unmatched_seeds == {"x": (seed,)}


class TestResult:
    def test_shapes_types_and_order(self):
        result = string_match(
            ["gun", "-", "car"], {"talk": ["gun"], "rec": ["car", "bike"], "misc": []}
        )
        assert result.positions.dtype == np.int64
        assert result.positions.tolist() == [0, 2]
        assert result.labels.dtype == object
        assert result.labels.tolist() == ["talk", "rec"]
        assert all(type(label) is str for label in result.labels)
        assert result.scores.dtype == np.float64
        assert (result.n_documents, len(result)) == (3, 2)
        assert result.classes == ("talk", "rec", "misc")
        assert result.counts == {"talk": 1, "rec": 1, "misc": 0}
        assert result.empty_classes == ("misc",)
        assert result.unmatched_seeds == {"rec": ("bike",)}

    def test_nothing_matched(self):
        result = string_match(["x", "y"], {"talk": ["gun"]})
        assert (len(result), result.coverage, result.empty_classes) == (0, 0.0, ("talk",))
        assert result.positions.dtype == np.int64
        assert result.labels.dtype == object


class TestBadInput:
    @pytest.mark.parametrize(
        ("texts", "seeds", "options", "message"),
        [
            ("gun", {"a": ["gun"]}, {}, r"texts is one string; pass a sequence"),
            (
                ["gun", None],
                {"a": ["gun"]},
                {},
                r"document 1 is None, a NoneType; every document must be a string",
            ),
            (iter(["gun", 3.0]), {"a": ["gun"]}, {}, r"document 1 is 3\.0, a float"),
            ([], {"a": ["gun"]}, {}, r"texts holds no document"),
            (["gun"], ["gun"], {}, r"seeds is a list; pass a mapping"),
            (["gun"], {"a": "gun"}, {}, r"class 'a' are the string 'gun'; pass a list"),
            (["gun"], {"a": [""]}, {}, r"class 'a' has the empty seed word"),
            (["gun"], {"a": [3]}, {}, r"class 'a' has the seed word 3, a int"),
            (["gun"], {"a": []}, {}, r"seeds holds no seed word"),
            (["gun"], {1: ["gun"]}, {}, r"class name 1 is a int"),
        ],
    )
    def test_it_is_one_clear_error(self, texts, seeds, options, message):
        with pytest.raises(LopsError, match=message):
            string_match(texts, seeds, **options)


words = st.sampled_from(
    [
        "gun", "car", "the", "The", "Gun", "c-a-r", "space", "it's", "don't", "x", "y!", "$5", "Σ",
        "éa", "!!",
    ]
)  # fmt: skip
documents = st.lists(
    st.lists(words | st.text(max_size=4), max_size=8).map(" ".join), min_size=1, max_size=6
)
SEEDS = {"talk": ["gun", "the"], "rec": ["car", "x"], "sci": ["space", "car", "5", "σ"]}


class TestAgainstTranscription:
    @given(documents, st.integers(1, 12))
    def test_labels_and_scores_agree(self, texts, max_words):
        result = string_match(texts, SEEDS, max_words=max_words)
        found = zip(
            result.positions.tolist(), result.labels.tolist(), result.scores.tolist(), strict=True
        )
        assert {row: (label, score) for row, label, score in found} == transcription(
            texts, SEEDS, max_words
        )

    @given(documents, st.randoms())
    def test_the_order_of_classes_and_seeds_does_not_matter(self, texts, random):
        items = [(name, random.sample(seeds, len(seeds))) for name, seeds in SEEDS.items()]
        random.shuffle(items)
        assert labelled(texts, dict(items)) == labelled(texts, SEEDS)


def test_a_long_stream_is_never_held():
    def stream(n):
        for i in range(n):
            seed = "gun" if i % 2 else "car"
            yield f"w{i % 997} filler{i % 13} many words pass and leave no trace at all {seed}"

    string_match(stream(10), {"talk": ["gun"], "rec": ["car"]})
    tracemalloc.start()
    result = string_match(stream(5_000), {"talk": ["gun"], "rec": ["car"]})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.counts == {"talk": 2_500, "rec": 2_500}
    # The raw texts alone are over 100 bytes each, their tokens over 600; found are 155.
    assert peak / 5_000 < 200
