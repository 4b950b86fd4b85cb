"""Static vectors: a table of word pieces that ships with the package, without torch.

A word is the mean of its pieces, a text the sum of its words, each times 1 + log count, so texts
are counted and not read again. Recipe: model2vec (Minish Lab, 2024), every piece through MiniLM
alone, see ``benchmarks/static_table.py``.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from lops_adapters import shipped
from lops_adapters.encoders.word_counts import CHAR, WordCounts, count_words

STATIC = "static"
FOLDER = "encoders/word_pieces"  # in the package; benchmarks/static_table.py writes it
WIDTH = 128
_LONGEST = 100  # letters of a word; longer ones have no pieces
# Of a word: letters and digits, and single characters of Chinese, as BERT cuts them.
_PART = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_\u3400-\u9fff\uf900-\ufaff]+")


class PieceTable(NamedTuple):
    """Vectors of word pieces.

    Attributes:
        rows: piece -> row; pieces within a word begin with ``##``.
        inner: the latter, without ``##``.
        vectors: (pieces, WIDTH) int8, weighted by how rare the pieces are.
        longest: letters of the longest piece.
    """

    rows: dict[str, int]
    inner: dict[str, int]
    vectors: np.ndarray
    longest: int


@cache
def piece_table() -> PieceTable:
    """Return the table, read and checked when first used; LopsError: damaged or missing files."""
    pieces = shipped.text(f"{FOLDER}/pieces.txt").split("\n")[:-1]
    shipped.data(f"{FOLDER}/vectors.npy")
    rows = {piece: row for row, piece in enumerate(pieces)}
    inner = {piece[2:]: row for piece, row in rows.items() if piece.startswith("##")}
    vectors = np.load(shipped.HERE / FOLDER / "vectors.npy", mmap_mode="r")
    return PieceTable(rows, inner, vectors, max(map(len, pieces)))


def static_vectors(texts: Sequence[Any] | WordCounts) -> np.ndarray:
    """Return the vectors of texts, (n, WIDTH) float32 of unit length.

    Texts are strings, tokens, or sentences of tokens; or their counts, which saves counting again.
    A text without a known piece is a row of zeros.

    >>> static_vectors(["a bank by the river", "the river bank", "บบบ"]).shape
    (3, 128)
    """
    if isinstance(texts, WordCounts) and texts.analyzer == CHAR:
        raise ValueError("found n-grams of all words; wanted counts of words")
    counts = texts if isinstance(texts, WordCounts) else count_words(texts)
    words = counts.counts.copy()
    words.data = np.log(words.data) + np.float32(1)
    pieces = words @ _pieces_of(counts.words)
    used = np.bincount(pieces.indices, minlength=pieces.shape[1]) > 0
    columns = (np.cumsum(used) - 1)[pieces.indices]
    pieces = type(pieces)((pieces.data, columns, pieces.indptr), shape=(len(counts), used.sum()))
    sums = np.asarray(pieces @ piece_table().vectors[used].astype(np.float32))
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))


@lru_cache(maxsize=2)  # a table's blocks share their words; other texts come in between
def _pieces_of(words: tuple[str, ...]) -> Any:
    """Return the mean of each word's pieces, (w, pieces) float32 CSR, kept for the next texts."""
    from scipy import sparse

    cut = [pieces_of_word(word) for word in words]
    sizes = np.array([len(rows) for rows in cut], dtype=np.int64)
    columns = np.array([row for rows in cut for row in rows], dtype=np.int32)
    weights = np.repeat(1 / np.maximum(sizes, 1), sizes).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = (len(words), len(piece_table().rows))
    return sparse.csr_matrix((weights, columns, starts), shape=shape)


def pieces_of_word(word: str) -> list[int]:
    """Return the rows of a word's pieces: the longest that fits, again and again, as BERT does.

    Accents are ignored. A part of a word that has no pieces, such as a script that the table does
    not know, is left out.

    >>> pieces = list(piece_table().rows)
    >>> [pieces[row] for row in pieces_of_word("Caf\u00e9_embeddings")]
    ['cafe', 'em', '##bed', '##ding', '##s']
    """
    plain = word.lower()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFD", plain)
        plain = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
    return [row for part in _PART.findall(plain) for row in _longest_pieces(part)]


def _longest_pieces(part: str) -> list[int]:
    rows, inner, _, longest = piece_table()
    piece_rows, start, size = list[int](), 0, len(part)
    while start < size <= _LONGEST:
        for end in range(min(size, start + longest), start, -1):
            row = rows.get(part[start:end])
            if row is not None:
                break
        else:
            return []
        piece_rows.append(row)
        start, rows = end, inner
    return piece_rows
