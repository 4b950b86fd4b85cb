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
        return weakened(np.asarray(total / sum(self.weights)), codes, self.factors)


@dataclass(frozen=True)
class Scores:
    """What members say of n samples.

    Attributes:
        mean: how they are averaged.
        likely: (n, k) mean likelihoods, in which rare classes are limited.
        choices: the (n,) codes of the classes that each member with a weight prefers.
        said: the share of labels that each member prefers, in words.
        vectors: (n, w), by which samples are compared with checked rows; w is 0 without these.
    """

    members: Sequence[Member]
    mean: Mean
    likely: np.ndarray
    choices: list[np.ndarray]
    said: str
    folds: int
    vectors: np.ndarray


def score(
    members: Sequence[Member], labelled: Folded, *, unseen: bool = False, vectors: bool = False
) -> Scores:
    """Score samples by every member; ``vectors``: keep the vectors.

    A member with hardly any skill next to the best one before it has no weight: an encoder may
    not know the language. ``unseen``: members are then fitted to score unseen samples.
    """
    codes, folds = labelled.codes, labelled.folds
    of_labels = labelled.shares
    some, n, samples = members if vectors else (), len(codes), labelled.samples
    compared = vectors_of(some, n, lambda one: samples if one.read is None else one.read)
    total, best_skill, weights = np.zeros(()), 0.0, list[float]()
    said, choices = list[str](), list[np.ndarray]()
    for member in members:
        scored = labelled.shared(without_nan(member, member.score(labelled)))
        likely = likelihoods(scored, of_labels)
        if unseen:
            member.fit(labelled)
        own_skill = skill(likely, codes)
        counts = best_skill < LEAST_SKILL or own_skill >= LEAST_OF_BEST * best_skill
        name = member.name if counts else f"{member.name} (left out)"
        said.append(f"{name} {percent(float(preferred(likely, codes).mean()))}")
        weights.append(member.weight if counts else 0.0)
        choices += [likely.argmax(axis=1)] if counts else []
        best_skill, total = max(best_skill, own_skill), total + weights[-1] * likely
    average = total / sum(weights)
    mean = Mean(weights, of_labels, strengths(average, codes))
    likely = weakened(average, codes, mean.factors)
    return Scores(members, mean, likely, choices, ", ".join(said), folds, compared)
