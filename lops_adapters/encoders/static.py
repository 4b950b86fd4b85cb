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
from lops_adapters.encoders.tf_idf import of_unit_length
from lops_adapters.encoders.word_counts import CHAR, WordCounts, count_words
from lops_adapters.encoders.word_hashes import Words, hashes_at, read_words

STATIC = "static"
FOLDER = "encoders/word_pieces"  # in the package; benchmarks/static_table.py writes it
WIDTH = 128
Lengths = dict[int, tuple[np.ndarray, np.ndarray]]
_LONGEST = 100  # letters of a word; longer ones have no pieces
# Of a word: letters and digits, and single characters of Chinese, as BERT cuts them.
_PART = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_\u3400-\u9fff\uf900-\ufaff]+")


class PieceTable(NamedTuple):
    """Vectors of word pieces.

    Attributes:
        pieces: in the order of the rows; pieces within a word begin with ``##``.
        first, inner: letters in UTF-8 -> the (m,) uint64 hashes, ascending, and int64 rows of
            pieces of this length, at the start of a word and, without ``##``, within.
        vectors: (pieces, WIDTH) int8, weighted by how rare the pieces are.
    """

    pieces: tuple[str, ...]
    first: Lengths
    inner: Lengths
    vectors: np.ndarray


@cache
def piece_table() -> PieceTable:
    """Return the table, read and checked when first used; LopsError: damaged or missing files."""
    pieces = shipped.text(f"{FOLDER}/pieces.txt").split("\n")[:-1]
    inside = [row for row, piece in enumerate(pieces) if piece.startswith("##")]
    inner = _by_length([pieces[row][2:] for row in inside], np.array(inside))
    vectors = np.load(shipped.file(f"{FOLDER}/vectors.npy"), mmap_mode="r")
    return PieceTable(tuple(pieces), _by_length(pieces, np.arange(len(pieces))), inner, vectors)


def _by_length(pieces: Sequence[str], rows: np.ndarray) -> Lengths:
    (words,) = read_words([" ".join(pieces).encode()])
    hashes, found = words.hashes(), dict[int, tuple[np.ndarray, np.ndarray]]()
    for size in np.unique(words.sizes)[::-1].tolist():
        of_size = np.flatnonzero(words.sizes == size)
        order = of_size[np.argsort(hashes[of_size])]
        found[size] = hashes[order], rows[order]
    return found


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
    return of_unit_length(np.asarray(pieces @ piece_table().vectors[used].astype(np.float32)))


@lru_cache(maxsize=2)  # a table's blocks share their words; other texts come in between
def _pieces_of(words: tuple[str, ...]) -> Any:
    """Return the mean of each word's pieces, (w, pieces) float32 CSR, kept for the next texts."""
    from scipy import sparse

    rows, sizes = pieces_of_words(words)
    weights = np.repeat(1 / np.maximum(sizes, 1), sizes).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = (len(words), len(piece_table().pieces))
    return sparse.csr_matrix((weights, rows.astype(np.int32), starts), shape=shape)


def pieces_of_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the words' pieces, word by word, int64, and how many each has, (w,).

    Pieces of a word are the longest that fits, again and again, as BERT cuts. Accents are ignored.
    A part of a word that has no pieces, such as a script that the table does not know, is left out.

    >>> rows, sizes = pieces_of_words(["Caf\u00e9_embeddings", "the"])
    >>> [piece_table().pieces[row] for row in rows], sizes.tolist()
    (['cafe', 'em', '##bed', '##ding', '##s', 'the'], [5, 1])
    """
    rows, sizes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for parts in read_words(map(_parts_of, words)):
        of_part, row = _longest_pieces(parts)
        rows.append(row)
        before = np.concatenate([[0], np.cumsum(np.bincount(of_part, minlength=len(parts.starts)))])
        sizes.append(np.diff(before[parts.bounds]))
    return np.concatenate(rows), np.concatenate(sizes)


def _parts_of(word: str) -> bytes:
    """Return the parts of a word that are cut into pieces, between spaces."""
    plain = word.lower()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFD", plain)
        plain = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
    elif plain.isalnum() and len(plain) <= _LONGEST:
        return plain.encode()
    return " ".join(part for part in _PART.findall(plain) if len(part) <= _LONGEST).encode()


def _longest_pieces(parts: Words) -> tuple[np.ndarray, np.ndarray]:
    """Return which part each piece is of, ascending, and the row of each piece, (p,) int64."""
    table = piece_table()
    starts, ends = parts.starts.copy(), parts.starts + parts.sizes
    of_part, rows = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    left, lengths = np.arange(len(starts)), table.first
    while len(left):  # each round cuts one piece off the parts that are left
        of_part.append(left)
        row = np.full(len(left), -1)
        for size, (hashes, of_size) in lengths.items():
            asked = np.flatnonzero((row < 0) & (ends[left] - starts[left] >= size))
            sizes = np.full(len(asked), size)
            found = hashes_at(parts.written, starts[left[asked]], sizes)
            place = np.minimum(np.searchsorted(hashes, found), len(hashes) - 1)
            fits = hashes[place] == found
            row[asked[fits]] = of_size[place[fits]]
            starts[left[asked[fits]]] += size
        rows.append(row)
        left, lengths = left[(row >= 0) & (starts[left] < ends[left])], table.inner
    every, cut = np.concatenate(of_part), np.concatenate(rows)
    whole = np.flatnonzero(~np.isin(every, every[cut < 0]))
    order = whole[np.argsort(every[whole], kind="stable")]
    return every[order], cut[order]
