"""What combines votes without reading texts: majority, Snorkel, HyperLM, crowd-kit's models."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np


class Combined(NamedTuple):
    """Votes of m sources combined.

    Attributes:
        probabilities: (n, k) float64 of the true classes; only rows with a vote count.
        accuracies: (m,) float64, estimated shares of right votes; NaN: unknown.

    """

    probabilities: np.ndarray
    accuracies: np.ndarray


def majority(votes: np.ndarray, n_classes: int) -> Combined:
    """Return shares of votes; a source's accuracy is its agreement with the majority.

    A tie counts as a part of a majority for each of its classes.

    >>> majority(np.array([[0, 0, 1], [1, -1, -1]]), 2)[0].round(2).tolist()
    [[0.67, 0.33], [0.0, 1.0]]
    """
    counts = np.stack([(votes == code).sum(axis=1) for code in range(n_classes)], axis=1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return Combined(shares, agreement(largest(shares), votes))


def largest(probabilities: np.ndarray) -> np.ndarray:
    """Return 1 for the largest of each row, (n, k) float64; ties share it evenly.

    >>> largest(np.array([[0.6, 0.4], [0.5, 0.5]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    top = probabilities >= probabilities.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(top / top.sum(axis=1, keepdims=True))


def agreement(probabilities: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Return the mean probability of the votes of each source, (m,); NaN without votes."""
    right = np.take_along_axis(probabilities, np.maximum(votes, 0), axis=1)
    some = votes >= 0
    with np.errstate(invalid="ignore"):
        return np.asarray((right * some).sum(axis=0) / some.sum(axis=0))


def snorkel(votes: np.ndarray, n_classes: int, seed: int) -> Combined:
    """Return what Snorkel's ``LabelModel`` says, with its defaults and 500 epochs.

    Sources without a vote are left out. It estimates the accuracies itself (``get_weights``). It
    takes three sources or more; of fewer, this is the majority.
    """
    from snorkel.labeling.model import LabelModel

    some = np.flatnonzero((votes >= 0).any(axis=0))
    if len(some) < 3:
        return majority(votes, n_classes)
    model = LabelModel(cardinality=n_classes, verbose=False)
    model.fit(votes[:, some], n_epochs=500, seed=seed, progress_bar=False)
    accuracies = np.full(votes.shape[1], np.nan)
    accuracies[some] = model.get_weights()
    return Combined(np.asarray(model.predict_proba(votes[:, some])), accuracies)


def hyper(votes: np.ndarray, n_classes: int) -> Combined:
    """Return what HyperLM says; a source's accuracy is the expected share of right votes.

    It names as many classes as the largest code says, so all of them have to be voted for.
    """
    import torch
    from hyperlm import HyperLabelModel

    # Its checkpoint, a part of the package, was written before torch loaded only weights.
    with patch.object(torch, "load", partial(torch.load, weights_only=False)):
        found = np.asarray(HyperLabelModel(device="cpu").infer(votes, return_probs=True))
    probabilities = np.zeros((len(votes), n_classes))
    probabilities[:, : found.shape[1]] = found
    return Combined(probabilities, agreement(probabilities, votes))


def crowd_kit(name: str, votes: np.ndarray, n_classes: int) -> Combined:
    """Return what a model of crowd-kit says, such as ``DawidSkene``, with its defaults.

    A source's accuracy is the expected share of right votes.
    """
    import pandas
    from crowdkit import aggregation

    rows, sources = np.nonzero(votes >= 0)
    said = {"task": rows, "worker": sources, "label": votes[rows, sources]}
    model: Any = getattr(aggregation, name)().fit(pandas.DataFrame(said))
    found = model.probas_.reindex(index=range(len(votes)), columns=range(n_classes))
    probabilities = np.nan_to_num(found.to_numpy(dtype=np.float64))
    return Combined(probabilities, agreement(probabilities, votes))


def best_source(votes: np.ndarray, gold: np.ndarray, n_classes: int) -> Combined:
    """Return the labels of the source with most right votes: an oracle, since it reads gold labels.

    Rows on which it does not vote have the shares of the other votes.
    """
    combined = majority(votes, n_classes)
    best = int((votes == gold[:, None]).sum(axis=0).argmax())
    probabilities, voted = combined.probabilities.copy(), votes[:, best] >= 0
    probabilities[voted] = np.eye(n_classes)[votes[voted, best]]
    return Combined(probabilities, combined.accuracies)
