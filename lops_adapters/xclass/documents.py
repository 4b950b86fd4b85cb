"""Document vectors: contextual word vectors, weighted by relevance to the classes.

X-Class, section 3.3.
"""

from collections.abc import Sequence

import numpy as np

from lops_adapters.console import progress
from lops_adapters.xclass.classes import unit

_TOKENS = 2**15  # word vectors in memory at a time


def document_vectors(
    word_id: np.ndarray,
    document: np.ndarray,
    vectors: np.ndarray,
    static: np.ndarray,
    classes: np.ndarray,
    n_documents: int,
    *,
    rows: np.ndarray | None = None,
    quiet: bool = True,
) -> np.ndarray:
    """Return one vector per document, (n, width) float32; zeros for a document without words.

    The significance of a word vector is its largest softmax probability over cosines with the class
    vectors. Its relation is the cosine with the mean class vector. Each ranks the words of a
    document by descending score (ties: the earlier place). Four ranks are multiplied: both
    measures, for contextual and static vectors. The word at rank r of the product weighs 1/r.

    ``word_id`` and ``document`` are (m,), the word of each contextual vector, and its document,
    ascending; vectors are (m, width) float16, ``static`` (V, width), ``classes`` (k, width);
    ``rows`` the ascending positions of the vectors to use, default: all.
    """
    rows = np.arange(len(word_id)) if rows is None else rows
    word_id, document = word_id[rows], document[rows]
    out = np.zeros((n_documents, vectors.shape[1]), dtype=np.float32)
    # In float32 the last digits of a product depend on how many rows it has.
    classes = classes.astype(np.float64)
    static_scores = (significance(static, classes), relation(static, classes))
    bounds = np.searchsorted(document, np.arange(n_documents + 1))
    bar = progress(total=n_documents, quiet=quiet, unit="document", desc="document vectors")
    with bar:
        first = 0
        while first < n_documents:
            end = int(np.searchsorted(bounds, bounds[first] + _TOKENS, side="right")) - 1
            last = max(first + 1, end)
            part = slice(bounds[first], bounds[last])
            if part.stop > part.start:
                ids, owners = word_id[part], document[part]
                block = vectors[rows[part]].astype(np.float64)
                weights = _weights(ids, owners, block, static_scores, classes)
                _add(out, owners, block, weights)
            bar.update(last - first)
            first = last
    return out


def significance(vectors: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return each row's largest softmax probability over cosines with the classes, (m,) float."""
    cosines = unit(vectors) @ unit(classes).T
    powers = np.exp(cosines - cosines.max(axis=1, keepdims=True))
    return np.asarray(1.0 / powers.sum(axis=1))


def relation(vectors: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the cosine of each row with the mean class vector, (m,) float."""
    return np.asarray(unit(vectors) @ unit(classes.mean(axis=0, keepdims=True))[0])


def ranks(document: np.ndarray, scores: np.ndarray, *, falling: bool) -> np.ndarray:
    """Return the rank of each word in its document, from 1 (ties: the earlier place).

    >>> ranks(np.array([0, 0, 0, 1]), np.array([0.5, 0.9, 0.5, 0.1]), falling=True).tolist()
    [2, 1, 3, 1]
    """
    order = np.lexsort((np.arange(len(scores)), -scores if falling else scores, document))
    starts = np.searchsorted(document, document)  # documents ascend, also in this order
    result = np.empty(len(scores), dtype=np.int64)
    result[order] = np.arange(len(scores)) - starts + 1
    return result


def _weights(
    word_id: np.ndarray,
    document: np.ndarray,
    block: np.ndarray,
    static_scores: Sequence[np.ndarray],
    classes: np.ndarray,
) -> np.ndarray:
    contextual = (significance(block, classes), relation(block, classes))
    product = np.ones(len(word_id))
    for scores in (*contextual, *(still[word_id] for still in static_scores)):
        # Rounded: the order of additions must not decide.
        product *= ranks(document, np.round(scores, 6), falling=True)
    return 1.0 / ranks(document, product, falling=False)


def _add(out: np.ndarray, document: np.ndarray, block: np.ndarray, weights: np.ndarray) -> None:
    present, starts = np.unique(document, return_index=True)
    total = np.add.reduceat(block * weights[:, None], starts)
    out[present] = total / np.add.reduceat(weights, starts)[:, None]
