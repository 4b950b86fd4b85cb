"""Splits documents into sentences and tokens, once, for all stages."""

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.console import progress
from lops_adapters.pseudo_labels import STRING_MATCH_STOP_WORDS
from lops_adapters.scripts import Cutter, words_to_cut

_DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Abbreviations that do not end a sentence. Punkt's trained English model would be a download.
_ABBREVIATIONS = (
    "mr mrs ms dr prof rev gen col sgt capt lt hon st jr sr vs etc e.g i.e inc corp co ltd no vol "
    "fig al approx dept univ assn bros jan feb mar apr jun jul aug sep sept oct nov dec mon tue "
    "wed thu fri sat sun a.m p.m u.s u.k u.n"
)
_QUOTES = {"``": '"', "''": '"'}  # Penn Treebank quotes are unknown to encoders


@dataclass(frozen=True)
class TokenizedCorpus:
    """The tokens of n documents as flat arrays, in reading order.

    Attributes:
        surface: distinct tokens as written.
        surface_id: (tokens,) int32 indices into ``surface``.
        words: distinct words, lower-case without punctuation.
        word_id: (tokens,) int32 indices into ``words``; -1 for stop words and punctuation.
        sentence_start: (sentences + 1,) int64, where each sentence's tokens begin.
        sentence_document: (sentences,) int32, the document of each sentence.
        n_documents: n; a document can be without sentences.
    """

    surface: tuple[str, ...]
    surface_id: np.ndarray
    words: tuple[str, ...]
    word_id: np.ndarray
    sentence_start: np.ndarray
    sentence_document: np.ndarray
    n_documents: int


def clean(token: str) -> str:
    """Return a token as a word, lower-case without ASCII punctuation; empty for punctuation.

    >>> clean("Same-Sex"), clean("U.S."), clean("--")
    ('samesex', 'us', '')
    """
    return token.translate(_DELETE_PUNCTUATION).lower()


def tokenize(
    texts: Sequence[str], phrases: Iterable[str] = (), *, quiet: bool = True
) -> TokenizedCorpus:
    """Split documents into sentences (Punkt) and tokens (Penn Treebank rules).

    Stop words (NLTK's English list and "would", in lower case) are left in the sentence for the
    encoder and have no word.

    ``phrases`` are seeds of several words: each ``"picture book"`` becomes one word
    ``picture_book``. Seeds among them in scripts without spaces between words are words within a
    text, and so is each other character of these scripts. LopsError if NLTK is not installed.
    """
    splitter, tokenizer = _nltk()
    phrases = list(phrases)
    merges, spaced = _Merges(phrases), Cutter(phrases)
    surface: dict[str, int] = {}
    words: dict[str, int] = {}
    surface_id: list[int] = []
    word_id: list[int] = []
    starts, owners = [0], []
    for number, text in enumerate(progress(texts, quiet=quiet, unit="document", desc="tokenising")):
        for sentence in splitter.tokenize(spaced(text)):
            tokens = [_QUOTES.get(token, token) for token in tokenizer.tokenize(sentence)]
            for token, word in merges(tokens):
                surface_id.append(surface.setdefault(token, len(surface)))
                named = word and word not in STRING_MATCH_STOP_WORDS
                word_id.append(words.setdefault(word, len(words)) if named else -1)
            if len(surface_id) > starts[-1]:
                starts.append(len(surface_id))
                owners.append(number)
    return TokenizedCorpus(
        tuple(surface),
        np.array(surface_id, dtype=np.int32),
        tuple(words),
        np.array(word_id, dtype=np.int32),
        np.array(starts, dtype=np.int64),
        np.array(owners, dtype=np.int32),
        len(texts),
    )


def seed_word(seed: str) -> str:
    """Return a seed as a word of the corpus: cleaned, the parts joined by underscores.

    >>> seed_word("same-sex"), seed_word("Picture Book")
    ('samesex', 'picture_book')
    """
    return "_".join(filter(None, (clean(part) for part in seed.split())))


def phrases_in(seeds: Mapping[str, Sequence[str]], texts: Sequence[str] = ()) -> list[str]:
    """Return the seeds of several words, and those at which texts without spaces are cut."""
    every = [seed for words in seeds.values() for seed in words]
    return [*(seed for seed in every if len(seed.split()) > 1), *words_to_cut(texts, every)]


def _nltk() -> tuple[Any, Any]:
    nltk = extras.load("nltk.tokenize", "ConWea")
    parameters = nltk.punkt.PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS.split())
    return nltk.PunktSentenceTokenizer(parameters), nltk.NLTKWordTokenizer()


class _Merges:
    """Turns the tokens of a sentence into (token, word) pairs and joins phrases, longest first."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        split = {tuple(seed_word(phrase).split("_")) for phrase in phrases}
        for parts in sorted(split, key=lambda parts: (-len(parts), parts)):
            self._by_first.setdefault(parts[0], []).append(parts)

    def __call__(self, tokens: Sequence[str]) -> Iterable[tuple[str, str]]:
        words = [clean(token) for token in tokens]
        start = 0
        while start < len(tokens):
            known = self._by_first.get(words[start], ())
            lengths = (len(p) for p in known if tuple(words[start : start + len(p)]) == p)
            end = start + next(lengths, 1)
            yield " ".join(tokens[start:end]), "_".join(words[start:end])
            start = end
