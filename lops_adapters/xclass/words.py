"""Splits documents into words, as BERT's basic tokenizer does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from lops_adapters.console import progress

_MARKUP = re.compile(r"&lt;.*?&gt;", re.DOTALL)
_FOREIGN = re.compile(r"""[^A-Za-z0-9(),.!?"']""")


@dataclass(frozen=True)
class WordCorpus:
    """The words of n documents as flat arrays, in reading order.

    Attributes:
        vocabulary: distinct words and punctuation marks, lower-case, in alphabetical order.
        word_id: (tokens,) int32 indices into the vocabulary.
        document_start: (n + 1,) int64, where each document's words begin.
    """

    vocabulary: tuple[str, ...]
    word_id: np.ndarray
    document_start: np.ndarray

    @cached_property
    def positions(self) -> np.ndarray:
        """(m,) int64, the tokens that are words and not punctuation marks."""
        return np.flatnonzero(self.is_word[self.word_id])

    @cached_property
    def document(self) -> np.ndarray:
        """(m,) int64, the document of each word at ``positions``."""
        sizes = np.diff(self.document_start)
        return np.repeat(np.arange(len(sizes)), sizes)[self.positions]

    @property
    def counts(self) -> np.ndarray:
        """(V,) int64, how often each word occurs."""
        return np.bincount(self.word_id, minlength=len(self.vocabulary))

    @property
    def is_word(self) -> np.ndarray:
        """(V,) bool, whether each entry is a word and not a punctuation mark."""
        return np.array([any(map(str.isalnum, word)) for word in self.vocabulary], dtype=bool)


def cleaned(text: str) -> str:
    """Return a text as the original cleans it: ASCII only, no markup, no e-mail addresses.

    >>> cleaned("Write to me@here.org: caf\u00e9, &lt;b&gt;now&lt;/b&gt;!")
    'Write to caf , now !'
    """
    without = " ".join(word for word in _MARKUP.sub(" ", text).split() if "@" not in word)
    return " ".join(_FOREIGN.sub(" ", without).split())


def cut(text: str) -> list[str]:
    """Return the words and punctuation marks of a text, lower-case and without accents.

    >>> cut("Rock-climbing, caf\u00e9")
    ['rock', '-', 'climbing', ',', 'cafe']
    """
    normalizer, splitter = _tokenizer()
    return [word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))]


@cache
def _tokenizer() -> tuple[Any, Any]:
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    return BertNormalizer(lowercase=True), BertPreTokenizer()


def read_words(texts: Sequence[str], *, faithful: bool = False, quiet: bool = True) -> WordCorpus:
    """Split documents into words; ``faithful``: of :func:`cleaned` texts, as the original does."""
    number_of: dict[str, int] = {}
    ids: list[int] = []
    starts = [0]
    for text in progress(texts, quiet=quiet, unit="document", desc="reading words"):
        for word in cut(cleaned(text) if faithful else text):
            ids.append(number_of.setdefault(word, len(number_of)))
        starts.append(len(ids))
    vocabulary = sorted(number_of)
    rank = np.empty(len(number_of), dtype=np.int32)
    rank[[number_of[word] for word in vocabulary]] = np.arange(len(number_of), dtype=np.int32)
    word_id = rank[np.array(ids, dtype=np.int64)] if ids else np.zeros(0, dtype=np.int32)
    return WordCorpus(tuple(vocabulary), word_id, np.array(starts, dtype=np.int64))
