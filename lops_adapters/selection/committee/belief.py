"""What a committee believes about labels: one model, from no checked row to any number of them.

The posterior of members and labels (:mod:`.posterior`), or of members and votes, is calibrated by
other tables (:mod:`.calibration`) and shifted by the checked rows of this one (:mod:`.shifts`).
Rejecting a label needs the probability that it is wrong; replacing it also needs the probability
that another class is right, which checked rows with another class shift as well.

Notation: n samples, m unseen samples, k classes, w the width of vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lops_adapters.labels.labelled import Labelled, with_copies
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.committee.calibration import (
    TOO_SURE,
    Calibration,
    calibration_of,
    coefficients,
    diagnose,
)
from lops_adapters.selection.committee.class_shares import shares_of, tilted
from lops_adapters.selection.committee.likelihoods import LEAST_SKILL, by_chance, skill
from lops_adapters.selection.committee.noise import Noise, as_arrays
from lops_adapters.selection.committee.posterior import (
    evidence,
    label_distribution,
    least_kept,
    posterior_given,
)
from lops_adapters.selection.committee.scores import Mean, Scores
from lops_adapters.selection.committee.shifts import Frame, Rows, Shifts, integrated, leaning
from lops_adapters.selection.votes.source_table import Source, assess
from lops_adapters.selection.votes.sources import Sources
from lops_adapters.selection.votes.sources import fit as fit_sources
from lops_adapters.surroundings import one_blas_thread

# Rejected rows, per wrong label at the upper end of its range: what is measured limits what is
# rejected.
MOST_REJECTED = 1.2
# Labels that may be more probably wrong than right by the texts alone, without checked rows and
# class shares: of 33 tables with known errors, in up to 58 % of their labels, the most is 29 %.
# Short texts of many classes leave more in doubt, right or wrong: docs/results/calibration.md.
MOST_DOUBTED = 0.3
# How much more probable than the label another class has to be, to take its place. Chosen on half
# of the families of docs/results/checked-rows.md and confirmed on the others: without it, labels
# that are replaced get worse on three of 33 tables.
MORE_PROBABLE = 0.15


@dataclass(frozen=True)
class Posterior:
    """Probabilities of true classes given members and labels or votes; they are not calibrated.

    Attributes:
        true_given_label: (k, k) distribution of true classes per label; of votes, even.
        sources: what votes are worth; None: each sample has one label.
    """

    mean: Mean
    true_given_label: np.ndarray
    sources: Sources | None = None

    def __call__(
        self, likely: np.ndarray, codes: np.ndarray, votes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return codes of the labels, (m,), and the probabilities, (m, k).

        With sources, the labels are the most probable classes, by their votes. Labels of classes
        too small to be checked are certain, unless a source votes for another class.
        """
        trusted, certain = self.mean.small[codes], np.eye(len(self.mean.shares))
        if self.sources is None:
            true = posterior_given(likely, codes, self.true_given_label)
            true[trusted] = certain[codes[trusted]]
            return codes, true
        true = self.sources.posterior(votes, likely)
        trusted &= ((votes < 0) | (votes == codes[:, None])).all(axis=1)
        true[trusted] = certain[codes[trusted]]
        return true.argmax(axis=1), true

    @property
    def joined(self) -> str:
        """By which rule votes are joined, and why; empty without votes."""
        return "" if self.sources is None else self.sources.joined

    def unlabelled(self, likely: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (m, k), of samples without a label."""
        if self.sources is None:
            return softmax(evidence(likely))
        return softmax(self.sources.total(np.zeros(likely.shape), likely))


@dataclass(frozen=True)
class Model:
    """What turns scores of any samples into probabilities of their true classes; can be pickled.

    Attributes:
        frame: makes the rows that shifts weigh.
        shifts: what checked rows say of wrong labels.
        lean: (1 + w, k), what they say of the classes of samples whose label is wrong.
    """

    posterior: Posterior
    calibration: Calibration
    frame: Frame
    shifts: Shifts
    lean: np.ndarray

    @classmethod
    def learn(
        cls,
        posterior: Posterior,
        calibration: Calibration,
        true: np.ndarray,
        labels: np.ndarray,
        vectors: np.ndarray,
        checked: Mapping[int, int],
    ) -> Model:
        """Learn from checked rows: position -> code, -1: no class; there may be none.

        Of n samples, ``true`` are (n, k) of the posterior, labels (n,) codes, vectors (n, w).
        """
        odds, k = calibration.odds(true, labels), true.shape[1]
        frame = Frame.of(calibration.spreads, k, odds, vectors)
        places, checks = as_arrays(checked)
        known, given = frame.rows(odds, labels, vectors)[places], labels[places]
        other = (checks >= 0) & (checks != given)
        logs = calibration.others(true[places[other]], given[other])
        lean = leaning(logs, known.own[other], checks[other])
        return cls(posterior, calibration, frame, Shifts.learn(known, checks != given, k), lean)

    @property
    def has_checks(self) -> bool:
        """Whether it compares samples with checked rows, by vectors."""
        return bool(len(self.shifts.pull))

    def rows(self, true: np.ndarray, labels: np.ndarray, vectors: np.ndarray) -> Rows:
        """Return rows of samples with (m, k) probabilities of the posterior; vectors are (m, w)."""
        return self.frame.rows(self.calibration.odds(true, labels), labels, vectors)

    @one_blas_thread
    def believed(self, true: np.ndarray, rows: Rows) -> np.ndarray:
        """Return the probabilities of the true classes, (m, k), given those of the posterior."""
        if not (self.calibration.applies or self.has_checks):
            return true
        codes, each = rows.codes, np.arange(len(rows.codes))
        wrong = integrated(*self.shifts.odds(rows))
        found = softmax(self.calibration.others(true, codes) + rows.own @ self.lean)
        found *= wrong[:, None]
        found[each, codes] = 1 - wrong
        certain = true[each, codes] == 1
        found[certain] = true[certain]
        return np.asarray(found)


@dataclass(frozen=True)
class Belief:
    """What is believed about n samples.

    Attributes:
        labels: (n,) int64 codes; of votes, the most probable classes.
        before, true: (n, k) probabilities of the true classes, of the posterior and of the model.
        tells: whether members or checked rows can tell right from wrong labels.
        guessed: whether members agree with the labels no more than by chance.
        noise: the share of wrong labels; None: it cannot be estimated.
        limit: the same, whoever labelled: it limits what is rejected.
        doubted: whether more labels than ``MOST_DOUBTED`` are, by the texts alone.
        sources: of votes, what is estimated of each source.
    """

    model: Model
    labels: np.ndarray
    before: np.ndarray
    true: np.ndarray
    tells: bool
    guessed: bool
    noise: Noise | None
    limit: Noise | None
    doubted: bool
    sources: Sequence[Source] = ()

    def least_kept(self, right: np.ndarray) -> float:
        """Return the least probability that is kept by default; ``right``: (n,) of the labels.

        Labels are rejected that are more probably wrong than right, but not many more than there
        are wrong labels; where too many are doubted, as many as have a clearly more probable class.
        """
        joined = self.model.posterior.sources is not None
        if not self.tells and (self.guessed or joined):
            return 0.0
        if self.doubted:
            most = int((suggestions(self.true, self.labels)[0] != self.labels).sum())
        elif self.limit is None or not self.limit.holds:
            return 0.5 if joined else least_kept(right)
        else:
            most = int(MOST_REJECTED * self.limit.high * len(right))
        most = min(len(right) - 1, most)
        return min(0.5, float(np.partition(right, most)[most]))


def suggestions(true: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the suggested codes and their probabilities, (m,) each.

    The most probable class, if it is clearly more probable than the label; else the label.
    ``true`` are (m, k) probabilities of the true classes, ``labels`` (m,) codes.

    >>> true = np.array([[0.45, 0.55], [0.4, 0.6]])
    >>> [found.tolist() for found in suggestions(true, np.array([0, 0]))]
    [[0, 1], [0.45, 0.6]]
    """
    own = true[np.arange(len(labels)), labels]
    replaced = true.max(axis=1) - own > MORE_PROBABLE
    codes = np.where(replaced, true.argmax(axis=1), labels)
    return codes, np.where(replaced, true.max(axis=1), own)


def believe(
    scores: Scores, labelled: Labelled, kind: str, choice: Choice, *, count_label: bool = True
) -> Belief:
    """Return what is believed about samples and their checked rows.

    Args:
        labelled: n samples, all with a label.
        choice: how frequent the classes are, and who labelled, which counts for the noise only.
        count_label: whether the label itself is evidence for the class.
    """
    likely, codes, checked = scores.likely, labelled.codes, labelled.checked
    agreement = skill(likely, codes)
    tells, guessed = agreement >= LEAST_SKILL, agreement < by_chance(likely)
    votes = codes if labelled.votes is None else labelled.votes.among(labelled.classes)
    diagnostics, origin, usual = None, choice.origin, TOO_SURE if count_label else 1.0
    if labelled.votes is None:
        estimates: Sequence[Source] = ()
        of_class = np.bincount(codes, minlength=likely.shape[1])
        if count_label and len(scores.choices) > 1:
            diagnostics = diagnose(scores.choices, likely, codes)
        calibration = calibration_of(diagnostics, of_class, kind, usual)
        can_tell = tells or calibration.applies or bool(checked)
        known_by = {"count_label": count_label, "tells": can_tell}
        truth = label_distribution(likely, codes, scores.folds, **known_by)
        posterior = Posterior(scores.mean, truth)
    else:
        posterior, estimates = _of_votes(scores, votes, tells)
        # Which other class is right is as uncertain as for labels.
        calibration = replace(
            calibration_of(None, scores.mean.shares), evenness=coefficients()["evenness"]
        )
        tells = posterior.sources is not None and posterior.sources.tells
    labels, before = posterior(likely, codes, votes)
    assumed = [calibration]
    if origin is not None and diagnostics is not None:
        offset = calibration.offset + calibration.origins[origin]
        assumed.append(replace(calibration, offset=offset))
    if choice.class_shares is not None:
        shares = shares_of(choice.class_shares, labelled.classes, labels)
        assumed = [replace(tilted(one, before, labels, shares), applies=True) for one in assumed]
    known = before, labels, scores.vectors, checked
    models = [Model.learn(posterior, one, *known) for one in assumed]
    model, applies = models[0], assumed[0].applies
    true = model.believed(before, model.rows(before, labels, scores.vectors))
    copies = with_copies(labelled).checked
    places, checks = as_arrays(copies)
    named = checks >= 0
    true[places[named]] = np.eye(true.shape[1])[checks[named]]
    noises: list[Noise | None] = [None]
    own = true[np.arange(len(labels)), labels]
    by_texts_alone = diagnostics is not None and not checked and choice.class_shares is None
    doubted = by_texts_alone and float((own < 0.5).mean()) > MOST_DOUBTED
    doubted &= tells or not guessed
    if (applies or checked or tells) and not doubted:
        holds = applies or (bool(checked) and count_label)
        noises = [_noise(one, *known, copies, holds) for one in models]
    told = tells or bool(checked), guessed, noises[-1], noises[0], doubted
    return Belief(model, labels, before, true, *told, estimates)


def _noise(
    model: Model,
    before: np.ndarray,
    labels: np.ndarray,
    vectors: np.ndarray,
    checked: Mapping[int, int],
    copies: Mapping[int, int],
    holds: bool,
) -> Noise:
    """Return the noise by a model; arguments as of :class:`Model` and :class:`.noise.Noise`.

    ``copies`` are the checked rows and their copies.
    """
    rows, each = model.rows(before, labels, vectors), np.arange(len(labels))
    wrong = 1 - model.believed(before, rows)[each, labels]
    places, checks = as_arrays(copies)
    wrong[places] = checks != labels[places]
    certain = before[each, labels] == 1
    certain[places] = True
    return Noise.of(model.shifts, rows, wrong, np.array([*checked], dtype=np.int64), certain, holds)


@one_blas_thread
def _of_votes(scores: Scores, votes: np.ndarray, tells: bool) -> tuple[Posterior, list[Source]]:
    """Estimate how far to believe votes.

    Checked rows shift what votes and members say (:mod:`.shifts`), as they shift labels. They are
    not certain rows of the votes' own estimate: few certain rows change the labels of many others.
    """
    sources = fit_sources(votes, scores.likely, tells)
    k = scores.likely.shape[1]
    posterior = Posterior(scores.mean, np.full((k, k), 1 / k), sources)
    return posterior, assess(sources, votes, scores.likely)
