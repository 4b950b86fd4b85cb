"""The contextualised corpus: each document as sentences of words, where a word with several senses
is written ``word$sense``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.tokens import TokenizedCorpus, seed_word

# cleaned words hold no punctuation, so no word of the text can be mistaken for one with a sense
SEPARATOR = "$"


@dataclass(frozen=True)
class ContextualCorpus:
    """Contextualised documents.

    Attributes:
        documents: n documents, each a list of sentences, each a list of words; stop words and
            punctuation are gone.
        senses: word -> number of its senses, only where there are two or more.

    """

    documents: Sequence[Sequence[Sequence[str]]]
    senses: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def vocabulary(self) -> list[str]:
        """Distinct contextualised words, sorted."""
        return sorted(
            {word for document in self.documents for sentence in document for word in sentence}
        )

    @cached_property
    def places(self) -> dict[str, int]:
        """Contextualised word -> its place in the vocabulary."""
        return {word: number for number, word in enumerate(self.vocabulary)}

    @cached_property
    def counts(self) -> Any:
        """(documents, vocabulary) int32 CSR matrix of word counts."""
        from scipy.sparse import csr_matrix

        columns = [
            [self.places[word] for sentence in document for word in sentence]
            for document in self.documents
        ]
        ends = np.cumsum([0] + [len(row) for row in columns])
        flat = np.fromiter(
            (number for row in columns for number in row), dtype=np.int32, count=int(ends[-1])
        )
        matrix = csr_matrix(
            (np.ones(len(flat), dtype=np.int32), flat, ends),
            shape=(len(self.documents), len(self.places)),
        )
        matrix.sum_duplicates()
        return matrix

    def document_frequency(self, word: str) -> int:
        """Return the number of documents that hold a contextualised word."""
        place = self.places.get(word)
        return 0 if place is None else int(self._document_frequencies[place])

    @cached_property
    def _document_frequencies(self) -> np.ndarray:
        return np.asarray(self.counts.sign().sum(axis=0)).ravel()

    def expand(self, seed: str) -> list[str]:
        """Return the contextualised words of a seed: all its senses, the word itself, or nothing
        where the corpus lacks it.
        """
        word = seed_word(seed)
        forms = (
            [f"{word}{SEPARATOR}{k}" for k in range(self.senses[word])]
            if word in self.senses
            else [word]
        )
        return [form for form in forms if form in self.places]


def contextualise(corpus: TokenizedCorpus, senses: Senses) -> ContextualCorpus:
    """Write every document with the senses found; a document without words is an empty list."""
    documents: list[list[list[str]]] = [[] for _ in range(corpus.n_documents)]
    words, sense = corpus.word_id.tolist(), senses.sense_id.tolist()
    for owner, begin, end in zip(
        corpus.sentence_document, corpus.sentence_start[:-1], corpus.sentence_start[1:], strict=True
    ):
        sentence = [
            corpus.words[words[token]] + (f"{SEPARATOR}{sense[token]}" if sense[token] >= 0 else "")
            for token in range(begin, end)
            if words[token] >= 0
        ]
        if sentence:
            documents[owner].append(sentence)
    return ContextualCorpus(
        documents, {word: len(centres) for word, centres in senses.centres.items()}
    )
