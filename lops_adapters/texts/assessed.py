"""What a committee says about every label: the label it suggests, and how many are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from lops_adapters.selection import Suggestions
from lops_adapters.selection.committee import FOLDS
from lops_adapters.selection.likelihoods import LEAST_SKILL, skill
from lops_adapters.selection.posterior import NoiseEstimate, estimate_noise, true_classes


class Assessed(Suggestions):
    """Suggestions that keep all likelihoods of a committee.

    Args:
        n: number of samples.

    Attributes:
        codes, probability: as of :class:`lops_adapters.selection.Suggestions`; after
            :meth:`settle`, of the most probable true class, given members and labels.
        right: (n,) float64, the probability that the given label is right, after :meth:`settle`.
        noise: the estimate, after :meth:`settle`; None if the members cannot tell.

    """

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.right: np.ndarray | None = None
        self.noise: NoiseEstimate | None = None
        self._likely: np.ndarray | None = None

    def __call__(self, probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        """Note the likelihoods of all samples."""
        super().__call__(probabilities, positions)
        if self._likely is None:
            self._likely = np.zeros((len(self.codes), probabilities.shape[1]))
        self._likely[slice(None) if positions is None else positions] = probabilities

    def settle(self, codes: np.ndarray) -> None:
        """Weigh the members against the labels, (n,) int codes, and estimate the noise.

        As in :class:`~lops_adapters.selection.committee.Committee`, members that cannot tell right
        labels from wrong ones are not believed: every label is.
        """
        assert self._likely is not None
        found, _ = true_classes(self._likely, codes, least=FOLDS)
        self.codes, self.probability = found.argmax(axis=1), found.max(axis=1)
        self.right = found[np.arange(len(codes)), codes]
        if skill(self._likely, codes) >= LEAST_SKILL:
            self.noise = estimate_noise(self._likely, codes)


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
