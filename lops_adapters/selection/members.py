"""Members of a committee: each scores every sample without its label.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe, cut
from lops_adapters.probes.linear import softmax
from lops_adapters.selection.fitted import (
    BLOCK,
    FittedMember,
    MeanOfProbes,
    NearLabels,
    NearWords,
    Reader,
    Vectors,
)
from lops_adapters.selection.folds import splits
from lops_adapters.selection.held_out import best_checkpoint, held_out, long_enough, trained_until

_COMPARISONS = 10**9  # of neighbours: about a minute
SHOWN = 5  # classes in an error


@dataclass(frozen=True)
class Task:
    """What every member is given.

    Attributes:
        samples: n samples.
        codes: (n,) int class codes; every class occurs.
        classes: k pseudo-labels, in the order of the codes.
        folds: of cross-validation.
        seed: of folds and trainings.
        quiet: no progress bar.

    """

    samples: Sequence[Any]
    codes: np.ndarray
    classes: Sequence[Hashable]
    folds: int
    seed: int
    quiet: bool


class Member(Protocol):
    """A classifier of a committee."""

    name: str

    def score(self, task: Task) -> np.ndarray:
        """Return class probabilities, (n, k); no row may depend on the row's own label."""


class FitsMember(Member, Protocol):
    """A member that can also score samples outside the task."""

    def fit(self, task: Task) -> tuple[np.ndarray, FittedMember]:
        """Return what :meth:`score` returns, and the member that scores other samples."""


@dataclass
class Learnt:
    """A probe, cross-validated, at the checkpoint that agrees with most labels.

    Linear probes train for at least ``LEAST_UPDATES`` updates, see
    :func:`~lops_adapters.selection.held_out.long_enough`.

    Args:
        name: of the member, in words.
        probe: trained from scratch once per fold.
        read: the samples as :meth:`~lops_adapters.probes.Probe.read` returns them, if another
            member shares them.
        reader: reads other samples.
        vectors: of samples, read; the probe takes them.

    """

    name: str
    probe: Probe
    read: Any = None
    reader: Reader | None = None
    vectors: Vectors | None = None

    def score(self, task: Task) -> np.ndarray:
        """Train on the other folds and predict; errors are those of the probe."""
        return self._score(task, self._samples(task))[0]

    def fit(self, task: Task) -> tuple[np.ndarray, FittedMember]:
        """Score, and train again until the checkpoint that counts."""
        samples = self._samples(task)
        probabilities, probe, time = self._score(task, samples)
        k, read = len(task.classes), probe.read(samples)
        folds: dict[str, Any] = {"folds": task.folds, "seed": task.seed, "quiet": task.quiet}
        probes = [
            trained_until(probe, cut(read, rest), task.codes[rest], k, task.seed, time)
            for rest, _ in splits(read, task.codes, k, **folds)
        ]
        return probabilities, MeanOfProbes(probes, self.reader, self.vectors)

    def _samples(self, task: Task) -> Any:
        samples = task.samples if self.read is None else self.read
        return samples if self.vectors is None else self.vectors(samples)

    def _score(self, task: Task, samples: Any) -> tuple[np.ndarray, Probe, float]:
        """Return (n, k) probabilities, the probe, and the time of the checkpoint that counts."""
        in_training = len(task.codes) * (task.folds - 1) // task.folds
        probe = long_enough(self.probe, in_training)
        looks = held_out(
            probe,
            samples,
            task.codes,
            len(task.classes),
            folds=task.folds,
            seed=task.seed,
            quiet=task.quiet,
        )
        time = best_checkpoint(looks, task.codes)
        return looks[time], probe, time


@dataclass
class Given:
    """The held-out probabilities of a classifier outside this package: the samples themselves.

    Args:
        name: of the member, in words.

    """

    name: str

    def score(self, task: Task) -> np.ndarray:
        """Return the samples, (n, k); LopsError if they are no probabilities."""
        found = np.asarray(task.samples, dtype=np.float64)
        wanted = (len(task.codes), len(task.classes))
        if found.shape != wanted:
            raise LopsError(
                f"found probabilities of shape {found.shape}; wanted {wanted}: a row per label, "
                "and a column per class in the order of the sorted labels"
            )
        wrong = ~(np.isfinite(found).all(axis=1) & (found >= 0).all(axis=1))
        wrong |= ~np.isclose(found.sum(axis=1), 1, atol=1e-3)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise LopsError(
                f"{int(wrong.sum())} of {len(found)} rows are no probabilities, the first at "
                f"position {at} ({np.round(found[at], 3).tolist()!s:.80}); wanted numbers from 0 "
                "to 1 that sum to 1"
            )
        return found


