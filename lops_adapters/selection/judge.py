"""A fitted committee: it judges samples outside those that it was fitted to.

Notation: m samples, k classes, v views.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.selection.automatic import scaled
from lops_adapters.selection.confidences.margin import margins
from lops_adapters.selection.fitted import FittedView
from lops_adapters.selection.posterior import posterior_given

_BLOCK = 8192  # samples judged at a time


class Verdict(NamedTuple):
    """What a committee says of m labels.

    Attributes:
        mask: (m,) bool, kept.
        scores: (m,) float64, as the confidence of the selection.
        suggested: (m,) int64 codes of the most probable classes, given views and labels.
        probability: (m,) float64, of the suggested class.
        right: (m,) float64, the probability that the label is right.

    """

    mask: np.ndarray
    scores: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray
    right: np.ndarray

    def at(self, positions: np.ndarray) -> Verdict:
        """Return the verdicts at (n,) int positions."""
        return Verdict(*(part[positions] for part in self))


@dataclass(frozen=True)
class Judge:
    """Judges labels of samples that no view has seen; can be pickled.

    A learnt view answers by the mean of its folds' probes. The numbers that
    :class:`~lops_adapters.selection.committee.Committee` takes from all samples come from the ones
    it was fitted to.

    Args:
        classes: k labels, in the order of their codes.
        views: v of them.
        own: (v, k) mean self-confidences.
        strengths: (v, k), with which classes compete for samples with other labels.
        weights: (v,), of the views.
        given: (k, k) distribution of true classes per label.
        least: (k,) the smallest score that is kept, per class.
        sure: whether the score is a probability.

    """

    classes: Sequence[Hashable]
    views: Sequence[FittedView]
    own: np.ndarray
    strengths: np.ndarray
    weights: np.ndarray
    given: np.ndarray
    least: np.ndarray
    sure: bool

    def __call__(self, samples: Sequence[Any], codes: np.ndarray) -> Verdict:
        """Judge samples by their (m,) int codes; a sample's verdict depends on itself only.

        Raises:
            LopsError: a view gives NaN, and what the views raise.

        """
        parts = [
            self._block(samples[start : start + _BLOCK], codes[start : start + _BLOCK])
            for start in range(0, max(1, len(codes)), _BLOCK)
        ]
        return Verdict(*map(np.concatenate, zip(*parts, strict=True)))

    def _block(self, samples: Sequence[Any], codes: np.ndarray) -> Verdict:
        if not len(codes):
            none = np.zeros(0)
            return Verdict(none.astype(bool), none, none.astype(np.int64), none, none)
        read: dict[int, Any] = {}
        mean, score = np.zeros(()), np.zeros(())
        for view, weight, own, strengths in zip(
            self.views, self.weights, self.own, self.strengths, strict=True
        ):
            if id(view.read) not in read:
                read[id(view.read)] = samples if view.read is None else view.read(samples)
            probabilities = view(read[id(view.read)])
            if np.isnan(probabilities).any():
                raise LopsError(
                    "a view gives NaN for samples outside the training; lower its learning rate"
                )
            judged = scaled(probabilities, codes, own, strengths)
            mean, score = mean + weight * judged, score + weight * margins(judged, codes)
        true = posterior_given(mean, codes, self.given)
        right = true[np.arange(len(codes)), codes]
        score = right if self.sure else score
        mask = score >= self.least[codes]
        return Verdict(mask, score, true.argmax(axis=1), true.max(axis=1), right)


Fitted = Callable[[Judge], None]  # receives the judge of other samples
