"""The contextualised corpus: documents as sentences of words and ``word$sense`` forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.tokens import TokenizedCorpus, seed_word

# Cleaned words hold no punctuation, so no word of the text can look like one with a sense.
SEPARATOR = "$"


@dataclass(frozen=True)
class ContextualCorpus:
    """Contextualised documents.

    Attributes:
        documents: n documents, each a list of sentences, each a list of words, without stop words
            and punctuation.
        senses: word -> number of its senses, for words with two or more.
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
        """Contextualised word -> its index in the vocabulary."""
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
        """Return the number of documents with a contextualised word."""
        index = self.places.get(word)
        return 0 if index is None else int(self._document_frequencies[index])

    @cached_property
    def _document_frequencies(self) -> np.ndarray:
        return np.asarray(self.counts.sign().sum(axis=0)).ravel()

    def expand(self, seed: str) -> list[str]:
        """Return the forms of a seed in the corpus: all its senses, or the word itself."""
        word = seed_word(seed)
        forms = [word]
        if word in self.senses:
            forms = [f"{word}{SEPARATOR}{sense}" for sense in range(self.senses[word])]
        return [form for form in forms if form in self.places]


def contextualise(corpus: TokenizedCorpus, senses: Senses) -> ContextualCorpus:
    """Return the corpus with the senses found; a document without words is an empty list."""
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
    n_senses = {word: len(centres) for word, centres in senses.centres.items()}
    return ContextualCorpus(documents, n_senses)
