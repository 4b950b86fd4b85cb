"""Documents as word pieces, and the names of classes in them."""

import logging

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.lotclass.documents import find_names, phrase, read_names, read_tokens, token_rows

from .toys import COMMON, documents

PLAIN = {"law": ["law"], "sport": ["sport"]}
BOTH = "The law; sport."  # a document in which both plain names are found


@pytest.fixture(params=["tokenizer", "byte_level"])
def either(request):
    """A WordPiece and a byte-level tokenizer."""
    return request.getfixturevalue(request.param)


def read_documents(texts, names, tokenizer, max_tokens):
    return find_names(read_tokens(texts, tokenizer, max_tokens), names, tokenizer.mask_token_id)


def occurrences(found, tokenizer):
    """Each document that has a name, as its tokens, and the (place, class) pairs in it."""
    places = [[] for _ in found.rows]
    for row, place, code in zip(found.where, found.places, found.codes, strict=True):
        places[row].append((int(place), int(code)))
    return [
        (tokenizer.convert_ids_to_tokens(row.tolist()), pairs)
        for row, pairs in zip(found.rows, places, strict=True)
    ]


def words_at(read, tokenizer):
    """What stands where a name was found, in the order found: (word or mask, class)."""
    return [
        (tokens[place].lstrip("\u0120"), code)
        for tokens, pairs in occurrences(read, tokenizer)
        for place, code in pairs
    ]


def test_rows_are_what_the_tokenizer_makes(either):
    texts = [
        *documents(12)[0],
        "",
        "Caf\u00e9 \u65e5\u672c\u8a9e \u2603 <b>&amp;</b> \x00 \u202e",
        "week " * 50,
        BOTH,
    ]
    rows = read_tokens(texts, either, 40).rows
    wanted = either(texts, truncation=True, max_length=40)["input_ids"]
    for found in (rows, token_rows(texts, either, 40)):
        assert [row.tolist() for row in found] == wanted
        assert {row.dtype for row in found} == {np.dtype(np.int32)}
    assert max(map(len, rows)) == 40
    assert len(rows[12]) == 2
    assert token_rows([], either, 40) == []


def test_where_names_are(tokenizer):
    read = read_documents(
        ["Law again, then LAW!", "people", "The sport week.", "", "lawyer"], PLAIN, tokenizer, 40
    )
    assert occurrences(read, tokenizer) == [
        (["[CLS]", "law", "again", "[UNK]", "then", "law", "[UNK]", "[SEP]"], [(1, 0), (5, 0)]),
        (["[CLS]", "the", "sport", "week", ".", "[SEP]"], [(2, 1)]),
    ]
    assert read.sources == {"law": "corpus", "sport": "corpus"}
    assert {array.dtype for array in (read.where, read.places, read.codes)} == {np.dtype(np.int64)}


def test_where_names_are_byte_level(byte_level):
    read = read_documents(["The law; a law week. law", "a sport"], PLAIN, byte_level, 40)
    assert words_at(read, byte_level)[0] == ("law", 0)
    assert [code for _, code in words_at(read, byte_level)] == [0, 0, 0, 1]


def test_a_name_of_several_pieces_becomes_one_mask(either):
    texts = ["The quidditch, people! quidditch sport week", "The law"]
    read = read_documents(texts, {"law": ["law"], "quidditch": ["quidditch", "sport"]}, either, 60)
    first, second = occurrences(read, either)
    tokens, pairs = first
    mask = either.mask_token
    assert [(tokens[place], code) for place, code in pairs][:2] == [(mask, 1), (mask, 1)]
    assert tokens.count(mask) == 2
    assert tokens[pairs[2][0]].lstrip("\u0120") == "sport"
    plain = either.convert_ids_to_tokens(token_rows(texts, either, 60)[0].tolist())
    pieces = len(either.tokenize(" quidditch"))
    assert pieces > 1
    assert len(tokens) == len(plain) - 2 * (pieces - 1)
    assert [token for token in plain if token not in either.tokenize(" quidditch")] == [
        token for token in tokens if token != mask and token not in either.tokenize(" quidditch")
    ]
    assert mask not in plain
    assert [code for _, code in second[1]] == [0]


