"""What the members of a committee say of labels, held out, and their mean.

Notation: n samples, k classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lops_adapters.console import percent
from lops_adapters.selection.committee.folds import Folded
from lops_adapters.selection.committee.likelihoods import (
    LEAST_SKILL,
    class_shares,
    likelihoods,
    preferred,
    skill,
    strengths,
    weakened,
)
from lops_adapters.selection.committee.member import Member, vectors_of, without_nan

LEAST_OF_BEST = 0.2  # of the best member's skill; on real tables in English all have more


@dataclass(frozen=True)
class Mean:
    """How likelihoods of members are averaged.

    Attributes:
        weights: of every member.
        shares: (k,) of the pseudo-labels; inf: a class with fewer samples than folds.
        factors: (k,) of :func:`~.likelihoods.strengths`.
    """

    weights: Sequence[float]
    shares: np.ndarray
    factors: np.ndarray

    @property
    def small(self) -> np.ndarray:
        """Which classes have fewer samples than folds, (k,) bool: they do not compete."""
        return np.asarray(np.isinf(self.shares))

    def of(self, of_members: Sequence[np.ndarray], codes: np.ndarray) -> np.ndarray:
        """Return the mean likelihoods, (m, k), in which rare classes are limited."""
        total = sum(weight * each for weight, each in zip(self.weights, of_members, strict=True))
        return self.limited(np.asarray(total / sum(self.weights)), codes)

    def limited(self, likely: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return likelihoods, (m, k), in which rare classes are limited."""
        return weakened(likely, codes, self.factors)


@dataclass(frozen=True)
class Scores:
    """What members say of n samples.

    Attributes:
        members: which said it.
        mean: how they are averaged.
        likely: (n, k) mean likelihoods, in which rare classes are limited.
        choices: the (n,) codes of the classes that each member with a weight prefers.
        said: the share of labels that each member prefers, in words.
        folds: of cross-validation.
        of_members: every member's likelihoods, (n, k); and vectors: (n, width), by which checked
            rows are compared. Both are empty without checked rows.
    """

    members: Sequence[Member]
    mean: Mean
    likely: np.ndarray
    choices: list[np.ndarray]
    said: str
    folds: int
    of_members: list[np.ndarray]
    vectors: np.ndarray


def score(
    members: Sequence[Member], labelled: Folded, *, further: bool = False, apart: bool = False
) -> Scores:
    """Score samples by every member; ``apart``: keep every member's likelihoods and the vectors.

    A member with hardly any skill next to the best one before it has no weight: an encoder may
    not know the language. ``further``: members are then fitted to score further samples.
    """
    codes, samples = labelled.codes, labelled.samples
    of_labels = class_shares(codes, len(labelled.classes), labelled.folds)
    vectors = vectors_of(
        members if apart else (), len(codes), lambda one: samples if one.read is None else one.read
    )
    total, best_skill, weights = np.zeros(()), 0.0, [member.weight for member in members]
    said: list[str] = []
    every: list[np.ndarray] = []
    choices: list[np.ndarray] = []
    for place, member in enumerate(members):
        probabilities = member.score(labelled, further=further)
        likely = likelihoods(without_nan(member, probabilities), of_labels)
        own_skill = skill(likely, codes)
        if best_skill >= LEAST_SKILL and own_skill < LEAST_OF_BEST * best_skill:
            weights[place] = 0.0
        else:
            choices.append(likely.argmax(axis=1))
        name = member.name if weights[place] else f"{member.name} (left out)"
        said.append(f"{name} {percent(float(preferred(likely, codes).mean()))}")
        best_skill = max(best_skill, own_skill)
        total = total + weights[place] * likely
        if apart:
            every.append(likely)
    average = total / sum(weights)
    mean = Mean(weights, of_labels, strengths(average, codes))
    likely, folds = mean.limited(average, codes), labelled.folds
    return Scores(members, mean, likely, choices, ", ".join(said), folds, every, vectors)
