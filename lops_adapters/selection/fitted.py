"""Members after their training: they score samples that they were not trained on.

A sample's probabilities do not depend on the other samples of its block, so that blocks may be cut
anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lops_adapters.probes.base import Probe
from lops_adapters.probes.linear import softmax

Reader = Callable[[Sequence[Any]], Any]  # samples to what a member takes
Vectors = Callable[[Any], np.ndarray]  # (n, width), rows of unit length
BLOCK = 1024  # rows compared at a time


class FittedMember(Protocol):
    """A member for further samples.

    Attributes:
        read: turns samples into what the member takes; members may share it. None: the samples.

    """

    read: Reader | None

    def __call__(self, samples: Any) -> np.ndarray:
        """Return class probabilities, (m, k)."""


@dataclass
class MeanOfProbes:
    """The mean of the probabilities of the folds' probes.

    Args:
        probes: trained.
        read: see :class:`FittedMember`.
        vectors: of samples, read; the probes take them.

    """

    probes: Sequence[Probe]
    read: Reader | None = None
    vectors: Vectors | None = None

    def __call__(self, samples: Any) -> np.ndarray:
        """Predict by every probe."""
        samples = samples if self.vectors is None else self.vectors(samples)
        total = np.zeros(())
        for probe in self.probes:
            total = total + probe.predict_proba(samples).astype(np.float64)
        return np.asarray(total / len(self.probes))


@dataclass
class NearLabels:
    """The labels of the nearest of the samples that all are compared to.

    Args:
        vectors: of samples.
        others: (o, width) float32, the vectors that are compared to.
        labels: (o,) int codes of their labels.
        count: neighbours per sample; ties at the last of them count, too.
        n_classes: k.
        read: see :class:`FittedMember`.

    """

    vectors: Vectors
    others: np.ndarray
    labels: np.ndarray
    count: int
    n_classes: int
    read: Reader | None = None

    def __call__(self, samples: Any) -> np.ndarray:
        """Count the labels of the neighbours, as the member did in its training."""
        vectors = np.asarray(self.vectors(samples), dtype=np.float32)
        found = np.empty((len(vectors), self.n_classes))
        for start in range(0, len(vectors), BLOCK):
            rows = vectors[start : start + BLOCK]
            # Filled up, since the last bits of a matrix product depend on its shape.
            filled = np.zeros((BLOCK, vectors.shape[1]), dtype=np.float32)
            filled[: len(rows)] = rows
            near = (filled @ self.others.T)[: len(rows)]
            found[start : start + BLOCK] = votes(near, self.labels, self.count, self.n_classes)
        found += 1e-3
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def votes(near: np.ndarray, labels: np.ndarray, count: int, n_classes: int) -> np.ndarray:
    """Return the sums of exp(5 cosine) of the ``count`` largest cosines by label, (m, k) float64.

    Args:
        near: (m, o) float32 cosines.
        labels: (o,) int codes.
        count: at most o; ties at the last place are counted, too.
        n_classes: k.

    >>> near = np.array([[0.0, 0.2, 0.1]], dtype=np.float32)
    >>> votes(near, np.array([0, 1, 0]), 2, 2).round(2).tolist()
    [[1.65, 2.72]]
    """
    m, width = near.shape
    per_group = max(1, width // (2 * count))
    groups = width // per_group
    # ``count`` groups reach this bound, so the ``count`` largest do, too: few others have to be
    # compared.
    tops = near[:, : groups * per_group].reshape(m, per_group, groups).max(axis=1)
    bound = -np.partition(-tops, count - 1, axis=1)[:, count - 1 : count]
    rows, columns = np.divmod(np.flatnonzero(near >= bound), width)
    values = near[rows, columns]
    starts = np.searchsorted(rows, np.arange(m + 1))
    largest = np.full((m, int(np.diff(starts).max(initial=count))), -np.inf, dtype=np.float32)
    largest[rows, np.arange(len(rows)) - starts[rows]] = values
    least = -np.partition(-largest, count - 1, axis=1)[:, count - 1]
    nearest = values >= least[rows]
    cells = rows[nearest] * n_classes + labels[columns[nearest]]
    weights = np.exp(5 * values[nearest])
    found = np.bincount(cells, weights=weights, minlength=m * n_classes)
    return found.reshape(m, n_classes)


@dataclass
class NearWords:
    """How near a text is to the words of each class, compared to the texts of the fit.

    Args:
        vectors: of texts.
        of_classes: (k, width), the vectors of the words.
        mean, spread: (k,) of the similarities of the texts of the fit.
        read: see :class:`FittedMember`.

    """

    vectors: Vectors
    of_classes: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    read: Reader | None = None

    def __call__(self, samples: Any) -> np.ndarray:
        """Compare."""
        near = np.asarray(self.vectors(samples) @ self.of_classes.T, dtype=np.float64)
        return np.asarray(softmax(2 * (near - self.mean) / self.spread))
