"""What each signal says of the true classes, drawn towards what others say where votes are few.

Notation: n samples, m sources, k classes, f signals, see :mod:`.signals`.
"""

import numpy as np

from lops_adapters.selection.votes.signals import Signals

# Votes by which the accuracy of a signal is drawn towards its source's, and that towards the mean.
POOLED = 20.0
CONFUSED = 10.0  # votes by which a row of a source's confusion is drawn towards its accuracy
# Of all samples, spread evenly over the classes: a vote for a rare class says little more than one
# for a frequent class, so that a stray name does not win.
_SPREAD = 0.1


def accuracies(
    counts: np.ndarray, classes: np.ndarray, owners: np.ndarray, n_sources: int
) -> np.ndarray:
    """Return the accuracies of the sources, (m,), drawn towards their mean."""
    right, votes = counts[np.arange(len(classes)), classes], counts.sum(axis=1)
    mean = (right.sum() + 1) / (votes.sum() + 2)
    of_sources = np.bincount(owners, right, n_sources) + POOLED * mean
    return np.asarray(of_sources / (np.bincount(owners, votes, n_sources) + POOLED))


def frequencies(true: np.ndarray) -> np.ndarray:
    """Return the logarithm of the classes' frequencies, (k,), by (n, k) probabilities."""
    k = true.shape[1]
    mean = true.sum(axis=0) / max(1, len(true))
    return np.asarray(np.log((mean + _SPREAD / k) / (1 + _SPREAD)))


def pooled(
    counts: np.ndarray, signals: Signals, logs: np.ndarray, confused: bool = False
) -> np.ndarray:
    """Return the probability of each true class given each signal, (f, k), after pooling.

    ``counts`` are (f, k) votes by true class, ``logs`` (k,) of :func:`frequencies`. Accuracies are
    drawn towards the source's; errors towards the errors of all sources that vote for the same
    class, and these towards the frequencies of the classes. ``confused``: sources that vote for
    several classes have a confusion each, see :func:`_confused`.
    """
    k, (owners, classes) = signals.n_classes, np.divmod(signals.keys, signals.n_classes)
    each = np.arange(len(classes))
    of_sources = accuracies(counts, classes, owners, int(owners.max(initial=0)) + 1)
    votes = counts.sum(axis=1)
    accuracy = (counts[each, classes] + POOLED * of_sources[owners]) / (votes + POOLED)
    wrong = counts.copy()
    wrong[each, classes] = 0
    together = np.zeros((k, k))
    np.add.at(together, classes, wrong)
    together += POOLED * np.exp(logs)
    np.fill_diagonal(together, 0)
    together /= np.maximum(together.sum(axis=1, keepdims=True), 1e-12)
    wrong += POOLED * together[classes]
    probabilities = wrong / wrong.sum(axis=1, keepdims=True) * (1 - accuracy)[:, None]
    probabilities[each, classes] = accuracy
    several = np.isin(owners, signals.several)
    if confused and several.any():
        found = _confused(counts, owners, classes, of_sources, logs)
        probabilities[several] = found[several]
    return np.asarray(probabilities)


def _confused(
    counts: np.ndarray,
    owners: np.ndarray,
    classes: np.ndarray,
    accuracies: np.ndarray,
    logs: np.ndarray,
) -> np.ndarray:
    """Return the same by confusions: how often a source gives each vote to each true class.

    A row of a confusion is drawn towards a source that knows the class with some chance, and else
    draws its vote from its own frequencies; so a source that always says the same says nothing. The
    chance is its accuracy beyond chance.
    """
    each, k = np.arange(len(classes)), counts.shape[1]
    of_class = np.zeros((len(accuracies), k))  # votes of a source for each true class
    np.add.at(of_class, owners, counts)
    votes = of_class.sum(axis=1)
    share = counts.sum(axis=1) / np.maximum(votes[owners], 1e-9)
    frequent = np.exp(logs) / np.exp(logs).sum()
    chance = np.bincount(owners, frequent[classes] * share, len(accuracies))
    knows = np.clip((accuracies - chance) / np.maximum(1 - chance, 1e-9), 0, 1)[owners]
    expected = np.repeat(((1 - knows) * share)[:, None], k, axis=1)
    expected[each, classes] += knows
    given = (counts + CONFUSED * expected) / (of_class[owners] + CONFUSED) * frequent
    return np.asarray(given / given.sum(axis=1, keepdims=True))
