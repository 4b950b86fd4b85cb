"""What the word-level models share: sentences of tokens, and word vectors."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
WIDTH = 100  # of random word vectors


@dataclass(frozen=True)
class WordVectors:
    """Pretrained word vectors: words in a fixed order and a (len(words), width) float32 array."""

    words: tuple[str, ...]
    vectors: np.ndarray

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors) or not len(self.words):
            raise LopsError(
                f"found {len(self.words)} words and vectors of shape {self.vectors.shape}; "
                "wanted one row per word, at least one"
            )
        if len(set(self.words)) < len(self.words):
            raise LopsError(
                f"found {len(self.words)} words, {len(set(self.words))} of them distinct; "
                "wanted every word once"
            )


def word_table(vectors: WordVectors | None, n_words: int, seed: int) -> np.ndarray:
    """Return an embedding table, (n_words + 1, width) float32, whose row 0 is padding, all zeros.

    >>> word_table(None, 2, seed=0).shape
    (3, 100)
    """
    width = WIDTH if vectors is None else vectors.vectors.shape[1]
    table = np.zeros((n_words + 1, width), dtype=np.float32)
    if vectors is None:
        table[1:] = np.random.default_rng(seed).uniform(-0.25, 0.25, (n_words, width))
    else:
        table[1:] = vectors.vectors
    return table


def word_ids(words: Iterable[str]) -> dict[str, int]:
    """Number distinct words from 1 on in their order; 0 is padding.

    >>> word_ids(["a", "b"])
    {'a': 1, 'b': 2}
    """
    return {word: number for number, word in enumerate(words, 1)}


def sentences_of(sample: Any) -> Sequence[Sequence[str]]:
    """Return a sample as sentences of tokens.

    A string is cut at sentence ends and white space; a list of tokens is one sentence.

    >>> sentences_of("The bank rose. It rained!")
    [['The', 'bank', 'rose.'], ['It', 'rained!']]
    """
    if not isinstance(sample, str | Iterable):
        raise LopsError(f"a sample is {sample!r}; wanted a string, tokens, or sentences of tokens")
    if not isinstance(sample, str):
        parts = list(sample)
        return [parts] if parts and isinstance(parts[0], str) else parts
    return [sentence.split() for sentence in _SENTENCE_END.split(sample) if sentence.strip()]
