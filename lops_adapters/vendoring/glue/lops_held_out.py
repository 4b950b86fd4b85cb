# SPDX-License-Identifier: Apache-2.0
"""LOPS_TAU=auto: the share of pseudo-labels that held-out linear probes agree with.

The probes are multinomial logistic regressions on TF-IDF vectors, in 3-fold cross-validation: what
tau ``auto`` is in the package, on the repository's own word ids. They train in seconds, and need
Python >= 3.6 and numpy only.
"""

from typing import Any, NamedTuple

import numpy as np
from lops_core import tie_hash

FOLDS = 3
# In epochs; the checkpoint with most agreement counts.
LOOKS = (1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0, 1.0, 2.0, 3.0, 4.0)
BATCH_SIZE = 32
LEARNING_RATE = 0.03  # of Adagrad
_BELOW = 1 - 1e-6  # a class at its limit does not tie with the best other
_ROWS = 10000  # documents that are counted at once
_SCORES = 100000  # documents times classes that are predicted at once


class Bags(NamedTuple):
    """The different words of n documents, one document after the other.

    Attributes:
        words, values: word ids, and their counts or weights, of equal length.
        starts: (n + 1,) where each document begins; no document is empty.

    """

    words: Any
    values: Any
    starts: Any


def agreed_share(documents, labels, n_classes, seed=0):
    """Return the share of labels that held-out probes agree with.

    A class's probability is divided by its mean over the documents with that label, since probes
    favour large and easy classes. Classes with fewer documents than folds are kept whole.

    Args:
        documents: (n, ...) word ids; 0 and below is no word.
        labels: (n,) integer pseudo-labels, 0 to n_classes - 1.
        n_classes: number of classes.
        seed: of folds and trainings.

    """
    labels = np.asarray(labels)
    if len(labels) < FOLDS:
        return 1.0
    bags, fold = count_words(np.asarray(documents)), _folds(labels, seed)
    looks = np.zeros((len(LOOKS), len(labels), n_classes), dtype=np.float32)
    for left_out in range(FOLDS):
        rest, here = np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)
        found = _predictions(_weighted(bags, rest), labels, n_classes, rest, here, seed)
        for look, probabilities in enumerate(found):
            looks[look, here] = probabilities
    # Rare classes are not limited here: their limit would favour early checkpoints.
    best = max(looks, key=lambda look: int(agrees(look, labels, limits=False).sum()))
    return max(1, int(agrees(best, labels).sum())) / float(len(labels))


def agrees(probabilities, labels, limits=True):
    """Return which labels have the largest relative probability, (n,) bool.

    ``limits``: rare classes are limited, see :func:`_limit`.
    """
    n, k = probabilities.shape
    rows, counts = np.arange(n), np.bincount(labels, minlength=k)
    sums = np.bincount(labels, weights=probabilities[rows, labels], minlength=k)
    relative = probabilities / np.maximum(sums / np.maximum(counts, 1), 1e-12)
    own, few = relative[rows, labels], counts < FOLDS
    relative[:, few] = 0.0
    relative[rows, labels] = 0.0
    if limits:
        _limit(relative, own, counts)
    return (own >= relative.max(axis=1)) | few[labels]


def _limit(relative, own, counts):
    """Scale down classes that exceed the label in more documents than they have themselves.

    Without this, a rare class, whose mean probability is close to 0, exceeds most labels.
    """
    limited = np.zeros(len(counts), dtype=bool)
    for _ in counts:
        first = relative.argmax(axis=1)[relative.max(axis=1) > own]
        above = np.bincount(first, minlength=len(counts)) > counts
        if not above.any():
            break
        limited |= above
        others = np.where(limited, 0.0, relative).max(axis=1)
        best = np.maximum(np.maximum(others, own), 1e-12)
        for code in np.flatnonzero(limited):
            lead = np.sort(relative[:, code] / best)[-1 - counts[code]]
            relative[:, code] *= min(1.0, _BELOW / lead)


