"""What a committee says about every label: the label it suggests, and how many are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from lops_adapters.selection import Suggestions
from lops_adapters.selection.posterior import NoiseEstimate, estimate_noise, posterior


class Judged(Suggestions):
    """Suggestions that keep all probabilities of a committee's views.

    Args:
        n: number of samples.

    Attributes:
        codes, probability: as of :class:`lops_adapters.selection.Suggestions`; after
            :meth:`settle`, of the most probable true class, given views and labels.
        right: (n,) float64, the probability that the given label is right, after :meth:`settle`.
        noise: the estimate, after :meth:`settle`; None if the views are not trusted with one.

    """

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.right: np.ndarray | None = None
        self.noise: NoiseEstimate | None = None
        self._views: np.ndarray | None = None

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Note the probabilities of all samples."""
        super().__call__(probabilities, positions)
        if self._views is None:
            self._views = np.zeros((len(self.codes), probabilities.shape[1]), dtype=np.float32)
        self._views[slice(None) if positions is None else positions] = probabilities

    def settle(self, codes: np.ndarray, trusted: bool = True) -> None:
        """Weigh the views against the labels, (n,) int codes, and estimate the noise.

        Without an encoder, views are not ``trusted`` with an estimate: they learn the errors that
        labels by rules share, and find far too few.
        """
        assert self._views is not None
        found, _ = posterior(self._views, codes)
        self.codes, self.probability = found.argmax(axis=1), found.max(axis=1)
        self.right = found[np.arange(len(codes)), codes]
        if trusted:
            self.noise = estimate_noise(self._views, codes)


def corrections(
    labels: Sequence[Hashable], suggested: Sequence[Hashable], rejected: np.ndarray
) -> list[tuple[Hashable, Hashable, int]]:
    """Return (label, suggested label, rows) among rejected rows, most frequent first.

    Ties go by the names of the labels.

    >>> corrections(["a", "a", "b"], ["b", "b", "b"], np.array([0, 1]))
    [('a', 'b', 2)]
    """
    pairs = Counter(
        (labels[i], suggested[i]) for i in rejected.tolist() if labels[i] != suggested[i]
    )
    ordered = sorted(pairs.items(), key=lambda item: (-item[1], str(item[0])))
    return [(*pair, count) for pair, count in ordered]
