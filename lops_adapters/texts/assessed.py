"""What a committee says about every label: the label it suggests, and how many are wrong."""

import numpy as np

from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection import Suggestions
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.checking import Rate, check_order, noise_rate
from lops_adapters.selection.posterior import NoiseEstimate
from lops_adapters.selection.suggestions import Estimates


class Assessed(Suggestions):
    """Suggestions that keep what a committee says of every sample.

    Args:
        n: number of samples.

    Attributes:
        codes, probability: as of :class:`lops_adapters.selection.Suggestions`; after
            :meth:`settle`, of the most probable true class, given members, labels and checked rows.
        labels: (n,) int64 codes of the labels, after :meth:`settle`.
        before: (n,) int64, the most probable true class without checked rows; of votes, the
            weighted majority; after :meth:`settle`.
        right: (n,) float64, the probability that the label is right; 1 for a checked row, 0 for one
            of no class. This and what follows is None before :meth:`finish`.
        noise: the estimate; None if the members cannot tell.
        check_order: (n,) int64, all positions in the order in which to check them.
        rate, rates: shares of wrong labels by the checked rows, of all and of each class; None and
            empty if none is checked.
    """

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.labels = self.before = self.codes
        self.right: np.ndarray | None = None
        self.noise: NoiseEstimate | None = None
        self.check_order: np.ndarray | None = None
        self.rate: Rate | None = None
        self.rates: dict[int, Rate] = {}
        self._true = np.empty((n, 0))

    def settle(self, estimates: Estimates) -> None:
        without_checks, true, self.labels, self.noise = estimates
        self._true = true
        self.before = without_checks.argmax(axis=1)
        self.codes, self.probability = true.argmax(axis=1), true.max(axis=1)

    def finish(self, labelled: Labelled, seed: int) -> None:
        """Measure the noise by checked rows, and order the samples for checking by the seed."""
        rows = np.array(list(labelled.checked), dtype=np.int64)
        true, codes = np.array([*labelled.checked.values()], dtype=np.int64), self.labels
        self.right = self._true[np.arange(len(codes)), codes]
        self.right[rows] = true >= 0
        self.codes[rows[true < 0]], self.probability[rows[true < 0]] = -1, np.nan
        order = content_order(labelled.samples, codes, seed)
        self.check_order = order[check_order(codes[order], self.before[order], seed)]
        self.rate = noise_rate(codes, self.before, rows, true)
        for code in range(self._true.shape[1]):
            rate = noise_rate(codes, self.before, rows, true, codes == code)
            if rate is not None:
                self.rates[code] = rate