def count_words(documents):
    """Return the words of documents and their counts; those without words share an extra one."""
    flat = documents.reshape(len(documents), -1)
    size, parts = int(max(0, flat.max())) + 2, []
    for at in range(0, len(flat), _ROWS):
        block = flat[at : at + _ROWS].astype(np.int64)
        block[~(block > 0).any(axis=1), 0] = size - 1
        rows, places = np.nonzero(block > 0)
        keys, counts = np.unique((at + rows) * size + block[rows, places], return_counts=True)
        parts.append((keys, counts))
    keys = np.concatenate([keys for keys, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    starts = np.searchsorted(keys, np.arange(len(flat) + 1) * size)
    return Bags(keys % size, counts, starts)


def _folds(labels, seed):
    """Return the fold of each document, stratified."""
    order = np.lexsort((tie_hash(np.arange(len(labels)), seed), labels))
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % FOLDS
    return fold


def _weighted(bags, rest):
    """Return TF-IDF of unit length, with document frequencies and words of the documents rest."""
    at = _cells(bags, rest)[0]
    found = np.bincount(bags.words[at], minlength=int(bags.words.max()) + 1)
    idf = np.where(found, np.log((1.0 + len(rest)) / (1.0 + found)) + 1, 0.0)
    values = (np.log(bags.values) + 1) * idf[bags.words]
    lengths = np.sqrt(np.add.reduceat(values**2, bags.starts[:-1]))
    values /= np.repeat(np.maximum(lengths, 1e-12), np.diff(bags.starts))
    return bags._replace(values=values.astype(np.float32))


def _cells(bags, rows):
    """Return the cells of documents, where each document begins among them, and their numbers."""
    counts = bags.starts[rows + 1] - bags.starts[rows]
    first = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(bags.starts[rows] - first, counts), first, counts


def _softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def _predictions(bags, labels, n_classes, rest, here, seed):
    """Train on the documents ``rest``, and yield the probabilities of ``here`` at each look."""
    rng = np.random.RandomState(seed)
    weights = np.zeros((int(bags.words.max()) + 1, n_classes), dtype=np.float32)
    bias = np.zeros(n_classes, dtype=np.float32)
    squares, bias_squares = np.full_like(weights, 1e-8), np.full_like(bias, 1e-8)
    per_epoch, done, waiting = -(-len(rest) // BATCH_SIZE), 0, list(LOOKS)
    while waiting:
        order = rest[rng.permutation(len(rest))]
        for start in range(0, len(order), BATCH_SIZE):
            rows = order[start : start + BATCH_SIZE]
            at, first, counts = _cells(bags, rows)
            words, column = np.unique(bags.words[at], return_inverse=True)
            before, values = weights[words], bags.values[at][:, None]
            error = _softmax(np.add.reduceat(values * before[column], first, axis=0) + bias)
            error[np.arange(len(rows)), labels[rows]] -= 1.0
            error /= len(rows)
            by_word = np.argsort(column, kind="mergesort")
            each = (values * np.repeat(error, counts, axis=0))[by_word]
            starts = np.searchsorted(column[by_word], np.arange(len(words)))
            gradient = np.add.reduceat(each, starts, axis=0)
            total = squares[words] + gradient**2
            squares[words] = total
            weights[words] = before - LEARNING_RATE * gradient / np.sqrt(total)
            bias_squares += error.sum(axis=0) ** 2
            bias -= LEARNING_RATE * error.sum(axis=0) / np.sqrt(bias_squares)
            done += 1
            while waiting and done >= max(1, round(waiting[0] * per_epoch)):
                waiting.pop(0)
                yield _probabilities(bags, weights, bias, here)


def _probabilities(bags, weights, bias, rows):
    found, step = [], max(1, _SCORES // len(bias))
    for start in range(0, len(rows), step):
        at, first, _ = _cells(bags, rows[start : start + step])
        scores = bags.values[at][:, None] * weights[bags.words[at]]
        found.append(_softmax(np.add.reduceat(scores, first, axis=0) + bias))
    return np.concatenate(found)
