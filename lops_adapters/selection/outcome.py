"""What a method says of the labels of n samples, whole."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters.core import ClassReport, Selection
from lops_adapters.selection.selectors import Corrected, objects

if TYPE_CHECKING:
    from lops_adapters.selection.committee.assessment import FittedCommittee
    from lops_adapters.selection.committee.noise import Noise
    from lops_adapters.selection.votes.source_table import Source

_OF_ROWS = ("mask", "confidence", "labels", "learnt_at", "suggested", "probability")


class Predicted:
    """The class of the last prediction for each of n samples.

    Attributes:
        codes: (n,) int64; -1: never predicted.
        probability: (n,) float64 in [0, 1], of that class; NaN: never predicted.

    >>> predicted = Predicted(3)
    >>> predicted.note(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]))
    >>> predicted.note(np.array([[0.125, 0.875]]), np.array([1]))
    >>> predicted.codes.tolist(), predicted.probability.tolist()
    ([0, 1, 1], [0.75, 0.875, 0.75])
    """

    def __init__(self, n: int) -> None:
        self.codes = np.full(n, -1, dtype=np.int64)
        self.probability = np.full(n, np.nan)

    @classmethod
    def of(cls, probabilities: np.ndarray) -> Predicted:
        """Return the classes of one prediction, (n, k) probabilities."""
        predicted = cls(len(probabilities))
        predicted.note(probabilities)
        return predicted

    def note(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Note (m, k) class probabilities of samples at (m,) positions; None: all, in order."""
        where = slice(None) if positions is None else positions
        self.codes[where] = probabilities.argmax(axis=1)
        self.probability[where] = probabilities.max(axis=1)


@dataclass(frozen=True)
class Outcome:
    """What a method says of n samples; labels and classes are codes 0..k-1.

    Attributes:
        mask: (n,) bool, kept.
        confidence: (n,) float64, larger is more trusted; of a method that assesses labels, the
            probability that the label is right.
        labels: (n,) int64, after the method: of votes the most probable class; corrected, if the
            method corrects labels.
        reports: what is kept of each class, and why, in the order of the codes.
        rule: name of the method.
        stopped: how a probe trained, in words.
        learnt_at: (n,) float64 epochs; inf: never, or not recorded.
        suggested: (n,) int64, the most probable class; -1: none, or checked as of no class; below:
            checked as one of :attr:`.Labelled.others`.
        probability: (n,) float64 in [0, 1], of the suggested class; NaN without one.
        noise: the share of wrong labels; None: not estimated.
        fitted: scores unseen samples, with :attr:`.Choice.score_unseen`; None: not asked for.
        sources: of votes, what is estimated of each source.
        joined: of votes, a sentence: by which rule, and why.
    """

    mask: np.ndarray
    confidence: np.ndarray
    labels: np.ndarray
    reports: Sequence[ClassReport]
    rule: str
    stopped: str
    learnt_at: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray
    noise: Noise | None = None
    fitted: FittedCommittee | None = None
    sources: Sequence[Source] = ()
    joined: str = ""

    @classmethod
    def of(
        cls,
        mask: np.ndarray,
        confidence: np.ndarray,
        labels: np.ndarray,
        n_classes: int,
        *,
        rule: str,
        stopped: str,
        why: str | Sequence[str],
        learnt_at: np.ndarray | None = None,
        predicted: Predicted | None = None,
    ) -> Outcome:
        """Return the outcome of a mask; each class's threshold is the number kept.

        Args:
            why: one reason for all classes, or one per class.
            learnt_at: default: not recorded.
        """
        n, k = len(labels), n_classes
        learnt_at = np.full(n, np.inf) if learnt_at is None else learnt_at
        predicted = Predicted(n) if predicted is None else predicted
        numbers = [
            np.bincount(labels[which], minlength=k).tolist()
            for which in (np.ones(n, dtype=bool), np.isfinite(learnt_at), mask)
        ]
        reasons = [why] * k if isinstance(why, str) else why
        reports = [
            ClassReport(count, kept, learnt, kept, None, reason)
            for count, learnt, kept, reason in zip(*numbers, reasons, strict=True)
        ]
        codes, probability = predicted.codes, predicted.probability
        return cls(mask, confidence, labels, reports, rule, stopped, learnt_at, codes, probability)

    @classmethod
    def of_order(
        cls, order: Selection, codes: np.ndarray, predicted: Predicted | None = None
    ) -> Outcome:
        """Return the outcome of a learning order, given the (n,) codes of the labels."""
        predicted = Predicted(len(codes)) if predicted is None else predicted
        return cls(
            order.mask, order.confidence, codes, list(order.per_class.values()), order.rule,
            order.stopped, order.learnt_at, predicted.codes, predicted.probability,
        )  # fmt: skip

    def at(self, rows: np.ndarray) -> Outcome:
        """Return the outcome of the samples at (n,) positions, a permutation, in this order."""
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in _OF_ROWS}
        return replace(self, **parts)

    def corrected(self, has_checks: bool) -> np.ndarray:
        """Return the (n,) codes of labels to train on: checked, else kept, else suggested.

        -1: of no class, and without a suggestion. A checked row, and its copies, are kept with a
        confidence of 1, and their suggestion is the label that the person gave.
        """
        kept = self.mask & (self.confidence < 1) if has_checks else self.mask
        return np.where(kept, self.labels, self.suggested)

    def selection(self, classes: Sequence[Hashable], before: np.ndarray | None = None) -> Selection:
        """Return what users see, given the k classes.

        ``before``: (n,) codes of the labels, of a method that corrects them; then also all labels.
        """
        reports = dict(zip(classes, self.reports, strict=True))
        parts = self.mask, self.learnt_at, self.confidence
        selection = Selection(*parts, reports, self.rule, self.stopped)
        if before is None:
            return selection
        return Corrected(selection, *(objects(classes)[codes] for codes in (self.labels, before)))
