"""What is estimated of each label source: how often it is right, and where it errs.

Notation: n samples, m sources, k classes.
"""

import math
from typing import NamedTuple

import numpy as np

from lops_adapters.probes.regression import softmax
from lops_adapters.selection.votes.pooling import accuracies
from lops_adapters.selection.votes.signals import BLOCK, weighed
from lops_adapters.selection.votes.sources import Sources

_Z = 1.28  # of a range that holds 80 %
# Of the standard deviation of one vote, below and above the estimate: sources and members err
# together more or less than in other tables. Chosen by gold labels, so that the ranges hold the
# truth for 90 % of the sources in the mean of real tables; docs/results/sources-constants.md.
OF_SEVERAL_CLASSES, OF_ONE_CLASS = (0.4, 0.4), (0.4, 0.6)


class Source(NamedTuple):
    """What is estimated of a source.

    Attributes:
        votes: its number of votes.
        accuracy: estimated share of right votes, in [0, 1]; NaN without votes.
        low, high: of the range that holds the truth for about 80 % of the sources.
        voted, true: codes of its most frequent error, -1: none.
        share: of its votes, that error; at most 1 - accuracy.
        alone: samples on which no other source votes.
        changed: samples that another label is most probable for without it, or none if it is alone.
    """

    votes: int
    accuracy: float
    low: float
    high: float
    voted: int
    true: int
    share: float
    alone: int
    changed: int


def assess(sources: Sources, votes: np.ndarray, likely: np.ndarray) -> list[Source]:
    """Return what is estimated of every source, from (n, m) votes and (n, k) likelihoods.

    >>> from lops_adapters.selection.votes.sources import fit
    >>> votes = np.array([[0, 0, 1]] * 50 + [[1, 1, 0]] * 50)  # the third is always wrong
    >>> likely = np.array([[0.8, 0.2]] * 50 + [[0.2, 0.8]] * 50)
    >>> sources = fit(votes, likely)
    >>> [round(one.accuracy, 1) for one in assess(sources, votes, likely)]
    [0.9, 0.9, 0.2]
    """
    signals, model = sources.signals, sources.model
    k, m = likely.shape[1], votes.shape[1]
    classes, owners = signals.keys % k, signals.keys // k
    counts, unsure = np.zeros((len(signals.keys), k)), np.zeros(m)
    every, only = np.zeros(k), 0  # of constant sources: true classes of samples with no other vote
    alone, changed = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for start in range(0, len(votes), BLOCK):
        rows = slice(start, start + BLOCK)
        shared = weighed(signals.matrix(votes[rows]), model.overlap)
        total = sources.total(np.asarray(shared @ model.ratios), likely[rows])
        says = sources.trust * shared.data[:, None]
        of_vote = np.repeat(np.arange(total.shape[0]), np.diff(shared.indptr))
        others = total[of_vote] - says * model.ratios[shared.indices]
        probable = softmax(total.copy())[of_vote]
        for code in range(k):
            column = np.bincount(shared.indices, probable[:, code], len(signals.keys))
            counts[:, code] += column
        owner, voted = owners[shared.indices], classes[shared.indices]
        right = probable[np.arange(len(of_vote)), voted]
        unsure += np.bincount(owner, right * (1 - right), m)
        voted = (votes[rows] >= 0).any(axis=1)
        every += softmax(total.copy())[voted].sum(axis=0)
        only += int((voted & (np.diff(shared.indptr) == 0)).sum())
        single = np.diff(shared.indptr)[of_vote] == 1
        alone += np.bincount(owner[single], minlength=m)
        turned = single | (others.argmax(axis=1) != total.argmax(axis=1)[of_vote])
        changed += np.bincount(owner[turned], minlength=m)
    pooled = accuracies(counts, classes, owners, m).tolist()
    for source, code in zip(*np.divmod(signals.constant, k), strict=True):
        share = every[code] / max(every.sum(), 1e-9)
        counts, classes = np.vstack([counts, every]), np.append(classes, code)
        owners = np.append(owners, source)
        pooled[source], unsure[source] = float(share), 0.0
        alone[source] = changed[source] = only
    return [
        _source(counts[owners == one], classes[owners == one], pooled[one], unsure[one],
                int(alone[one]), int(changed[one]))
        for one in range(m)
    ]  # fmt: skip


def _source(
    counts: np.ndarray,
    classes: np.ndarray,
    accuracy: float,
    unsure: float,
    alone: int,
    changed: int,
) -> Source:
    votes = round(float(counts.sum()))
    if not votes:
        return Source(0, float("nan"), 0.0, 1.0, -1, -1, 0.0, 0, 0)
    of_vote = accuracy * (1 - accuracy)
    sampling = _Z**2 * (of_vote / votes + unsure / votes**2)
    shared = OF_SEVERAL_CLASSES if len(classes) > 1 else OF_ONE_CLASS
    below, above = (math.sqrt(sampling + factor**2 * of_vote) for factor in shared)
    wrong = counts.copy()
    wrong[np.arange(len(classes)), classes] = 0
    signal, true = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return Source(
        votes,
        accuracy,
        max(0.0, accuracy - below),
        min(1.0, accuracy + above),
        int(classes[signal]),
        int(true),
        float(wrong[signal, true] / max(wrong.sum(), 1e-9)) * (1 - accuracy),
        alone,
        changed,
    )