@dataclass
class Neighbours:
    """The labels of the nearest other samples, by the cosine of their vectors.

    A neighbour counts exp(5 cosine). Its own label does not count for a sample. With many samples,
    all are compared to the first ``most`` of them, above 100,000 samples to fewer, so their order
    has to be random, as :func:`lops_adapters.selection.build` makes it.

    Args:
        name: of the member, in words.
        vectors: gives the vectors of samples.
        count: neighbours per sample; fewer if the classes have fewer than twice as many samples on
            average.
        most: samples to compare to.
        read: the samples as ``vectors`` takes them, if another member shares them.
        reader: reads other samples.

    """

    name: str
    vectors: Vectors
    count: int = 100
    most: int = 10_000
    read: Any = None
    reader: Reader | None = None

    def score(self, task: Task) -> np.ndarray:
        """Count the labels of the neighbours; errors are those of the encoder."""
        return self.fit(task)[0]

    def fit(self, task: Task) -> tuple[np.ndarray, FittedMember]:
        """Score, and keep the samples that all are compared to."""
        samples = task.samples if self.read is None else self.read
        vectors = np.asarray(self.vectors(samples), dtype=np.float32)
        n, k = len(vectors), len(task.classes)
        most = min(self.most, max(1000, _COMPARISONS // max(1, n)))
        others, labels = vectors[:most], task.codes[:most]
        count = max(1, min(self.count, len(others) // (2 * k), len(others) - 1))
        found = np.zeros((n, k), dtype=np.float32)
        starts = range(0, n, BLOCK)
        for start in progress(starts, desc="neighbours", unit="block", quiet=task.quiet):
            rows = np.arange(start, min(start + BLOCK, n))
            near = vectors[rows] @ others.T
            own = rows[rows < len(others)]
            near[own - start, own] = -np.inf
            best = np.argpartition(-near, count - 1, axis=1)[:, :count]
            weight = np.exp(5 * np.take_along_axis(near, best, axis=1))
            for code in range(k):
                found[rows, code] = (weight * (labels[best] == code)).sum(axis=1)
        found += 1e-3
        near_labels = NearLabels(self.vectors, others.copy(), labels.copy(), count, k, self.reader)
        return np.asarray(found / found.sum(axis=1, keepdims=True)), near_labels


@dataclass
class ClassWords:
    """How near a text is to the words of each class, compared to the other texts.

    Similarities are standardised per class over all samples; no label is used.

    Args:
        name: of the member, in words.
        vectors: gives the vectors of texts.
        words: of every class, such as its name and its seed words.

    """

    name: str
    vectors: Vectors
    words: Mapping[Hashable, Sequence[str]]

    def score(self, task: Task) -> np.ndarray:
        """Compare; LopsError if a class has no words."""
        return self.fit(task)[0]

    def fit(self, task: Task) -> tuple[np.ndarray, FittedMember]:
        """Score, and keep mean and spread of the similarities."""
        check_words(self.words, task.classes)
        of_classes = self.vectors([as_text(self.words[label]) for label in task.classes])
        near = np.asarray(self.vectors(task.samples) @ of_classes.T, dtype=np.float64)
        spread, mean = np.maximum(near.std(axis=0), 1e-9), near.mean(axis=0)
        judged: np.ndarray = softmax(2 * (near - mean) / spread)
        return judged, NearWords(self.vectors, of_classes, mean, spread)


def check_words(words: Mapping[Hashable, Sequence[str]], classes: Sequence[Hashable] = ()) -> None:
    """Raise a LopsError unless these are lists of words, and every class has some."""
    if not isinstance(words, Mapping):
        raise LopsError(f"words are {words!r:.80}; wanted a dict, class to list of words")
    for label, of_class in words.items():
        listed = isinstance(of_class, Sequence) and not isinstance(of_class, str)
        if not listed or not all(isinstance(word, str) and word.strip() for word in of_class):
            raise LopsError(
                f"the words of the class {label!r} are {of_class!r:.80}; wanted a list of words"
            )
    without = [repr(label) for label in classes if not words.get(label)]
    if without:
        raise LopsError(
            f"words hold none for {', '.join(without[:SHOWN])}; wanted words for every class"
        )


def as_text(words: Sequence[str]) -> str:
    """Return the words of a class as a text to encode.

    >>> as_text(["goal", "team"])
    'goal, team'
    """
    return ", ".join(words)
