"""A fitted committee: it assesses labels of samples outside those that it was fitted to.

Notation: m samples, k classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.selection.arbiter import Arbiter
from lops_adapters.selection.draw import Drawn, row_ids
from lops_adapters.selection.likelihoods import likelihoods, weakened
from lops_adapters.selection.members import Member, vector_member, weights_of
from lops_adapters.selection.posterior import posterior_given

_BLOCK = 8192  # samples assessed at a time


class Assessment(NamedTuple):
    """What a committee says of m labels.

    Attributes:
        mask: (m,) bool, kept.
        right: (m,) float64, the probability that the label is right: the confidence of the
            selection.
        suggested: (m,) int64 codes of the most probable classes, given members and labels; -1: a
            person says that it is none of them.
        probability: (m,) float64, of the suggested class.

    """

    mask: np.ndarray
    right: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray

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
        shares: (k,) of the pseudo-labels.
        true_given_label: (k, k) distribution of true classes per label.
        least: (k,) the smallest probability that is kept, per class.
        factors: (k,) of :func:`~lops_adapters.selection.likelihoods.strengths`.
        arbiter: learnt from checked rows, if there are any.

    """

    classes: Sequence[Hashable]
    members: Sequence[Member]
    shares: np.ndarray
    true_given_label: np.ndarray
    least: np.ndarray
    factors: np.ndarray
    arbiter: Arbiter | None = None

    def __call__(self, samples: Sequence[Any], codes: np.ndarray) -> Assessment:
        """Assess (m,) int codes of samples; each is assessed by itself.

        Raises:
            LopsError: a member gives NaN, and what the members raise.

        """
        parts = [
            self._block(samples[start : start + _BLOCK], codes[start : start + _BLOCK])
            for start in range(0, max(1, len(codes)), _BLOCK)
        ]
        return Assessment(*map(np.concatenate, zip(*parts, strict=True)))

    def _block(self, samples: Sequence[Any], codes: np.ndarray) -> Assessment:
        if not len(codes):
            none = np.zeros(0)
            return Assessment(none.astype(bool), none, none.astype(np.int64), none)
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
        true = self._true(of_members, codes, read)
        right = true[np.arange(len(codes)), codes]
        return Assessment(right >= self.least[codes], right, true.argmax(axis=1), true.max(axis=1))

    def _true(
        self, of_members: Sequence[np.ndarray], codes: np.ndarray, read: Mapping[int, Any]
    ) -> np.ndarray:
        """Return the probabilities of the true classes, (m, k), from the members' likelihoods."""
        if self.arbiter is None:
            weights = weights_of(self.members)
            total = sum(weight * each for weight, each in zip(weights, of_members, strict=True))
            mean = np.asarray(total / sum(weights))
            mean = weakened(mean, codes, self.factors)
            return posterior_given(mean, codes, self.true_given_label)
        member = vector_member(self.members)
        vectors = None if member is None else member.vectors(read[id(member.reader)])
        of_members = [weakened(each, codes, self.factors) for each in of_members]
        true = self.arbiter.probabilities(of_members, codes, vectors)
        believed = np.isinf(self.shares)[codes]  # labels of classes that cannot be checked
        true[believed] = np.eye(len(self.shares))[codes[believed]]
        return true


Fitted = Callable[[FittedCommittee], None]  # receives the committee, fitted


class SampleCommittee:
    """Assesses any block of a table by a committee that was fitted to a sample of its rows.

    Rows of the sample, and rows equal to one of them (same content, same label; the first of
    these), keep what the committee said of the sample. Can be pickled.

    Args:
        committee: assesses all other rows.
        drawn: the sample.
        assessment: of the sample's rows, in their order.
        labels: (k,) uint64 keys of the classes, in the order of the committee's codes.

    """

    def __init__(
        self, committee: FittedCommittee, drawn: Drawn, assessment: Assessment, labels: np.ndarray
    ) -> None:
        self.committee, self._labels = committee, labels
        self._positions, self._assessment = drawn.positions, assessment
        self._first = np.lexsort((drawn.positions, drawn.ids))
        self._ids = drawn.ids[self._first]

    def __call__(
        self, samples: Sequence[Any], codes: np.ndarray, keys: np.ndarray, positions: np.ndarray
    ) -> Assessment:
        """Assess a block.

        Args:
            samples: m rows.
            codes: (m,) int64 class codes.
            keys: (m,) uint64 of :func:`~lops_adapters.selection.canonical.content_keys`.
            positions: (m,) int64 in the table.

        Raises:
            LopsError: what the committee raises.

        """
        drawn, is_drawn = _searched(self._positions, positions)
        equal, is_equal = _searched(self._ids, row_ids(keys, self._labels[codes]))
        new = np.flatnonzero(~(is_drawn | is_equal))
        assessment = self._assessment.at(np.where(is_drawn, drawn, self._first[equal]))
        of_new = self.committee([samples[i] for i in new.tolist()], codes[new])
        for part, further in zip(assessment, of_new, strict=True):
            part[new] = further
        return assessment


def _searched(ordered: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each value in an ascending array, and whether it is there."""
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return places, ordered[places] == wanted
