"""A fitted committee: it assesses labels of samples outside those that it was fitted to.

Notation: m samples, k classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.selection.committee.belief import Model, suggestions
from lops_adapters.selection.committee.likelihoods import likelihoods
from lops_adapters.selection.committee.member import Member, vectors_of, without_nan

_BLOCK = 8192  # samples assessed at a time


class Assessment(NamedTuple):
    """What a committee says of m labels.

    Attributes:
        mask: (m,) bool, kept.
        right: (m,) float64, the probability that the label is right: the confidence of the
            selection.
        suggested: (m,) int64 codes of :func:`.belief.suggestions`; -1: a person says that no class
            fits.
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
        """The codes to suggest, (m,) int64; -2 where a rejected label has no suggestion."""
        return np.where(~self.mask & (self.suggested == self.labels), -2, self.suggested)

    def at(self, positions: np.ndarray) -> Assessment:
        """Return what is said of the labels at (n,) int positions."""
        return Assessment(*(part[positions] for part in self))


@dataclass(frozen=True)
class FittedCommittee:
    """Assesses labels of samples that no member was trained on; can be pickled.

    Attributes:
        classes: k labels, in the order of their codes.
        members: at least one.
        model: what turns their scores into probabilities.
        least: (k,) the smallest probability that is kept, per class.
    """

    classes: Sequence[Hashable]
    members: Sequence[Member]
    model: Model
    least: np.ndarray

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
        parts, posterior = [np.zeros((0, len(self.classes)))], self.model.posterior
        for rows in _blocks(len(samples)):
            of_members, _ = self._likelihoods(samples[rows], None)
            likely = posterior.mean.of(of_members, np.full(len(of_members[0]), -1))
            parts.append(posterior.unlabelled(likely))
        return np.concatenate(parts)

    def _block(
        self, samples: Sequence[Any], labels: np.ndarray, groups: np.ndarray | None
    ) -> Assessment:
        if not len(labels):
            none, codes = np.zeros(0), np.zeros(0, np.int64)
            return Assessment(none.astype(bool), none, codes, none, codes)
        model, posterior = self.model, self.model.posterior
        of_members, read = self._likelihoods(samples, groups)
        codes = labels if posterior.sources is None else posterior.sources.first(labels)
        codes, true = posterior(posterior.mean.of(of_members, codes), codes, labels)
        compared = self.members if model.has_checks else ()
        vectors = vectors_of(compared, len(codes), lambda one: read[id(one.reader)])
        true = model.believed(true, model.rows(true, codes, vectors))
        right = true[np.arange(len(codes)), codes]
        return Assessment(right >= self.least[codes], right, *suggestions(true, codes), codes)

    def _likelihoods(
        self, samples: Sequence[Any], groups: np.ndarray | None
    ) -> tuple[list[np.ndarray], dict[int, Any]]:
        read: dict[int, Any] = {}
        of_members = []
        for member in self.members:
            reader = id(member.reader)
            if reader not in read:
                read[reader] = samples if member.reader is None else member.reader(samples)
            scored = member.score_unseen(read[reader], groups)
            probabilities = without_nan(member, scored)
            of_members.append(likelihoods(probabilities, self.model.posterior.mean.shares))
        return of_members, read


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, count, _BLOCK)]
