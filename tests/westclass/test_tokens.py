import random
import string
import time
import unicodedata

import pytest

from lops_adapters.westclass.tokens import PAD, flat, padded, shape, tokenize, word_counts


def words(text, **options):
    return flat(tokenize([text], **options)[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't CAN'T won’t", "do n't ca n't wo n't"),
        ("It's we've I'm you're he'd they'll", "it 's we 've i 'm you 're he 'd they 'll"),
        ("IT’S the 90's", "it 's the 90 's"),
        ("n't 's", "n't 's"),
        ("O'Reilly 'more' dogs' y'all d'être", "o reilly more dogs y all d être"),
        ("$5.50 1,000,000 3. 4, 1.2.3 .5", "5.50 1,000,000 3 . 4 , 1.2.3 . 5"),
        ("same-sex law_enforcement __x__ a/b", "same sex law enforcement x a b"),
        ("v1.5 mp3 2nd", "v1 . 5 mp3 2nd"),
        ('He said: "yes" (no); #tag', 'he said " yes " ( no ) tag'),
        (
            "From: j.smith@cs.edu (J. Smith)\nSubject: Re: [x] y\n> z",
            "from j . smith cs . edu ( j . smith ) subject re x y z",
        ),
        ("a\x00b\x1bc\td\ufeffe\u200bf", "a b c d e f"),
        ("Straße ΣΊΣΥΦΟΣ Москва", "straße σίσυφος москва"),
        ("हिन्दी भाषा தமிழ்", "हिन्दी भाषा தமிழ்"),
        ("cafe\u0301 caf\u00e9 İstanbul", "caf\u00e9 caf\u00e9 i\u0307stanbul"),
        ("日本語。テスト", "日本語 テスト"),
        ("😀 — … €", ""),
        ("", ""),
        (" \n\t", ""),
    ],
)
def test_words_numbers_and_marks(text, expected):
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    "piece", ["a", "1", "1.", "1,a", "n'", "'", "an't", "a_", ".", "(", "ह\u093e", "a\u0301\u0302"]
)
@pytest.mark.parametrize("faithful", [False, True])
def test_long_texts_take_linear_time(piece, faithful):
    start = time.process_time()
    tokenize([piece * 50_000], faithful=faithful)
    # It takes a twentieth of a second; a quadratic search would take minutes.
    assert time.process_time() - start < 2


def test_sentences_end_with_their_marks():
    assert tokenize(
        ["One two. Three! Four? five", "Wait... what?! (Yes.) no", "!! a", "a", "..."]
    ) == [
        [["one", "two", "."], ["three", "!"], ["four", "?"], ["five"]],
        [["wait", ".", ".", "."], ["what", "?", "!"], ["(", "yes", "."], [")", "no"]],
        [["!", "!"], ["a"]],
        [["a"]],
        [[".", ".", "."]],
    ]
    assert tokenize(["One? Two. 5.5"], faithful=True) == [
        [["one", r"\?"], ["two", "."], ["5", "."], ["5"]]
    ]


@pytest.mark.parametrize("faithful", [False, True])
def test_texts_without_a_token_keep_their_place(faithful):
    assert tokenize(["", "a", " \n", "€ — 😀", "b"], faithful=faithful) == [
        [],
        [["a"]],
        [],
        [],
        [["b"]],
    ]
    assert tokenize([], faithful=faithful) == []


def test_a_word_is_one_object():
    one, other = tokenize(["some words", "other words"])
    assert one[0][1] is other[0][1]


def by_the_letter(text):
    """Section 3.1 of the description of the original, one step after the other."""
    text = text.strip()
    text = "".join(
        c if c in string.ascii_letters + string.digits + "(),.!?_\"'`" else " " for c in text
    )
    for ending in ("'s", "'ve", "n't", "'m", "'re", "'d", "'ll"):
        text = text.replace(ending, " " + ending)
    for mark in '",.!':
        text = text.replace(mark, f" {mark} ")
    for mark in "()?":
        text = text.replace(mark, f" \\{mark} ")
    while "  " in text:
        text = text.replace("  ", " ")
    text = text.strip().lower()
    return text.split(" ") if text else []


def test_the_originals_tokens_to_the_letter():
    draw = random.Random(1)
    pieces = [
        *"aZ09 (),.!?_\"'`\\-$\n\té€", "'s", "'ve", "n't", "'m", "'re", "'d", "'ll", "N'T", "'S",
    ]  # fmt: skip
    for _ in range(3000):
        text = "".join(draw.choices(pieces, k=draw.randint(0, 15)))
        assert words(text, faithful=True) == by_the_letter(text), repr(text)


def test_padded_documents_are_one_sentence_of_the_same_length():
    documents = [[["a", "."], ["b"]], [["a"] * 3, ["b"] * 3], [], [["a", "b", "c", "."]]]
    assert padded(documents, 4) == [
        [["a", ".", "b", PAD]],
        [["a", "a", "a", "b"]],
        [[PAD] * 4],
        [["a", "b", "c", "."]],
    ]
    assert PAD not in words(PAD, faithful=True) + words(PAD)


def test_counts():
    assert word_counts(tokenize(["a b. a", "", "b a"])) == {"a": 3, "b": 2, ".": 1}


def test_shapes_are_what_a_network_reads():
    known = frozenset(["a", "b", ".", "!"])
    document = [["a", "x", "b", "."], ["x", "."], ["a", ".", "!"], [".", "."], ["x"], ["b"]]
    assert shape(document, known, 10, 10, ends=False) == [2, 1, 1]
    assert shape(document, known, 10, 10, ends=True) == [3, 1, 3, 2, 1]
    assert shape(document, known, 2, 10, ends=False) == [2, 1]
    assert shape(document, known, 10, 2, ends=True) == [2, 1, 2, 2, 1]
    assert shape([["a", "a", "a", "."]], known, 10, 3, ends=False) == [3]
    assert shape([["a", ".", "b"]], known, 10, 10, ends=False) == [
        3
    ]  # only marks at the end are taken off
    assert shape([["a", r"\?"]], known | {r"\?"}, 10, 10, ends=False) == [1]
    assert shape([["x"]], known, 10, 10, ends=False) == shape([], known, 10, 10, ends=False) == []


def test_all_marks_that_words_have_are_known():
    """The pattern looks for marks in a part of Unicode only; what lies behind are variation
    selectors.
    """
    behind = [c for c in map(chr, range(0x1F000, 0x110000)) if unicodedata.category(c)[0] == "M"]
    assert all("VARIATION SELECTOR" in unicodedata.name(c) for c in behind)
