"""Documents to sentences to tokens, once, with the same tokeniser for every stage (ConWea's stages
each had their own).
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from lops_adapters.core import LopsError
from lops_adapters.pseudo_labels import STRING_MATCH_STOP_WORDS

_DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Punkt's trained English model is a download; these are the abbreviations of running text that it
# must not take for a sentence's end.
_ABBREVIATIONS = (
    "mr mrs ms dr prof rev gen col sgt capt lt hon st jr sr vs etc e.g i.e inc corp co ltd no vol fig al approx dept univ assn bros jan "
    "feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun a.m p.m u.s u.k u.n"
)
_QUOTES = {"``": '"', "''": '"'}  # the Penn Treebank's quotes are no text an encoder has seen


@dataclass(frozen=True)
class TokenizedCorpus:
    """The tokens of n documents as flat arrays, in reading order.

    Attributes:
        surface: distinct tokens as written; ``surface_id`` (tokens,) int32 indexes it.
        words: distinct words, lower-case without punctuation; ``word_id`` (tokens,) int32 indexes
            it, -1 for stop words and punctuation.
        sentence_start: (sentences + 1,) int64, where each sentence's tokens begin.
        sentence_document: (sentences,) int32, the document of each sentence.
        n_documents: n; a document may have no sentence at all.

    """

    surface: tuple[str, ...]
    surface_id: np.ndarray
    words: tuple[str, ...]
    word_id: np.ndarray
    sentence_start: np.ndarray
    sentence_document: np.ndarray
    n_documents: int

    @property
    def token_document(self) -> np.ndarray:
        """(tokens,) int32, the document of each token."""
        return np.repeat(self.sentence_document, np.diff(self.sentence_start))


def clean(token: str) -> str:
    """Return the word a token stands for, lower-case without ASCII punctuation; empty for
    punctuation.

    >>> clean("Same-Sex"), clean("U.S."), clean("--")
    ('samesex', 'us', '')
    """
    return token.translate(_DELETE_PUNCTUATION).lower()


def tokenize(
    texts: Sequence[str], phrases: Iterable[str] = (), *, quiet: bool = True
) -> TokenizedCorpus:
    """Cut documents into sentences (Punkt) and tokens (Penn Treebank rules), and merge the given
    phrases into single words.

    Args:
        texts: n documents; an empty one is allowed.
        phrases: seed words of several words, such as ``"picture book"``; each occurrence becomes
            one word ``picture_book``.
        quiet: no progress bar.

    Raises:
        LopsError: NLTK is not installed.

    Stop words (NLTK's English list and "would") are recognised in lower case; they keep their place
    in the sentence for the encoder and have no word of their own.

    """
    splitter, tokenizer = _nltk()
    merges = _Merges(phrases)
    surface: dict[str, int] = {}
    words: dict[str, int] = {}
    surface_id: list[int] = []
    word_id: list[int] = []
    starts, owners = [0], []
    for number, text in enumerate(
        tqdm(texts, disable=quiet, unit="document", desc="tokenising", leave=False)
    ):
        for sentence in splitter.tokenize(text):
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
    """Return the word a seed is looked up as: cleaned, the parts of a phrase joined by underscores.

    >>> seed_word("same-sex"), seed_word("Picture Book")
    ('samesex', 'picture_book')
    """
    return "_".join(filter(None, (clean(part) for part in seed.split())))


def phrases_in(seeds: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the seeds of several words."""
    return [seed for words in seeds.values() for seed in words if len(seed.split()) > 1]


def _nltk() -> tuple[Any, Any]:
    try:
        from nltk.tokenize import NLTKWordTokenizer
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    except ImportError:
        raise LopsError(
            "ConWea needs NLTK, which is not installed; run: pip install 'lops_adapters[conwea]'"
        ) from None
    parameters = PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS.split())
    return PunktSentenceTokenizer(parameters), NLTKWordTokenizer()


class _Merges:
    """Turns a sentence's tokens into (token, word) pairs, joining the longest phrase that starts at
    each place.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in sorted(
            {tuple(seed_word(phrase).split("_")) for phrase in phrases},
            key=lambda parts: (-len(parts), parts),
        ):
            self._by_first.setdefault(phrase[0], []).append(phrase)

    def __call__(self, tokens: Sequence[str]) -> Iterable[tuple[str, str]]:
        words = [clean(token) for token in tokens]
        place = 0
        while place < len(tokens):
            length = next(
                (
                    len(parts)
                    for parts in self._by_first.get(words[place], ())
                    if tuple(words[place : place + len(parts)]) == parts
                ),
                1,
            )
            end = place + length
            yield " ".join(tokens[place:end]), "_".join(words[place:end])
            place = end
