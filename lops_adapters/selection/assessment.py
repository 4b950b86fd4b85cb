"""A fitted committee: it assesses labels of samples outside those that it was fitted to.

Notation: m samples, k classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.arbiter import Arbiter
from lops_adapters.selection.draw import Drawn, row_ids
from lops_adapters.selection.likelihoods import likelihoods, weakened
from lops_adapters.selection.members import Member, vector_member
from lops_adapters.selection.posterior import evidence, posterior_given
from lops_adapters.selection.sources import Sources

_BLOCK = 8192  # samples assessed at a time


class Assessment(NamedTuple):
    """What a committee says of m labels.

    Attributes:
        mask: (m,) bool, kept.
        right: (m,) float64, the probability that the label is right: the confidence of the
            selection.
        suggested: (m,) int64 codes of the most probable classes, given members and labels; -1: a
            person says that no class fits.
        probability: (m,) float64, of the suggested class.
        labels: (m,) int64 codes of the labels; of votes, of the most probable class by members and
            votes.

    """

    mask: np.ndarray
    right: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray
    labels: np.ndarray

    @property
    def said(self) -> np.ndarray:
        """The codes to suggest, (m,) int64; -2 where a rejected label is the most probable one."""
        return np.where(~self.mask & (self.suggested == self.labels), -2, self.suggested)

    def at(self, positions: np.ndarray) -> Assessment:
        """Return what is said of the labels at (n,) int positions."""
        return Assessment(*(part[positions] for part in self))


@dataclass(frozen=True)
class FittedCommittee:
    """Assesses labels of samples that no member was trained on; can be pickled.

    The numbers that :class:`~lops_adapters.selection.committee.Committee` takes from all samples
    come from the ones it was fitted to.

    Args:
        classes: k labels, in the order of their codes.
        members: at least one.
        weights: of every member in the mean.
        shares: (k,) of the pseudo-labels.
        true_given_label: (k, k) distribution of true classes per label.
        least: (k,) the smallest probability that is kept, per class.
        factors: (k,) of :func:`~lops_adapters.selection.likelihoods.strengths`.
        arbiter: learnt from checked rows, if there are any.
        sources: what votes are worth; None: each sample has one label.

    """

    classes: Sequence[Hashable]
    members: Sequence[Member]
    weights: Sequence[float]
    shares: np.ndarray
    true_given_label: np.ndarray
    least: np.ndarray
    factors: np.ndarray
    arbiter: Arbiter | None = None
    sources: Sources | None = None

    def __call__(self, samples: Sequence[Any], labels: np.ndarray) -> Assessment:
        """Assess labels, or votes, of samples; each sample is assessed by itself.

        Args:
            samples: m of them.
            labels: (m,) int codes; of votes, (m, sources) codes, -1 for abstentions, at least one
                vote per sample.

        Raises:
            LopsError: a member gives NaN, and what the members raise.

        """
        parts = [
            self._block(samples[start : start + _BLOCK], labels[start : start + _BLOCK])
            for start in range(0, max(1, len(labels)), _BLOCK)
        ]
        return Assessment(*map(np.concatenate, zip(*parts, strict=True)))

    def suggest(self, samples: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the most probable classes of samples without a label, (m,), and how probable."""
        codes, probability = np.empty(len(samples), np.int64), np.empty(len(samples))
        for start in range(0, len(samples), _BLOCK):
            rows = slice(start, start + _BLOCK)
            of_members, _ = self._likelihoods(samples[rows])
            mean = self._mean(of_members)
            likely = weakened(mean, np.full(len(mean), -1), self.factors)
            prior = 0.0 if self.sources is None else self.sources.prior
            true = softmax(evidence(likely) + prior)
            codes[rows], probability[rows] = true.argmax(axis=1), true.max(axis=1)
        return codes, probability

    def _block(self, samples: Sequence[Any], labels: np.ndarray) -> Assessment:
        if not len(labels):
            none, codes = np.zeros(0), np.zeros(0, np.int64)
            return Assessment(none.astype(bool), none, codes, none, codes)
        of_members, read = self._likelihoods(samples)
        codes, true = self._true(of_members, labels, read)
        right = true[np.arange(len(codes)), codes]
        suggested, probability = true.argmax(axis=1), true.max(axis=1)
        return Assessment(right >= self.least[codes], right, suggested, probability, codes)

    def _likelihoods(self, samples: Sequence[Any]) -> tuple[list[np.ndarray], dict[int, Any]]:
        """Return the members' likelihoods, (m, k), and what their readers read."""
        read: dict[int, Any] = {}
        of_members = []
        for member in self.members:
            reader = id(member.reader)
            if reader not in read:
                read[reader] = samples if member.reader is None else member.reader(samples)
            probabilities = member.score_further(read[reader])
            if np.isnan(probabilities).any():
                raise LopsError(
                    f"the member {member.name!r} gives NaN for samples outside the training; lower "
                    "its learning rate"
                )
            of_members.append(likelihoods(probabilities, self.shares))
        return of_members, read

    def _true(
        self, of_members: Sequence[np.ndarray], labels: np.ndarray, read: Mapping[int, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of the labels, and the probabilities of the true classes, (m, k)."""
        mean, sources = self._mean(of_members), self.sources
        if sources is None:
            codes = labels
            likely = weakened(mean, codes, self.factors)
            true = posterior_given(likely, codes, self.true_given_label)
            of_members = [weakened(each, codes, self.factors) for each in of_members]
        else:
            first = sources.signals.labels(labels)
            true = sources.posterior(labels, weakened(mean, first, self.factors))
            self._believe(true, first)
            codes, of_members = true.argmax(axis=1), [true]
        if self.arbiter is not None:
            member = vector_member(self.members)
            vectors = None if member is None else member.vectors(read[id(member.reader)])
            true = self.arbiter.probabilities(of_members, codes, vectors)
            self._believe(true, codes)
        return codes, true

    def _mean(self, of_members: Sequence[np.ndarray]) -> np.ndarray:
        total = sum(weight * each for weight, each in zip(self.weights, of_members, strict=True))
        return np.asarray(total / sum(self.weights))

    def _believe(self, true: np.ndarray, codes: np.ndarray) -> None:
        """Set the probabilities of labels of classes too small to be checked."""
        believed = np.isinf(self.shares)[codes]
        true[believed] = np.eye(len(self.shares))[codes[believed]]


Fitted = Callable[[FittedCommittee], None]  # receives the committee, fitted


class SampleCommittee:
    """Assesses any block of a table by a committee that was fitted to a sample of its rows.

    Rows of the sample, and rows equal to one of them (same content, same label; the first of
    these), keep what the committee said of the sample. Can be pickled.

    Args:
        committee: assesses all other rows.
        drawn: the sample.
        assessment: of the sample's rows, in their order, with the codes of the table.
        labels: (k,) uint64 keys of the table's classes.
        places: (c,) int64 codes of the committee's classes in the table; default: the same codes.

    """

    def __init__(
        self,
        committee: FittedCommittee,
        drawn: Drawn,
        assessment: Assessment,
        labels: np.ndarray,
        places: np.ndarray | None = None,
    ) -> None:
        self.committee, self._labels = committee, labels
        self._places = np.arange(len(committee.classes)) if places is None else places
        self._positions, self._assessment = drawn.positions, assessment
        self._first = np.lexsort((drawn.positions, drawn.ids))
        self._ids = drawn.ids[self._first]

    def __call__(
        self, samples: Sequence[Any], codes: np.ndarray, keys: np.ndarray, positions: np.ndarray
    ) -> Assessment:
        """Assess a block.

        Args:
            samples: m rows.
            codes: (m,) int64 class codes; or votes, (m, sources) with the codes of the committee,
                in which case no row counts as equal to one of the sample.
            keys: (m,) uint64 of :func:`~lops_adapters.selection.canonical.content_keys`.
            positions: (m,) int64 in the table.

        Raises:
            LopsError: what the committee raises.

        """
        drawn, is_drawn = _searched(self._positions, positions)
        equal, is_equal = np.zeros_like(drawn), np.zeros(len(keys), dtype=bool)
        if codes.ndim == 1:
            equal, is_equal = _searched(self._ids, row_ids(keys, self._labels[codes]))
        new = np.flatnonzero(~(is_drawn | is_equal))
        assessment = self._assessment.at(np.where(is_drawn, drawn, self._first[equal]))
        of_new = self.committee([samples[i] for i in new.tolist()], codes[new])
        suggested, labels = self._places[of_new.suggested], self._places[of_new.labels]
        of_new = of_new._replace(suggested=suggested, labels=labels)
        for part, further in zip(assessment, of_new, strict=True):
            part[new] = further
        return assessment


def _searched(ordered: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each value in an ascending array, and whether it is there."""
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return places, ordered[places] == wanted
