"""A fitted committee: it assesses labels of samples outside those that it was fitted to.

Notation: m samples, k classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.probes.regression import softmax
from lops_adapters.selection.committee.arbiter import Arbiter, held_out_share, learn
from lops_adapters.selection.committee.calibration import Calibration
from lops_adapters.selection.committee.likelihoods import likelihoods, weakened
from lops_adapters.selection.committee.member import Member, vectors_of, without_nan
from lops_adapters.selection.committee.posterior import (
    SHARPNESS,
    NoiseEstimate,
    estimate_noise,
    evidence,
    posterior_given,
)
from lops_adapters.selection.votes.sources import Sources

_BLOCK = 8192  # samples assessed at a time
# Checked rows that weigh as much as the calibration. Chosen next to 8, 15 and 50, to the arbiter
# alone and to a choice by cross-validation, see docs/reproducibility.md, note 34.
CALIBRATION_WORTH = 30
LEAST_BEFORE = 0.1  # of calibrated probabilities there, so that checked rows can overrule them


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

    Args:
        classes: k labels, in the order of their codes.
        members: at least one.
        weights: of every member in the mean.
        shares: (k,) of the pseudo-labels.
        factors: (k,) of :func:`~lops_adapters.selection.committee.likelihoods.strengths`.
        true_given_label: (k, k) distribution of true classes per label; of votes, even.
        calibration: of the posterior; None: it is not calibrated.
        sources: what votes are worth; None: each sample has one label.
        arbiter: learnt from checked rows, if there are any.
        arbitrates: the arbiter's share in the probabilities, in [0, 1].
        least: (k,) the smallest probability that is kept, per class.
    """

    classes: Sequence[Hashable]
    members: Sequence[Member]
    weights: Sequence[float]
    shares: np.ndarray
    factors: np.ndarray
    true_given_label: np.ndarray = field(default_factory=lambda: np.zeros(0))
    calibration: Calibration | None = None
    sources: Sources | None = None
    arbiter: Arbiter | None = None
    arbitrates: float = 1.0
    least: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __call__(
        self, samples: Sequence[Any], labels: np.ndarray, groups: np.ndarray | None = None
    ) -> Assessment:
        """Assess labels, or votes, of samples; each sample is assessed by itself.

        Labels of m samples are (m,) int codes; of votes, (m, sources) codes, -1 for abstentions, at
        least one vote per sample. Groups are (m,) int codes, as of the samples that the committee
        was fitted to, -1: another group. Raises a LopsError if a member gives NaN, and what members
        raise.
        """
        parts = [
            self._block(samples[rows], labels[rows], None if groups is None else groups[rows])
            for rows in _blocks(len(labels)) or [slice(0)]
        ]
        return Assessment(*map(np.concatenate, zip(*parts, strict=True)))

    def probabilities(self, samples: Sequence[Any]) -> np.ndarray:
        """Return the probabilities of the classes of samples without a label, (m, k) float64."""
        parts = [np.zeros((0, len(self.classes)))]
        for rows in _blocks(len(samples)):
            of_members, _ = self._likelihoods(samples[rows], None)
            likely = self.likely(of_members, np.full(len(of_members[0]), -1))
            if self.sources is None:
                parts.append(softmax(evidence(likely)))
            else:
                parts.append(softmax(self.sources.total(np.zeros(likely.shape), likely)))
        return np.concatenate(parts)

    def _block(
        self, samples: Sequence[Any], labels: np.ndarray, groups: np.ndarray | None
    ) -> Assessment:
        if not len(labels):
            none, codes = np.zeros(0), np.zeros(0, np.int64)
            return Assessment(none.astype(bool), none, codes, none, codes)
        of_members, read = self._likelihoods(samples, groups)
        codes = labels if self.sources is None else self.sources.first(labels)
        likely = self.likely(of_members, codes)
        codes, true = self.unchecked(likely, codes, labels)
        if self.arbiter is not None:
            vectors = vectors_of(self.members, len(codes), lambda one: read[id(one.reader)])
            true = self.arbitrated(self.opinions(of_members, codes, true), codes, vectors, true)
        right = true[np.arange(len(codes)), codes]
        suggested, probability = true.argmax(axis=1), true.max(axis=1)
        return Assessment(right >= self.least[codes], right, suggested, probability, codes)

    def _likelihoods(
        self, samples: Sequence[Any], groups: np.ndarray | None
    ) -> tuple[list[np.ndarray], dict[int, Any]]:
        """Return the members' likelihoods, (m, k), and what their readers read."""
        read: dict[int, Any] = {}
        of_members = []
        for member in self.members:
            reader = id(member.reader)
            if reader not in read:
                read[reader] = samples if member.reader is None else member.reader(samples)
            scored = member.score_further(read[reader], groups)
            probabilities = without_nan(member, scored)
            of_members.append(likelihoods(probabilities, self.shares))
        return of_members, read

    def likely(self, of_members: Sequence[np.ndarray], codes: np.ndarray) -> np.ndarray:
        """Return the mean likelihoods, (m, k), in which rare classes are limited."""
        total = sum(weight * each for weight, each in zip(self.weights, of_members, strict=True))
        return weakened(np.asarray(total / sum(self.weights)), codes, self.factors)

    def unchecked(
        self, likely: np.ndarray, codes: np.ndarray, votes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return codes of the labels and (m, k) probabilities of true classes, without arbiter.

        With sources, the labels are the most probable classes, by their votes.
        """
        if self.sources is None:
            true = posterior_given(likely, codes, self.true_given_label)
            if self.calibration is None:
                return codes, true
            return codes, self._believed(self.calibration(true, codes), codes)
        alone = ((votes < 0) | (votes == codes[:, None])).all(axis=1)
        true = self._believed(self.sources.posterior(votes, likely), codes, alone)
        return true.argmax(axis=1), true

    def noise(
        self, likely: np.ndarray, labels: np.ndarray, true: np.ndarray, tells: bool
    ) -> NoiseEstimate | None:
        """Return the estimated share of wrong labels; None if the members cannot tell.

        Labels are (n,) int codes, ``true`` (n, k) of :meth:`unchecked`.
        """
        if self.calibration is not None:
            return self.calibration.noise(true, labels)
        return estimate_noise(likely, labels) if tells else None

    def opinions(
        self, of_members: Sequence[np.ndarray], codes: np.ndarray, true: np.ndarray
    ) -> list[np.ndarray]:
        """Return what the arbiter weighs: the members; or members and votes as one probability."""
        if self.sources is not None:
            return [true]
        return [weakened(each, codes, self.factors) for each in of_members]

    def taught(
        self,
        opinions: Sequence[np.ndarray],
        codes: np.ndarray,
        vectors: np.ndarray,
        rows: np.ndarray,
        checks: np.ndarray,
    ) -> FittedCommittee:
        """Return the committee with an arbiter that learns from checked rows, -1: no class."""
        competes = np.isin(checks, np.flatnonzero(np.isfinite(self.shares)))
        rows, checks, truth = rows[competes], checks[competes], self.true_given_label
        if self.sources is not None:
            arbiter = learn(opinions, codes, truth, rows, checks, vectors, [1.0], 1.0)
            share = held_out_share(opinions[0], codes, truth, rows, checks, vectors)
            return replace(self, arbiter=arbiter, arbitrates=share)
        arbiter = learn(opinions, codes, truth, rows, checks, vectors, self.weights, SHARPNESS)
        if self.calibration is None:
            return replace(self, arbiter=arbiter)
        share = len(rows) / (len(rows) + CALIBRATION_WORTH)
        return replace(self, arbiter=arbiter, arbitrates=share)

    def arbitrated(
        self,
        opinions: Sequence[np.ndarray],
        codes: np.ndarray,
        vectors: np.ndarray,
        calibrated: np.ndarray,
    ) -> np.ndarray:
        """Return the probabilities of the true classes, (m, k), by the arbiter.

        Probabilities ``calibrated``, (m, k), count as much as ``CALIBRATION_WORTH`` checked
        rows, so that few rows seldom make labels worse. Of votes, they count as far as the arbiter
        does not improve them on held-out checked rows.
        """
        assert self.arbiter is not None
        true = self.arbiter.probabilities(opinions, codes, vectors)
        if self.arbitrates < 1:
            share, least = self.arbitrates, LEAST_BEFORE if self.sources is None else 1e-4
            logs = np.log(np.maximum(true, 1e-9)), np.log(np.maximum(calibrated, least))
            true = softmax(share * logs[0] + (1 - share) * logs[1])
        return self._believed(true, codes)

    def _believed(
        self, true: np.ndarray, codes: np.ndarray, alone: np.ndarray | bool = True
    ) -> np.ndarray:
        """Set and return the probabilities of labels of classes too small to be checked.

        ``alone``: where no source votes for another class, (n,) bool.
        """
        believed = np.isinf(self.shares)[codes] & alone
        true[believed] = np.eye(len(self.shares))[codes[believed]]
        return true


Fitted = Callable[[FittedCommittee], None]  # receives the committee, fitted


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, count, _BLOCK)]
