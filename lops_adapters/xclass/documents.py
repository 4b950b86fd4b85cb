"""Document vectors: a weighted mean of contextual word vectors, by how much each word says about
the classes (X-Class, section 3.3).
"""

from __future__ import annotations

import numpy as np
from tqdm.auto import tqdm

from lops_adapters.xclass.classes import unit

_TOKENS = 2**15  # word vectors held at a time


def document_vectors(
    word_id: np.ndarray,
    document: np.ndarray,
    vectors: np.ndarray,
    static: np.ndarray,
    classes: np.ndarray,
    n_documents: int,
    *,
    rows: np.ndarray | None = None,
    attention: str = "mixture",
    quiet: bool = True,
) -> np.ndarray:
    """Return one vector a document, (n, width) float32; zeros for a document without words.

    Significance of a vector is its largest softmax probability over cosines with the class vectors;
    relation is its cosine with the mean class vector. Each ranks a document's words by falling
    score, equal ones by their place; ``mixture`` multiplies the ranks of both for contextual and
    static vectors. A word at rank r of the outcome weighs 1/r.

    Args:
        word_id: (m,) int, the word of each vector.
        document: (m,) int, its document, ascending.
        vectors: (m, width) float16 contextual vectors.
        static: (V, width) float32 static vectors.
        classes: (k, width) float32 class vectors.
        n_documents: n.
        rows: ascending positions of the vectors that count; default: all.
        attention: one of :data:`lops_adapters.xclass.settings.ATTENTION`.
        quiet: no progress bar.

    """
    rows = np.arange(len(word_id)) if rows is None else rows
    word_id, document = word_id[rows], document[rows]
    out = np.zeros((n_documents, vectors.shape[1]), dtype=np.float32)
    classes = classes.astype(
        np.float64
    )  # in float32 the last digits of a product depend on how many rows it has
    static_scores = {
        "significance": significance(static, classes),
        "relation": relation(static, classes),
    }
    bounds = np.searchsorted(document, np.arange(n_documents + 1))
    with tqdm(
        total=n_documents, disable=quiet, unit="document", desc="document vectors", leave=False
    ) as bar:
        first = 0
        while first < n_documents:
            last = max(
                first + 1, int(np.searchsorted(bounds, bounds[first] + _TOKENS, side="right")) - 1
            )
            part = slice(bounds[first], bounds[last])
            if part.stop > part.start:
                block = vectors[rows[part]].astype(np.float64)
                weights = _weights(
                    word_id[part], document[part], block, static_scores, classes, attention
                )
                _add(out, document[part], block, weights)
            bar.update(last - first)
            first = last
    return out


def significance(vectors: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Largest probability of each row's softmax over cosines with the class vectors; (m,) float."""
    cosines = unit(vectors) @ unit(classes).T
    powers = np.exp(cosines - cosines.max(axis=1, keepdims=True))
    return np.asarray(1.0 / powers.sum(axis=1))


def relation(vectors: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Cosine of each row with the mean class vector; (m,) float."""
    return np.asarray(unit(vectors) @ unit(classes.mean(axis=0, keepdims=True))[0])


def ranks(document: np.ndarray, scores: np.ndarray, *, falling: bool) -> np.ndarray:
    """Rank of each word in its document, from 1; equal scores rank by their place.

    >>> ranks(np.array([0, 0, 0, 1]), np.array([0.5, 0.9, 0.5, 0.1]), falling=True).tolist()
    [2, 1, 3, 1]
    """
    order = np.lexsort((np.arange(len(scores)), -scores if falling else scores, document))
    starts = np.searchsorted(
        document, document
    )  # documents are ascending, and lexsort keeps them so
    result = np.empty(len(scores), dtype=np.int64)
    result[order] = np.arange(len(scores)) - starts + 1
    return result


def _weights(
    word_id: np.ndarray,
    document: np.ndarray,
    block: np.ndarray,
    static_scores: dict[str, np.ndarray],
    classes: np.ndarray,
    attention: str,
) -> np.ndarray:
    if attention == "none":
        return np.ones(len(word_id))
    kind, _, where = attention.partition("_")
    measures = {"significance": significance, "relation": relation}
    wanted = (
        [(kind, where == "static")]
        if attention != "mixture"
        else [(name, still) for still in (False, True) for name in measures]
    )
    product = np.ones(len(word_id))
    for name, still in wanted:
        scores = static_scores[name][word_id] if still else measures[name](block, classes)
        product *= ranks(
            document, np.round(scores, 6), falling=True
        )  # rounded: the order of additions decides nothing
    return 1.0 / ranks(document, product, falling=False)


def _add(out: np.ndarray, document: np.ndarray, block: np.ndarray, weights: np.ndarray) -> None:
    present, starts = np.unique(document, return_index=True)
    total = np.add.reduceat(block * weights[:, None], starts)
    out[present] = total / np.add.reduceat(weights, starts)[:, None]
