"""Label sources: rules, annotators, language models, seed words, whose votes may differ.

A source votes for a class, or abstains. How far to believe each of its votes is estimated together
with the true classes, by expectation maximisation as in Dawid and Skene (1979):

- A source that votes for several classes has a confusion; one that always says the same says
  nothing. Votes are few, so its rows are drawn towards its accuracy, and that towards the mean of
  all sources (partial pooling).
- Sources that err together, such as copies of one rule, share one vote: the more two sources agree
  beyond what the true classes explain, the less each of them counts where both vote.
- Rows with few votes say little about the true class. There the estimate stays near the majority.
  Where three sources or more vote for several classes, votes can be held out: if a model that
  leaves the majority predicts the votes of each source from the others better, it counts. Held-out
  votes also say whether frequent classes are more probable.
- The members of the committee, which read the samples, are one more source. They learnt from the
  votes, whose errors they share, and votes share errors with each other: no statistic of a table
  shows how far. So what votes and members say counts by two exponents that fit other tables.

:mod:`.source_model` estimates all this.

Notation: n samples, m sources, k classes, codes 0..k-1, f signals. A signal is a source voting for
a class; ``votes`` are (n, m) int codes, -1 for abstentions.
"""

from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.labels.votes import Votes
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.committee.folds import FOLDS
from lops_adapters.selection.votes.pooling import frequencies
from lops_adapters.selection.votes.signals import BLOCK, Signals, weighed
from lops_adapters.selection.votes.source_model import (
    LEAST_SOURCES,
    Model,
    comparable,
    logarithm,
    own_model,
    vote_rows,
)

MOST_ROWS = 100_000  # samples to estimate from
# Exponents of what votes and members say; chosen as the constants of :mod:`.source_model`.
TRUST, WEIGHT = 0.2, 2.0
_NOT_SHOWN = "neither labels nor ranges show errors that they share. Check ten rows first."

# The last votes: labels by votes alone, and what members add to them, ask for the same estimate.
_last: "dict[bytes, Sources]" = {}


