"""Contextual vectors, and the contextualised corpus: sentences of words and ``word$sense`` forms.

The vectors are of one pass of the encoder over the corpus, one sentence per window.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import TokenizedCorpus, seed_word
from lops_adapters.encoders.context_encoder import ContextEncoder, Window, encode_windows

# Cleaned words hold no punctuation, so no word of the text can look like one with a sense.
SEPARATOR = "$"


def build_encoder(settings: ConweaSettings, device: str) -> ContextEncoder:
    """Return the encoder of the settings."""
    return ContextEncoder(
        settings.encoder,
        layers=settings.layers,
        combine=settings.combine,
        max_pieces=settings.max_pieces,
        device=device,
    )


def windows(corpus: TokenizedCorpus, lengths: np.ndarray, max_pieces: int) -> Iterator[Window]:
    """Yield windows of at most a sentence whose word pieces fit ``max_pieces``."""
    room = max_pieces - 2
    for begin, end in zip(
        corpus.sentence_start[:-1].tolist(), corpus.sentence_start[1:].tolist(), strict=True
    ):
        total, first = 0, begin
        for token in range(begin, end):
            if total + lengths[token] > room:
                yield Window(first, first, token)
                total, first = 0, token
            total += int(lengths[token])
        yield Window(first, first, end)


def contextual_vectors(
    corpus: TokenizedCorpus,
    positions: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    *,
    quiet: bool = True,
) -> np.ndarray:
    """Encode the corpus once and return the vectors of tokens at (m,) sorted ``positions``.

    A token has the vector of its first word piece. Memory-mapped in ``folder``, (m, width)
    float16; see :func:`lops_adapters.encoders.context_encoder.encode_windows`.
    """
    pieces = encoder.pieces(corpus.surface)
    lengths = np.array([len(ids) for ids in pieces])[corpus.surface_id]
    spans = list(windows(corpus, lengths, encoder.max_pieces))
    return encode_windows(
        spans,
        corpus.surface_id,
        pieces,
        positions,
        encoder,
        folder,
        first_piece_only=True,
        quiet=quiet,
    )


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

    @cached_property
    def document_frequency(self) -> Counter[str]:
        """Contextualised word -> number of documents with it; 0 for other words."""
        found = np.asarray(self.counts.sign().sum(axis=0)).ravel().tolist()
        return Counter(dict(zip(self.vocabulary, found, strict=True)))

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
