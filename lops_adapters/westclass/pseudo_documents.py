"""Pseudo documents: bags of words drawn from each topic, with the lengths of the real documents.

Source: Meng, Shen, Zhang and Han, "Weakly-Supervised Neural Text Classification", CIKM 2018, as in
the authors' program.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lops_adapters.console import progress
from lops_adapters.encoders.words import WordVectors
from lops_adapters.westclass.settings import WestclassSettings, filled
from lops_adapters.westclass.tokens import Document, flat, shape
from lops_adapters.westclass.topics import Topic

T = TypeVar("T")
_BLOCK = 2**21  # products in memory at a time: 8 MB; some ten times that if all are equal


@dataclass(frozen=True)
class PseudoDocuments:
    """n documents as flat arrays, class by class.

    Attributes:
        words: (tokens,) int32 indices into the vocabulary, in reading order.
        sentence_lengths: (sentences,) int32, tokens of each sentence, at least one.
        sentence_counts: (n,) int32, sentences of each document, at least one.
        codes: (n,) int64 class codes, ascending: the pseudo-labels.
    """

    words: np.ndarray
    sentence_lengths: np.ndarray
    sentence_counts: np.ndarray
    codes: np.ndarray

    def documents(self, vocabulary: Sequence[str]) -> list[list[list[str]]]:
        """Return the documents as sentences of words.

        >>> words, lengths, counts = np.array([0, 1, 1, 0]), np.array([1, 1, 2]), np.array([2, 1])
        >>> two = PseudoDocuments(words, lengths, counts, codes=np.array([0, 1]))
        >>> two.documents(["goal", "vote"])
        [[['goal'], ['vote']], [['vote', 'goal']]]
        """
        tokens = [vocabulary[word] for word in self.words.tolist()]
        return _groups(_groups(tokens, self.sentence_lengths), self.sentence_counts)


def _groups(items: list[T], sizes: np.ndarray) -> list[list[T]]:
    ends = np.cumsum(sizes)
    starts = ends - sizes
    return [items[begin:end] for begin, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def generate(
    topics: Sequence[Topic],
    vectors: np.ndarray,
    background: np.ndarray,
    shapes: Sequence[Sequence[int]],
    *,
    per_class: int = 500,
    top: int = 50,
    alpha: float = 0.2,
    seed: int,
    sentence_end: int | None = None,
    quiet: bool = True,
) -> PseudoDocuments:
    """Draw documents from every topic.

    For each document a direction z is drawn from its topic. Each word comes with probability alpha
    from the background, (V,) shares of the words in the corpus, otherwise from the ``top`` words v
    of highest e_v . z (ties: the lower index), with probability proportional to exp(e_v . z).
    Lengths are taken from real documents, drawn uniformly with replacement; the original uses the
    mean length for all. Each class has its own random generator: its documents depend on its code,
    not on the other topics.

    Shapes are the sentence lengths of each real document, such as ``[12, 7]``, at least one with a
    word; others are ignored. ``per_class``, ``top`` (at most V) and ``alpha`` are beta, gamma and
    alpha of the original. ``sentence_end`` is a word appended to every sentence, not counted in its
    length (the original: for its hierarchical network).
    """
    real = [np.array(kept) for shape in shapes if (kept := [length for length in shape if length])]
    below = _cumulative(np.asarray(background, dtype=np.float64)[None])[0]
    words, lengths, counts = [], [], []
    for code, topic in enumerate(
        progress(topics, quiet=quiet, unit="class", desc="pseudo documents")
    ):
        rng = np.random.default_rng([seed, code])
        near, scores = _nearest(vectors, topic.sample(per_class, rng), min(top, len(vectors)))
        chosen = [real[i] for i in rng.integers(len(real), size=per_class)]
        sentences = np.concatenate(chosen)
        document = np.repeat(np.arange(per_class), [shape.sum() for shape in chosen])
        drawn = _draw(near, scores, document, below, alpha, rng)
        if sentence_end is not None:
            drawn = np.insert(drawn, np.cumsum(sentences), sentence_end)
            sentences = sentences + 1
        words.append(drawn)
        lengths.append(sentences)
        counts.append([len(shape) for shape in chosen])
    return PseudoDocuments(
        np.concatenate(words).astype(np.int32),
        np.concatenate(lengths).astype(np.int32),
        np.concatenate(counts).astype(np.int32),
        np.repeat(np.arange(len(topics), dtype=np.int64), per_class),
    )


def _nearest(
    vectors: np.ndarray, directions: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``top`` words per direction, highest product first: indices and products."""
    n, size = len(directions), len(vectors)
    near, best = np.empty((n, top), dtype=np.int64), np.empty((n, top))
    step = max(1, _BLOCK // size)
    for begin in range(0, n, step):
        products = directions[begin : begin + step].astype(np.float32) @ vectors.T
        least = np.partition(products, size - top, axis=1)[:, size - top]
        # `top` words per row, and more if words tie for the last place.
        row, word = np.nonzero(products >= least[:, None])
        score = products[row, word]
        order = np.lexsort((word, -score, row))
        starts = np.searchsorted(row, np.arange(len(products)))
        order = order[starts[:, None] + np.arange(top)]
        near[begin : begin + step], best[begin : begin + step] = word[order], score[order]
    return near, best


def _draw(
    near: np.ndarray,
    scores: np.ndarray,
    document: np.ndarray,
    below: np.ndarray,
    alpha: float,
    rng: np.random.Generator,
) -> np.ndarray:
    words = np.empty(len(document), dtype=np.int64)
    general = rng.random(len(document)) < alpha
    words[general] = np.searchsorted(below, rng.random(int(general.sum())), side="right")
    row, top = document[~general], near.shape[1]
    # One search for all documents: row i of the cumulative probabilities is between i and i + 1.
    edges = (_cumulative(np.exp(scores)) + np.arange(len(near))[:, None]).ravel()
    column = np.searchsorted(edges, row + rng.random(len(row)), side="right") - row * top
    column = np.minimum(column, top - 1)  # the sum can round up into the next row
    words[~general] = near[row, column]
    return words


def _cumulative(weights: np.ndarray) -> np.ndarray:
    """Return cumulative shares along each row; the last is exactly 1."""
    total = np.cumsum(weights, axis=1)
    return np.asarray(total / total[:, -1:])


def shapes(
    documents: Sequence[Document], vectors: WordVectors, settings: WestclassSettings
) -> list[list[int]]:
    """Return the lengths that pseudo documents can have: the real documents', as read.

    Under ``faithful`` there is only one: the mean over whole documents, rounded down, with closing
    marks, and at most what the network reads.
    """
    words, longest = frozenset(vectors.words), filled(settings.max_words)
    if settings.network == "cnn":
        lengths = [sum(token in words for token in flat(document)) for document in documents]
        if settings.faithful:
            return [[min(longest, max(1, int(np.mean(lengths))))]]
        return [[min(longest, length)] for length in lengths]
    most = filled(settings.max_sentences)
    if not settings.faithful:
        return [shape(document, words, most, longest, ends=False) for document in documents]
    whole = [shape(document, words, sys.maxsize, sys.maxsize, ends=True) for document in documents]
    sentences = [length for lengths in whole for length in lengths]
    mean_length = min(longest, max(1, int(np.mean(sentences))))
    mean_count = min(most, max(1, len(sentences) // len(whole)))
    return [[mean_length] * mean_count]
