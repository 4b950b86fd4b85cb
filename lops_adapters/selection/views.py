"""Views of a committee: each judges every label without having seen it.

Notation: n samples, k classes, codes 0..k-1 of the pseudo-labels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.probes.linear import softmax
from lops_adapters.probes.word_counts import joined
from lops_adapters.selection.automatic import held_out, relative_margins

Vectors = Callable[[Sequence[Any]], np.ndarray]  # (n, width), rows of unit length
_BLOCK = 1024  # rows compared at a time


@dataclass(frozen=True)
class Task:
    """What every view is given.

    Attributes:
        samples: n samples.
        codes: (n,) int class codes; every class occurs.
        classes: k pseudo-labels, in the order of the codes.
        small: (k,) bool, classes that do not compete with others.
        folds: of cross-validation.
        seed: of folds and trainings.
        quiet: no progress bar.

    """

    samples: Sequence[Any]
    codes: np.ndarray
    classes: Sequence[Hashable]
    small: np.ndarray
    folds: int
    seed: int
    quiet: bool


class View(Protocol):
    """One judge of the labels."""

    name: str

    def judge(self, task: Task) -> np.ndarray:
        """Return class probabilities, (n, k); no row may depend on the row's own label."""


@dataclass
class Learnt:
    """A probe, cross-validated, at the checkpoint that agrees with most labels.

    See :class:`lops_adapters.selection.automatic.Automatic`.

    Args:
        name: of the view, in words.
        probe: trained from scratch once per fold.

    """

    name: str
    probe: Probe

    def judge(self, task: Task) -> np.ndarray:
        """Train on the other folds and predict; errors are those of the probe."""
        looks = held_out(
            self.probe,
            task.samples,
            task.codes,
            len(task.classes),
            folds=task.folds,
            seed=task.seed,
            quiet=task.quiet,
        )
        agreed = [
            int((relative_margins(rows, task.codes, task.small) >= 0).sum())
            for rows in looks.values()
        ]
        return list(looks.values())[int(np.argmax(agreed))]


@dataclass
class Neighbours:
    """The labels of the nearest other samples, by the cosine of their vectors.

    A neighbour counts exp(5 cosine). Its own label does not count for a sample. With many samples,
    all are compared to the first ``most`` of them, so their order has to be random, as
    :func:`lops_adapters.selection.build` makes it.

    Args:
        name: of the view, in words.
        vectors: gives the vectors of samples.
        count: neighbours per sample; fewer if the classes have fewer than twice as many samples on
            average.
        most: samples to compare to.

    """

    name: str
    vectors: Vectors
    count: int = 100
    most: int = 10_000

    def judge(self, task: Task) -> np.ndarray:
        """Count the labels of the neighbours; errors are those of the encoder."""
        vectors = np.asarray(self.vectors(task.samples), dtype=np.float32)
        n, k = len(vectors), len(task.classes)
        others, labels = vectors[: self.most], task.codes[: self.most]
        count = max(1, min(self.count, len(others) // (2 * k), len(others) - 1))
        found = np.zeros((n, k), dtype=np.float32)
        starts = range(0, n, _BLOCK)
        for start in progress(starts, desc="neighbours", unit="block", quiet=task.quiet):
            rows = np.arange(start, min(start + _BLOCK, n))
            near = vectors[rows] @ others.T
            own = rows[rows < len(others)]
            near[own - start, own] = -np.inf
            best = np.argpartition(-near, count - 1, axis=1)[:, :count]
            weight = np.exp(5 * np.take_along_axis(near, best, axis=1))
            for code in range(k):
                found[rows, code] = (weight * (labels[best] == code)).sum(axis=1)
        found += 1e-3
        return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass
class ClassWords:
    """How near a text is to the words of each class, compared to the other texts.

    Similarities are standardised per class over all samples; no label is used.

    Args:
        name: of the view, in words.
        vectors: gives the vectors of texts.
        words: of every class, such as its name and its seed words.

    """

    name: str
    vectors: Vectors
    words: Mapping[Hashable, Sequence[str]]

    def judge(self, task: Task) -> np.ndarray:
        """Compare; LopsError if a class has no words."""
        without = [label for label in task.classes if not self.words.get(label)]
        if without:
            raise LopsError(
                f"the class {without[0]!r} has no words; wanted at least one word per class"
            )
        of_classes = self.vectors([", ".join(self.words[label]) for label in task.classes])
        near = np.asarray(self.vectors(task.samples) @ of_classes.T, dtype=np.float64)
        spread = np.maximum(near.std(axis=0), 1e-9)
        judged: np.ndarray = softmax(2 * (near - near.mean(axis=0)) / spread)
        return judged


def topics(samples: Sequence[Any], seed: int, width: int = 300) -> np.ndarray:
    """Return vectors without an encoder: TF-IDF by a truncated SVD, rows of unit length.

    Source: Deerwester et al., 1990 (latent semantic analysis).

    Args:
        samples: texts, or sequences of tokens.
        seed: of the decomposition.
        width: numbers per vector, at most.

    Returns:
        (n, at most width) float32; a text without a word is a row of zeros.

    Raises:
        LopsError: no text holds a word.

    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [joined(sample) for sample in samples]
    counter = TfidfVectorizer(sublinear_tf=True, max_features=50_000, dtype=np.float32)
    try:
        rows = counter.fit_transform(texts)
    except ValueError:
        raise LopsError(
            f"the {len(texts)} texts hold no word of two or more letters; wanted texts"
        ) from None
    width = min(width, min(rows.shape) - 1)
    if width < 1:
        return np.ones((len(texts), 1), dtype=np.float32)
    with np.errstate(invalid="ignore"):  # equal texts have no variance, which is not used
        found = TruncatedSVD(width, random_state=seed % 2**32).fit_transform(rows)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.maximum(lengths, 1e-9), dtype=np.float32)