@pytest.mark.parametrize("name", ["gay-rights", "gay_rights", "Gay  Rights", "gay.rights"])
@pytest.mark.parametrize(
    "text", ["of gay-rights", "of gay rights", "Gay/Rights, then", "week gay_rights"]
)
def test_a_phrase_with_a_mark_between_its_words(either, name, text):
    read = read_documents([text, "the law"], {"rights": [name], "law": ["law"]}, either, 40)
    assert words_at(read, either) == [(either.mask_token, 0), ("law", 1)]
    assert read.sources == {"rights": "corpus", "law": "corpus"}


@pytest.mark.parametrize(
    "text", ["gay -- rights", "gay . . rights", "gay people rights", "rights gay", "gay rightsx"]
)
def test_what_is_not_the_phrase(tokenizer, text):
    read = read_documents(
        [text, "the law"], {"gay rights": ["gay rights"], "law": ["law"]}, tokenizer, 60
    )
    assert read.sources["gay rights"] == "parts"


def test_the_longest_phrase_first(tokenizer):
    names = {"a": ["sport"], "b": ["sport match"], "c": ["match law"]}
    texts = ["sport match", "match law sport", "sport match law", "sport sport match"]
    read = read_documents(texts, names, tokenizer, 40)
    assert [code for _, code in words_at(read, tokenizer)] == [1, 2, 0, 1, 0, 1]


def test_several_names_of_a_class(tokenizer):
    read = read_documents(
        ["judge law jury sport"],
        {"law": ["law", "judge", "nowhere"], "sport": ["sport"]},
        tokenizer,
        40,
    )
    assert words_at(read, tokenizer) == [("judge", 0), ("law", 0), ("sport", 1)]
    assert read.sources["law"] == "corpus"


def test_a_name_behind_the_cut_is_not_there(tokenizer):
    with pytest.raises(
        LopsError,
        match=r"no document has the name of 1 of 2 classes in its first 8 tokens \(sport: sport\)",
    ):
        read_documents(["law " + "week " * 6 + "sport"], PLAIN, tokenizer, 8)
    read = read_documents(["law week week week week sport sport"], PLAIN, tokenizer, 8)
    assert words_at(read, tokenizer) == [("law", 0), ("sport", 1)]
    assert len(read.rows[0]) == 8


def test_parts_of_a_name_that_no_document_holds(tokenizer, caplog):
    """Not those of other classes' names, and no stop words."""
    texts = ["gay people then", "the rights of the week", "law and sport"]
    names = {"x": ["gay and rights of law"], "law": ["law"], "sport": ["sport"]}
    with caplog.at_level(logging.INFO, logger="lops_adapters"):
        read = read_documents(texts, names, tokenizer, 40)
    assert read.sources == {"x": "parts", "law": "corpus", "sport": "corpus"}
    assert [code for _, code in words_at(read, tokenizer)] == [0, 0, 1, 2]
    assert "class name 'x': not found as a whole; using its parts: gay, rights" in caplog.text


def test_a_name_that_is_nowhere(tokenizer):
    names = {"law": ["law"], "opera": ["Opera", "grand opera"], "of the": ["of the law"]}
    with pytest.raises(LopsError) as error:
        read_documents(["law people"], names, tokenizer, 40)
    assert str(error.value) == (
        "no document has the name of 2 of 3 classes in its first 40 tokens (opera: opera, grand "
        "opera; of the: of the law); wanted names "
        "that occur: give others with --names, or seed words (seeds.json next to the data, "
        "--supervision keywords)"
    )


def test_phrases():
    assert phrase("rec.sport-hockey_2") == ("rec", "sport", "hockey", "2")
    assert phrase("") == phrase("--!") == ()
    assert read_names({"a": ["A b", "a-b", "--", "c"], "d": ["d"]}) == {
        "a": [("a", "b"), ("c",)],
        "d": [("d",)],
    }


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"a": ["real-estate"], "b": ["Real estate"]}, "'real estate' names both 'a' and 'b'"),
        ({"a": ["law"]}, "found 1 class; wanted at least two to tell apart"),
        ({}, "found 0 class"),
    ],
)
def test_names_that_cannot_work(tokenizer, names, words):
    with pytest.raises(LopsError, match=words):
        read_documents([BOTH], names, tokenizer, 40)


def test_no_document_has_anything(tokenizer):
    for texts in ([], ["", "..."], COMMON):
        with pytest.raises(LopsError, match="no document has the name of 2 of 2 classes"):
            read_documents(texts, PLAIN, tokenizer, 40)
