"""What a committee believes about labels, given the scores of its members and checked rows.

Notation: n samples, m unseen samples, k classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.committee.arbiter import Arbiter, held_out_share, learn
from lops_adapters.selection.committee.calibration import Calibration, calibration_of, diagnose
from lops_adapters.selection.committee.likelihoods import LEAST_SKILL, skill
from lops_adapters.selection.committee.posterior import (
    SHARPNESS,
    NoiseEstimate,
    estimate_noise,
    evidence,
    label_distribution,
    least_kept,
    posterior_given,
)
from lops_adapters.selection.committee.scores import Mean, Scores
from lops_adapters.selection.votes.source_table import Source, assess
from lops_adapters.selection.votes.sources import Sources
from lops_adapters.selection.votes.sources import fit as fit_sources
from lops_adapters.surroundings import one_blas_thread

# Checked rows that weigh as much as the calibration. Chosen next to 8, 15 and 50, to the arbiter
# alone and to a choice by cross-validation, see docs/reproducibility.md, note 34.
CALIBRATION_WORTH = 30
LEAST_BEFORE = 0.1  # of calibrated probabilities there, so that checked rows can overrule them


@dataclass(frozen=True)
class Model:
    """What turns scores of any samples into probabilities of their true classes; can be pickled.

    Attributes:
        mean: of the members.
        true_given_label: (k, k) distribution of true classes per label; of votes, even.
        calibration: of the posterior; None: it is not calibrated.
        sources: what votes are worth; None: each sample has one label.
        arbiter: learnt from checked rows, if there are any.
        arbitrates: the arbiter's share in the probabilities, in [0, 1].
    """

    mean: Mean
    true_given_label: np.ndarray
    calibration: Calibration | None = None
    sources: Sources | None = None
    arbiter: Arbiter | None = None
    arbitrates: float = 1.0

    def unlabelled(self, likely: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (m, k), of samples without a label."""
        if self.sources is None:
            return softmax(evidence(likely))
        return softmax(self.sources.total(np.zeros(likely.shape), likely))

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
        return [self.mean.limited(each, codes) for each in of_members]

    def taught(
        self,
        opinions: Sequence[np.ndarray],
        codes: np.ndarray,
        vectors: np.ndarray,
        rows: np.ndarray,
        checks: np.ndarray,
    ) -> Model:
        """Return the model with an arbiter that learns from checked rows, -1: no class."""
        competes = np.isin(checks, np.flatnonzero(~self.mean.small))
        rows, checks, truth = rows[competes], checks[competes], self.true_given_label
        if self.sources is not None:
            arbiter = learn(opinions, codes, truth, rows, checks, vectors, [1.0], 1.0)
            share = held_out_share(opinions[0], codes, truth, rows, checks, vectors)
            return replace(self, arbiter=arbiter, arbitrates=share)
        weights = self.mean.weights
        arbiter = learn(opinions, codes, truth, rows, checks, vectors, weights, SHARPNESS)
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
        believed = self.mean.small[codes] & alone
        true[believed] = np.eye(len(self.mean.shares))[codes[believed]]
        return true


@dataclass(frozen=True)
class Belief:
    """What is believed about n samples.

    Attributes:
        model: what believes it.
        labels: (n,) int64 codes; of votes, the most probable classes.
        before, true: (n, k) probabilities of the true classes, without and with checked rows.
        tells: whether members or checked rows can tell right from wrong labels.
        noise: the estimated share of wrong labels; None: it cannot be estimated.
        sources: of votes, what is estimated of each source.
    """

    model: Model
    labels: np.ndarray
    before: np.ndarray
    true: np.ndarray
    tells: bool
    noise: NoiseEstimate | None
    sources: Sequence[Source] = ()

    def least_kept(self, right: np.ndarray) -> float:
        """Return the least probability that is kept by default; ``right``: (n,) of the labels."""
        if self.model.sources is not None and not self.tells:
            return 0.0
        return 0.5 if self.model.calibration is not None else least_kept(right)


def believe(scores: Scores, labelled: Labelled, kind: str, *, count_label: bool = True) -> Belief:
    """Return what is believed about samples without their checked rows; these count for votes only.

    Args:
        scores: of the members.
        labelled: n samples, all with a label.
        kind: of the inputs, whose calibration counts.
        count_label: whether the label itself is evidence for the class.
    """
    likely, codes = scores.likely, labelled.codes
    tells = skill(likely, codes) >= LEAST_SKILL
    votes = codes if labelled.votes is None else labelled.votes.among(labelled.classes)
    estimates: list[Source] = []
    if labelled.votes is None:
        model = _of_labels(scores, codes, kind, tells, count_label)
    else:
        sources, estimates = _of_votes(scores, votes, labelled.checked, tells)
        k, tells = likely.shape[1], sources.tells
        model = Model(scores.mean, np.full((k, k), 1 / k), sources=sources)
    labels, true = model.unchecked(likely, codes, votes)
    noise = model.noise(likely, labels, true, tells)
    return Belief(model, labels, true, true, tells, noise, estimates)


@one_blas_thread
def _of_labels(
    scores: Scores, codes: np.ndarray, kind: str, tells: bool, count_label: bool
) -> Model:
    """Estimate how far to believe labels."""
    likely, calibration = scores.likely, None
    if count_label and len(scores.choices) > 1:
        of_class = np.bincount(codes, minlength=likely.shape[1])
        calibration = calibration_of(diagnose(scores.choices, likely, codes), of_class, kind)
        tells = True  # as far as they can
    folds = scores.folds
    truth = label_distribution(likely, codes, folds, count_label=count_label, tells=tells)
    return Model(scores.mean, truth, calibration)


@one_blas_thread
def _of_votes(
    scores: Scores, votes: np.ndarray, checked: Mapping[int, int], tells: bool
) -> tuple[Sources, list[Source]]:
    """Estimate how far to believe votes, and what each source is worth."""
    known = {row: code for row, code in checked.items() if code >= 0}
    rows, true = (np.array([*part], dtype=np.int64) for part in (known, known.values()))
    sources = fit_sources(votes, scores.likely, rows, true, SHARPNESS if tells else 0.0)
    return sources, assess(sources, votes, scores.likely)


def learnt(belief: Belief, scores: Scores, labelled: Labelled) -> Belief:
    """Return what is believed after a person has checked rows; these are certain."""
    rows = np.array(list(labelled.checked), dtype=np.int64)
    checks = np.array([*labelled.checked.values()], dtype=np.int64)
    labels, before, vectors = belief.labels, belief.before, scores.vectors
    opinions = belief.model.opinions(scores.of_members, labelled.codes, before)
    model = belief.model.taught(opinions, labels, vectors, rows, checks)
    true = model.arbitrated(opinions, labels, vectors, before)
    named = checks >= 0
    true[rows[named]] = np.eye(true.shape[1])[checks[named]]
    return replace(belief, model=model, true=true, tells=True)
