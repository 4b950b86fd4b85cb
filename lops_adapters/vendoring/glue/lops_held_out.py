# SPDX-License-Identifier: Apache-2.0
"""LOPS_TAU=auto: the share of pseudo-labels that held-out linear probes prefer, per class.

The probes are multinomial logistic regressions on TF-IDF vectors, in 3-fold cross-validation: what
keep ``auto`` is in the package, on the repository's own word ids. They train in seconds, and need
Python >= 3.6 and numpy only.
"""

from typing import Any, NamedTuple

import numpy as np
from lops_core import tie_hash

FOLDS = 3
LOOKS = (1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0)  # in epochs; then 1, 2, 4, ... and the last one
EPOCHS, LEAST_UPDATES = 4, 1000  # whichever is longer
SPREAD = 0.1  # of all documents, evenly over the classes, so that rare ones win no others
LEAST_SKILL = 0.25  # of 0 by chance to 1 with all labels
BATCH_SIZE = 32
LEARNING_RATE = 0.03  # of Adagrad
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


def agreed_shares(documents, labels, n_classes, seed=0):
    """Return the share of each class's labels that held-out probes prefer, {label: share}.

    See :func:`agrees`. A share is half a document short of its number, so that
    rounding up gives the number. Where the probes can hardly tell labels from each other, or
    documents are fewer than folds, all shares are 1.

    Args:
        documents: (n, ...) word ids; 0 and below is no word.
        labels: (n,) integer pseudo-labels, 0 to n_classes - 1.
        n_classes: number of classes.
        seed: of folds and trainings.

    """
    labels = np.asarray(labels)
    counts = np.bincount(labels, minlength=n_classes)
    whole = dict.fromkeys(np.flatnonzero(counts).tolist(), 1.0)
    if len(labels) < FOLDS:
        return whole
    bags, fold = count_words(np.asarray(documents)), _folds(labels, seed)
    looks = []  # type: list
    for left_out in range(FOLDS):
        rest, here = np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)
        predictions = _predictions(_weighted(bags, rest), labels, n_classes, rest, here, seed)
        for look, probabilities in enumerate(predictions):
            if look == len(looks):
                looks.append(np.zeros((len(labels), n_classes), dtype=np.float32))
            looks[look][here] = probabilities
    best = max((agrees(look, labels) for look in looks), key=lambda mask: int(mask.sum()))
    competing = max(2, int((counts >= FOLDS).sum()))
    if (best.mean() - 1.0 / competing) / (1 - 1.0 / competing) < LEAST_SKILL:
        return whole
    kept = np.bincount(labels[best], minlength=n_classes)
    kept[counts < FOLDS] = counts[counts < FOLDS]
    return {label: max(0.5, kept[label] - 0.5) / counts[label] for label in whole}


def likelihoods(probabilities, labels):
    """Divide probabilities by the classes' shares of the labels; rows sum to 1.

    Probes learn how often each label is applied, also where it is applied too often. Classes with
    fewer documents than folds do not compete with others.
    """
    k = probabilities.shape[1]
    counts = np.bincount(labels, minlength=k)
    shares = np.where(counts < FOLDS, np.inf, counts / float(max(1, len(labels))))
    ratios = (probabilities + SPREAD / k) / (shares + SPREAD / k)
    return ratios / np.maximum(ratios.sum(axis=1, keepdims=True), 1e-12)


def agrees(probabilities, labels):
    """Return which labels have the largest likelihood, ties included, (n,) bool."""
    likely = likelihoods(np.asarray(probabilities, dtype=np.float64), labels)
    return likely[np.arange(len(labels)), labels] >= likely.max(axis=1) * (1 - 1e-9)


def count_words(documents):
    """Return the words of documents and their counts; empty documents share an extra word."""
    flat = documents.reshape(len(documents), -1)
    size, parts = int(max(0, flat.max())) + 2, []
    for begin in range(0, len(flat), _ROWS):
        block = flat[begin : begin + _ROWS].astype(np.int64)
        block[~(block > 0).any(axis=1), 0] = size - 1
        rows, places = np.nonzero(block > 0)
        keys, counts = np.unique((begin + rows) * size + block[rows, places], return_counts=True)
        parts.append((keys, counts))
    keys = np.concatenate([keys for keys, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    starts = np.searchsorted(keys, np.arange(len(flat) + 1) * size)
    return Bags(keys % size, counts, starts)


def _folds(labels, seed):
    """Return the fold of each document, stratified; the order of the labels changes nothing."""
    positions = np.arange(len(labels))
    distinct, index = np.unique(labels, return_inverse=True)
    marks = np.zeros(len(distinct), dtype=np.uint64)
    np.add.at(marks, index, tie_hash(positions, 4))
    classes = np.argsort(np.argsort(marks, kind="stable"))[index]
    order = np.lexsort((tie_hash(positions, seed), classes))
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % FOLDS
    return fold


def _weighted(bags, rest):
    """Return TF-IDF of unit length, with document frequencies and words of the documents rest."""
    cells = _cells(bags, rest)[0]
    document_counts = np.bincount(bags.words[cells], minlength=int(bags.words.max()) + 1)
    idf = np.where(document_counts, np.log((1.0 + len(rest)) / (1.0 + document_counts)) + 1, 0.0)
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
    per_epoch, done = -(-len(rest) // BATCH_SIZE), 0
    last = max(EPOCHS, -(-LEAST_UPDATES // per_epoch))
    waiting = list(LOOKS) + [2.0**i for i in range((last - 1).bit_length())] + [float(last)]
    while waiting:
        order = rest[rng.permutation(len(rest))]
        for start in range(0, len(order), BATCH_SIZE):
            rows = order[start : start + BATCH_SIZE]
            cells, first, counts = _cells(bags, rows)
            words, column = np.unique(bags.words[cells], return_inverse=True)
            previous, values = weights[words], bags.values[cells][:, None]
            error = _softmax(np.add.reduceat(values * previous[column], first, axis=0) + bias)
            error[np.arange(len(rows)), labels[rows]] -= 1.0
            error /= len(rows)
            by_word = np.argsort(column, kind="mergesort")
            each = (values * np.repeat(error, counts, axis=0))[by_word]
            starts = np.searchsorted(column[by_word], np.arange(len(words)))
            gradient = np.add.reduceat(each, starts, axis=0)
            total = squares[words] + gradient**2
            squares[words] = total
            weights[words] = previous - LEARNING_RATE * gradient / np.sqrt(total)
            bias_squares += error.sum(axis=0) ** 2
            bias -= LEARNING_RATE * error.sum(axis=0) / np.sqrt(bias_squares)
            done += 1
            while waiting and done >= max(1, round(waiting[0] * per_epoch)):
                waiting.pop(0)
                yield _probabilities(bags, weights, bias, here)


def _probabilities(bags, weights, bias, rows):
    blocks, step = [], max(1, _SCORES // len(bias))
    for start in range(0, len(rows), step):
        cells, first, _ = _cells(bags, rows[start : start + step])
        scores = bags.values[cells][:, None] * weights[bags.words[cells]]
        blocks.append(_softmax(np.add.reduceat(scores, first, axis=0) + bias))
    return np.concatenate(blocks)