@dataclass(frozen=True)
class Sources:
    """Sources with what their votes are worth; can be pickled.

    Attributes:
        prior: (k,) float64, what is added for each class.
        trust: the exponent of what votes say, in (0, 1].
        weight: the exponent of the members' likelihoods; 0: they cannot tell.
    """

    signals: Signals
    model: Model
    prior: np.ndarray
    trust: float = 1.0
    weight: float = 0.0

    @property
    def tells(self) -> bool:
        """Whether the members can tell right from wrong votes."""
        return self.weight > 0

    @property
    def joined(self) -> str:
        """A sentence: by which rule votes are joined, and why."""
        near = "Votes are joined near the majority"
        if not comparable(self.signals):
            few = f"with fewer than {LEAST_SOURCES} sources that vote for several classes"
            return f"{near}: {few}, {_NOT_SHOWN}"
        said = f"{near}: no other rule predicts held-out votes clearly better."
        if self.model.free:
            said = (
                "Votes are joined by how often each source errs, since that predicts held-out "
                "votes clearly better than the majority."
            )
        alike, several = self.signals.alike, len(self.signals.several)
        if alike < max(2, several / 2):
            return said
        return f"{said} {alike} of {several} sources vote nearly alike: {_NOT_SHOWN}"

    def first(self, votes: np.ndarray) -> np.ndarray:
        """Return the labels by votes alone, (n,) int64 codes; -1 without votes.

        By the votes' own model, if votes can be held out; else the weighted majority of
        :meth:`~.signals.Signals.labels`, in which rare votes count more.
        """
        codes = self.signals.labels(votes)
        if comparable(self.signals):
            for start in range(0, len(votes), BLOCK):
                rows = slice(start, start + BLOCK)
                scores = self._contested(self.model.prior + self.scores(votes[rows]), votes[rows])
                codes[rows] = np.where(codes[rows] < 0, -1, scores.argmax(axis=1))
        return codes

    def scores(self, votes: np.ndarray) -> np.ndarray:
        """Return the logarithm of what votes say of each class, (n, k), up to a constant."""
        return np.asarray(
            weighed(self.signals.matrix(votes), self.model.overlap) @ self.model.ratios
        )

    def total(self, scores: np.ndarray, likely: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each class, (n, k), up to a constant."""
        return np.asarray(self.prior + self.trust * scores + self.weight * logarithm(likely))

    def posterior(self, votes: np.ndarray, likely: np.ndarray) -> np.ndarray:
        """Return the probability of each true class, (n, k), from votes and likelihoods."""
        true = np.empty(likely.shape)
        for start in range(0, len(votes), BLOCK):
            rows = slice(start, start + BLOCK)
            total = self.total(self.scores(votes[rows]), likely[rows])
            true[rows] = softmax(self._contested(total, votes[rows]))
        return true

    def _contested(self, total: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Let a class with fewer votes in all than folds win only where no other has a vote.

        If all classes have so few, it is one of those with a vote in the row, or any without votes.
        """
        small = self.signals.counts < FOLDS
        if small.any():
            voted = np.zeros(total.shape, dtype=bool)
            rows, sources = np.nonzero(votes >= 0)
            voted[rows, votes[rows, sources]] = True
            out = small & ~(voted & (voted.sum(axis=1, keepdims=True) == 1))
            every = out.all(axis=1)
            out[every] = ~voted[every] & voted[every].any(axis=1, keepdims=True)
            total[out] = -np.inf
        return total


def fit(votes: np.ndarray, likely: np.ndarray, tells: bool = True) -> Sources:
    """Estimate what the votes of each source are worth, next to members.

    Votes are (n, m) int; ``likely`` (n, k) mean likelihoods of the members. ``tells``: whether the
    members can tell right from wrong labels; else they do not count.

    >>> votes = np.array([[0, 0, 1]] * 10 + [[1, 1, 0]] * 10)  # the third is always wrong
    >>> likely = np.array([[0.8, 0.2]] * 10 + [[0.2, 0.8]] * 10)
    >>> sources = fit(votes, likely)
    >>> sources.posterior(votes, likely).argmax(axis=1).tolist() == [0] * 10 + [1] * 10
    True
    """
    own = by_votes(votes, likely.shape[1])
    if not tells:
        return replace(own, prior=TRUST * own.prior, trust=TRUST)
    sources = replace(own, prior=own.prior / 2, trust=TRUST, weight=WEIGHT)
    if own.model.free:
        return sources
    chosen = _chosen(votes)
    # The majority does not say how frequent classes are; votes and members together do.
    even = replace(sources, prior=np.zeros(likely.shape[1]))
    true = softmax(even.total(even.scores(votes[chosen]), likely[chosen]))
    return replace(sources, prior=frequencies(true) / 2)


def first_codes(votes: Votes) -> np.ndarray:
    """Return the labels by votes alone, (n,) int64 codes, see :meth:`Sources.first`."""
    used, codes = votes.used
    return np.asarray(np.append(used, -1)[by_votes(codes, len(used)).first(codes)])


def by_votes(votes: np.ndarray, n_classes: int) -> Sources:
    """Estimate what votes, (n, m) int, are worth by themselves."""
    voted = votes[(votes >= 0).any(axis=1)]
    # In one order: sums of floats depend on it.
    voted = np.ascontiguousarray(voted[np.lexsort(voted.T)], dtype=np.int32)
    key = sha256(voted.tobytes()).digest() + bytes(str((voted.shape, n_classes)), "ascii")
    found = _last.get(key)
    if found is None:
        signals = Signals.of(voted, n_classes)
        model = own_model(vote_rows(signals, voted[_chosen(voted)]))
        found = Sources(signals, model, model.prior)
        _last.clear()  # another thread may be between the same lines
        _last[key] = found
    return found


def _chosen(votes: np.ndarray) -> np.ndarray:
    """Return the positions of the rows to estimate from: with a vote, at most ``MOST_ROWS``."""
    chosen = np.flatnonzero((votes >= 0).any(axis=1))
    return chosen if len(chosen) <= MOST_ROWS else chosen[_sample(votes[chosen])]


def _sample(votes: np.ndarray) -> np.ndarray:
    """Return about ``MOST_ROWS`` positions by hashes of the votes, the same rows in any order."""
    keys = np.zeros(len(votes), dtype=np.uint64)
    for column in range(votes.shape[1]):
        keys = tie_hash(keys ^ (votes[:, column] + 1).astype(np.uint64), column)
    order = np.argsort(keys, kind="stable")
    first = np.append(True, np.diff(keys[order]) > 0)
    starts = np.flatnonzero(first)
    ranks = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    keys[order] = tie_hash(keys[order] ^ ranks.astype(np.uint64), votes.shape[1])
    return np.sort(np.argpartition(keys, MOST_ROWS)[:MOST_ROWS])
