"""A fitted committee: it judges samples outside those that it was fitted to.

Notation: m samples, k classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.selection.fitted import FittedMember
from lops_adapters.selection.likelihoods import likelihoods
from lops_adapters.selection.posterior import posterior_given

_BLOCK = 8192  # samples judged at a time


class Verdict(NamedTuple):
    """What a committee says of m labels.

    Attributes:
        mask: (m,) bool, kept.
        right: (m,) float64, the probability that the label is right: the confidence of the
            selection.
        suggested: (m,) int64 codes of the most probable classes, given members and labels.
        probability: (m,) float64, of the suggested class.

    """

    mask: np.ndarray
    right: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray

    def at(self, positions: np.ndarray) -> Verdict:
        """Return the verdicts at (n,) int positions."""
        return Verdict(*(part[positions] for part in self))


@dataclass(frozen=True)
class Judge:
    """Judges labels of samples that no member has seen; can be pickled.

    A learnt member answers by the mean of its folds' probes. The numbers that
    :class:`~lops_adapters.selection.committee.Committee` takes from all samples come from the ones
    it was fitted to.

    Args:
        classes: k labels, in the order of their codes.
        members: at least one.
        shares: (k,) of the pseudo-labels.
        given: (k, k) distribution of true classes per label.
        least: (k,) the smallest probability that is kept, per class.

    """

    classes: Sequence[Hashable]
    members: Sequence[FittedMember]
    shares: np.ndarray
    given: np.ndarray
    least: np.ndarray

    def __call__(self, samples: Sequence[Any], codes: np.ndarray) -> Verdict:
        """Judge samples by their (m,) int codes; a sample's verdict depends on itself only.

        Raises:
            LopsError: a member gives NaN, and what the members raise.

        """
        parts = [
            self._block(samples[start : start + _BLOCK], codes[start : start + _BLOCK])
            for start in range(0, max(1, len(codes)), _BLOCK)
        ]
        return Verdict(*map(np.concatenate, zip(*parts, strict=True)))

    def _block(self, samples: Sequence[Any], codes: np.ndarray) -> Verdict:
        if not len(codes):
            none = np.zeros(0)
            return Verdict(none.astype(bool), none, none.astype(np.int64), none)
        read: dict[int, Any] = {}
        total = np.zeros(())
        for member in self.members:
            if id(member.read) not in read:
                read[id(member.read)] = samples if member.read is None else member.read(samples)
            probabilities = member(read[id(member.read)])
            if np.isnan(probabilities).any():
                raise LopsError(
                    "a member gives NaN for samples outside the training; lower its learning rate"
                )
            total = total + likelihoods(probabilities, self.shares)
        true = posterior_given(total / len(self.members), codes, self.given)
        right = true[np.arange(len(codes)), codes]
        return Verdict(right >= self.least[codes], right, true.argmax(axis=1), true.max(axis=1))


Fitted = Callable[[Judge], None]  # receives the judge of other samples
